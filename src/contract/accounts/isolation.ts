import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'

/** What must lie between the containers of an account and a machine (PP-219). */
export const AccountIsolation = z
  .strictObject({
    runtimeClass: z
      .enum(['runc', 'runsc', 'kata'])
      .nullable()
      .meta({ description: 'What must run its containers; null: whatever a host has.' }),
  })
  .meta({ id: 'AccountIsolation', example: { runtimeClass: 'runsc' } })
export type AccountIsolation = z.infer<typeof AccountIsolation>

/** What a change of it answers: the outcome, or with `dryRun` what would happen (DRY-11). */
export const AccountIsolationOrChangePlan = orChangePlan('AccountIsolationOrChangePlan', AccountIsolation)
