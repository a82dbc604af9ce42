import { z } from 'zod'
import { PLAIN_TEXT, wholeNumber } from '../fields.ts'
import { readDigits } from '../query-values.ts'

export const BUCKET_SIZES = ['hour', 'day', 'week', 'month', 'year'] as const
export type BucketSize = (typeof BUCKET_SIZES)[number]
export const BucketSize = z.enum(BUCKET_SIZES).meta({ id: 'BillingBucketSize', example: 'day' })

const MAX_ID_LENGTH = 128
const Moment = z.iso.datetime({ offset: true })
const FilterId = z.string().min(1).max(MAX_ID_LENGTH).regex(PLAIN_TEXT)

const window = {
  startTime: Moment.optional().meta({
    description: 'RFC 3339; rounded down to the start of a bucket. Default: 30 days before `endTime`.',
    example: '2026-06-01T00:00:00Z',
  }),
  endTime: Moment.optional().meta({
    description: 'RFC 3339, exclusive; rounded up to the end of a bucket. Default: now.',
    example: '2026-07-01T00:00:00Z',
  }),
  bucketSize: BucketSize.default('day').meta({ description: 'Buckets start in UTC; weeks begin on Monday.' }),
  lastN: z
    .preprocess(readDigits, wholeNumber(1))
    .optional()
    .meta({ description: 'Number of buckets up to now, including the current one; excludes `startTime` and `endTime`.', example: 7 }),
  include: z.enum(['INTERVALS']).optional().meta({ description: 'INTERVALS: each record lists its intervals.' }),
}

/** Query of `/v2/billing` and `/v2/billing/endpoints` (BIL-2). */
export const BillingQuery = z.object(window)
export type BillingQuery = z.infer<typeof BillingQuery>

const filtered = (what: string) => FilterId.optional().meta({ description: `Only charges of this ${what}.` })
export const PodBillingQuery = z.object({ ...window, podId: filtered('pod') })
export const ServerlessBillingQuery = z.object({ ...window, serverlessId: filtered('endpoint') })
export const NetworkVolumeBillingQuery = z.object({ ...window, networkVolumeId: filtered('network volume') })
export const ClusterBillingQuery = z.object({ ...window, clusterId: filtered('cluster') })
