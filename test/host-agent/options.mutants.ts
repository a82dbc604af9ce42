import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H10: built-in images are on',
    file: 'src/host-agent/options.ts',
    find: "return builtinImages ? undefined : new Set(['docker'])",
    replace: 'return undefined',
  },
  {
    id: 'L6: the agent talks to a plane without TLS',
    file: 'src/host-agent/options.ts',
    find: 'parsePlaneUrl(flags.url, flags.insecurePlane)',
    replace: 'parsePlaneUrl(flags.url, true)',
  },
]
