import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { Timestamp } from '../fields.ts'
import { Email } from './email.ts'

/** Largest quota: far above any use, and small enough that a window counts in exact integers. */
const MAX_QUOTA = 1_000_000_000

export const CreateUserRequest = z.strictObject({ email: Email }).meta({ id: 'CreateUserRequest', example: { email: 'ada@example.com' } })

export const User = z
  .object({ id: z.string(), email: z.string(), createdAt: Timestamp })
  .meta({ id: 'User', example: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com', createdAt: '2026-06-01T12:00:00Z' } })
export type User = z.infer<typeof User>

/** The acting user (ACC-7). */
export const ActingUser = z
  .object({ id: z.string(), email: z.string() })
  .meta({ id: 'ActingUser', example: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com' } })

const SuspensionParts = z.object({
  suspendedAt: Timestamp.nullable().meta({ description: 'Null: the account works.' }),
  endpoints: z.number().int().meta({ description: 'Number of notified endpoints.' }),
  pods: z.number().int().meta({ description: 'Pods that were stopped, or started again.' }),
  failed: z.array(z.string()).meta({ description: 'Objects that could not be notified or changed; repeat the call to retry.' }),
})
/** The effects of a suspension or of its end (DER-40). */
export type SuspensionParts = z.infer<typeof SuspensionParts>

const SUSPENDED = { suspendedAt: '2026-06-01T12:00:00Z', endpoints: 2, pods: 1, failed: [] }

export const Suspension = z
  .object({ userId: z.string(), ...SuspensionParts.shape })
  .meta({ id: 'Suspension', example: { userId: '7q1w3e4k8h2m9x', ...SUSPENDED } })
export type Suspension = z.infer<typeof Suspension>

export const OrganizationSuspension = z
  .object({ organizationId: z.string(), ...SuspensionParts.shape })
  .meta({ id: 'OrganizationSuspension', example: { organizationId: '5c8r2n6t1v9k3d', ...SUSPENDED } })
export type OrganizationSuspension = z.infer<typeof OrganizationSuspension>

export const UserQuery = z.object({ email: z.string().optional().meta({ description: 'Only the user with this address.' }) })
export const ListUsersResponse = z.object({ users: z.array(User) }).meta({ id: 'ListUsersResponse', example: { users: [] } })

/** Requests in one window. */
export const RequestQuota = z.number().int().min(1).max(MAX_QUOTA)
export const Quotas = z
  .strictObject({ minute: RequestQuota, hour: RequestQuota, day: RequestQuota, exempt: z.boolean() })
  .meta({ id: 'Quotas', description: 'REST requests per window (RATE-1).', example: { minute: 60, hour: 3000, day: 50000, exempt: false } })

/** Answer of a change: the quotas, or with `dryRun` the plan (DRY-11). */
export const QuotasOrChangePlan = orChangePlan('QuotasOrChangePlan', Quotas)

/** Answer of a change: the suspension, or with `dryRun` the plan (DRY-12). */
export const SuspensionOrChangePlan = orChangePlan('SuspensionOrChangePlan', Suspension)

/** Answer of a change: the suspension, or with `dryRun` the plan (DRY-12). */
export const OrganizationSuspensionOrChangePlan = orChangePlan('OrganizationSuspensionOrChangePlan', OrganizationSuspension)
