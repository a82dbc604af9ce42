import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S7: a header that is new to the plane passes below its address',
    file: 'src/domain/balancer/headers.ts',
    find: 'return PASSED_ON_PLANE_ORIGIN.has(name)',
    replace: "return name !== 'set-cookie' || PASSED_ON_PLANE_ORIGIN.has(name)",
  },
  {
    id: 'workers see the key of their caller',
    file: 'src/domain/balancer/headers.ts',
    find: "['authorization', 'expect']",
    replace: "['expect']",
  },
]
