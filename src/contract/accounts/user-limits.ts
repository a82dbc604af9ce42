import { z } from 'zod'
import { SpendSummary } from '../billing/spend.ts'
import { Timestamp } from '../fields.ts'
import { Quotas } from './accounts.ts'
import { AccountLimits } from './budgets.ts'

/** All limits of an account, for an operator who is about to change one. */
export const UserLimits = z
  .object({
    suspendedAt: Timestamp.nullable().meta({ description: 'Null: the account works.' }),
    requests: Quotas.meta({ description: 'The effective windows: set for the user, by the plan, or by the plane.' }),
    budgets: AccountLimits,
    spend: SpendSummary,
  })
  .meta({
    id: 'UserLimits',
    description: "Use and limits of a user's account: budgets, spend and requests.",
    example: {
      suspendedAt: null,
      requests: Quotas.meta()?.example,
      budgets: AccountLimits.meta()?.example,
      spend: SpendSummary.meta()?.example,
    },
  })
export type UserLimits = z.infer<typeof UserLimits>
