import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { Timestamp } from '../fields.ts'

const count = (description: string) => z.number().int().meta({ description })

/** The effects of deleting a user (TEAM-23). */
export const Offboarding = z
  .object({
    userId: z.string(),
    deletedAt: Timestamp.nullable().meta({ description: 'Null: a resource could not be ended; repeat the call to continue.' }),
    keys: count('Number of revoked keys, in every account in which the user created keys.'),
    pods: count('Pods that were terminated.'),
    endpoints: count('Endpoints that were deleted, their jobs cancelled.'),
    secrets: count('Secrets that were wiped.'),
    templates: count('Templates that were removed.'),
    registries: count('Registry logins that were removed.'),
    volumes: count('Records of volumes that were removed; the operator deletes the data on hosts.'),
    failed: z.array(z.string()).meta({ description: 'Resources that could not be ended.' }),
  })
  .meta({
    id: 'Offboarding',
    example: {
      userId: '7q1w3e4k8h2m9x',
      deletedAt: '2026-06-01T12:00:00Z',
      keys: 2,
      pods: 1,
      endpoints: 1,
      secrets: 3,
      templates: 0,
      registries: 1,
      volumes: 1,
      failed: [],
    },
  })
export type Offboarding = z.infer<typeof Offboarding>

/** Answer of a deletion: its effects, or with `dryRun` the plan (DRY-12). */
export const OffboardingOrChangePlan = orChangePlan('OffboardingOrChangePlan', Offboarding)
