import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an account sets a limit above what the operator lets it spend',
    file: 'src/domain/billing/spend.ts',
    find: 'Math.min(settings.microsPerHour ?? hourCeiling, hourCeiling)',
    replace: 'settings.microsPerHour ?? hourCeiling',
  },
]
