import { z } from 'zod'

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
