import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'

/** The container runtime that must isolate an account's containers from the host (CLASS-1). */
export const AccountIsolation = z
  .strictObject({
    runtimeClass: z.enum(['runc', 'runsc', 'kata']).nullable().meta({ description: 'The required container runtime; null: any runtime.' }),
  })
  .meta({ id: 'AccountIsolation', example: { runtimeClass: 'runsc' } })
export type AccountIsolation = z.infer<typeof AccountIsolation>

/** Answer of a change: the isolation, or with `dryRun` the plan (DRY-11). */
export const AccountIsolationOrChangePlan = orChangePlan('AccountIsolationOrChangePlan', AccountIsolation)
