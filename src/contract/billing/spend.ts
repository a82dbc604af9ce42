import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { PLAIN_TEXT, Timestamp } from '../fields.ts'

/** The same bound as for webhook URLs of jobs. */
const MAX_WEBHOOK_URL_CHARS = 2048
/** USD, stored in whole millionths. */
const Usd = z.number().min(0).max(1_000_000_000)
const usd = (description: string) => z.number().meta({ description, format: 'double' })
const SHARE =
  "Used share of the nearest limit, 1 for all of it; null without a limit. The operator's ceiling for a user applies to all accounts of the user together."

const LIMITS = {
  perHour: usd('Limit in USD per hour for all running and starting workloads together.'),
  maxPerHour: usd('The highest value that the account may set; the operator decides it.'),
  perMonth: usd('Limit in USD per calendar month in UTC.').nullable().meta({ description: 'USD per calendar month in UTC; null: none.' }),
  maxPerMonth: z.number().nullable().meta({ description: 'The highest value that the account may set; null: no bound.', format: 'double' }),
  stopsPods: z.boolean().meta({ description: 'Whether running pods are stopped when a limit is exceeded.' }),
  webhook: z.string().nullable().meta({ description: 'Address of the webhook for warnings, without its query; null: none.' }),
}

export const SpendLimits = z.object(LIMITS).meta({
  id: 'SpendLimits',
  description: 'The spend limits of the account. New work that would exceed a limit is refused with 402.',
  example: { perHour: 80, maxPerHour: 80, perMonth: 500, maxPerMonth: null, stopsPods: false, webhook: 'https://example.com/spend' },
})
export type SpendLimits = z.infer<typeof SpendLimits>

export const UpdateSpendLimitsRequest = z
  .strictObject({
    perHour: Usd.nullable().optional().meta({ description: "USD per hour; null: the operator's ceiling." }),
    perMonth: Usd.nullable().optional().meta({ description: "USD per calendar month in UTC; null: the operator's ceiling." }),
    stopsPods: z
      .boolean()
      .optional()
      .meta({ description: 'Stop running pods when a limit is exceeded, the newest first; locked pods are never stopped.' }),
    webhook: z.string().max(MAX_WEBHOOK_URL_CHARS).regex(PLAIN_TEXT).nullable().optional().meta({
      description: 'An https address that is notified at 80 % of a limit, signed like the webhooks of jobs. Null: no notification.',
    }),
  })
  .meta({
    id: 'UpdateSpendLimitsRequest',
    description: 'Omitted members stay unchanged.',
    example: { perHour: 40, perMonth: 500, stopsPods: true },
  })
export type UpdateSpendLimitsRequest = z.infer<typeof UpdateSpendLimitsRequest>

export const SpendSummary = z
  .object({
    rate: z
      .object({
        perHour: usd('USD per hour of all running and starting workloads.'),
        pods: usd('Of that, pods: running ones, and the disks of stopped ones.'),
        serverless: usd('Of that, workers of endpoints.'),
        networkVolumes: usd('Of that, network volumes.'),
        share: z.number().nullable().meta({ description: SHARE }),
      })
      .meta({ description: 'The current spend rate of the account.' }),
    month: z
      .object({
        from: Timestamp,
        to: Timestamp,
        spent: usd('USD charged since the beginning of the month.'),
        estimate: usd('Estimated USD at the end of the month at the current rate.'),
        share: z.number().nullable().meta({ description: SHARE }),
      })
      .meta({ description: 'The calendar month in UTC.' }),
    limits: SpendLimits,
  })
  .meta({
    id: 'BillingSummary',
    description: 'Spend and spend limits of the account.',
    example: {
      rate: { perHour: 2.69, pods: 1.38, serverless: 1.3, networkVolumes: 0.01, share: 0.0336 },
      month: { from: '2026-06-01T00:00:00Z', to: '2026-07-01T00:00:00Z', spent: 120.5, estimate: 1250.25, share: 0.241 },
      limits: { perHour: 80, maxPerHour: 80, perMonth: 500, maxPerMonth: null, stopsPods: false, webhook: null },
    },
  })
export type SpendSummary = z.infer<typeof SpendSummary>

export const SpendCeilings = z
  .strictObject({
    perHour: Usd.optional().meta({ description: 'USD per hour; if omitted: the default of the plane.' }),
    perMonth: Usd.optional().meta({ description: 'USD per calendar month; if omitted: no limit.' }),
  })
  .meta({ id: 'SpendCeilings', description: 'The ceilings of an account: its own limits cannot exceed them.', example: { perHour: 500 } })
export type SpendCeilings = z.infer<typeof SpendCeilings>

/** Answer of a change: the limits, or with `dryRun` the plan (DRY-11). */
export const SpendLimitsOrChangePlan = orChangePlan('SpendLimitsOrChangePlan', SpendLimits)

/** Answer of a change: the ceilings, or with `dryRun` the plan (DRY-11). */
export const SpendCeilingsOrChangePlan = orChangePlan('SpendCeilingsOrChangePlan', SpendCeilings)
