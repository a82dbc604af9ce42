import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S14: an organization continues without an owner',
    file: 'src/db/accounts/suspension.ts',
    find: 'COALESCE(t.suspended_at, ${OWNERS_SUSPENDED_SINCE})',
    replace: 'COALESCE(t.suspended_at, NULL)',
  },
  {
    id: 'S14: pods of a suspended organization continue',
    file: 'src/services/accounts/suspension.ts',
    find: 'for (const { id } of await listFollowing(openDatabase(ctx.env.DB), userId)) parts.push',
    replace: 'for (const { id } of (await listFollowing(openDatabase(ctx.env.DB), userId)).slice(0, 0)) parts.push',
  },
]
