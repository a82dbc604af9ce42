import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'any host that ends like a registry of ECR is one',
    file: 'src/domain/resources/ecr.ts',
    find: 'const ECR_HOST = new RegExp(`^(',
    replace: 'const ECR_HOST = new RegExp(`(',
  },
]
