import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { USAGE_KINDS } from '../../../domain/billing/usage.ts'

/**
 * One row a charged interval of a pod, a worker or a volume, written in the batch that ends the interval. Times in milliseconds, half-open.
 * Rates are those that the interval began with; amounts follow from them and from the times alone.
 */
export const usage = sqliteTable(
  'usage',
  {
    /** The pod, worker or volume that was charged. */
    workloadId: text('workload_id').notNull(),
    /** Rises with every interval of a workload: the same ending can be written once only. */
    sequence: integer('sequence').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    /** What the bill names: the pod, endpoint, volume or cluster. */
    resourceId: text('resource_id').notNull(),
    teamId: text('team_id').notNull(),
    startedAtMs: integer('started_at').notNull(),
    endedAtMs: integer('ended_at').notNull(),
    cloud: text('cloud'),
    gpuTypeId: text('gpu_type_id'),
    gpuCount: integer('gpu_count').notNull().default(0),
    vcpus: real('vcpus').notNull().default(0),
    diskGb: integer('disk_gb').notNull().default(0),
    /** STANDARD or HIGH_PERFORMANCE; null where it is no volume. */
    volumeType: text('volume_type'),
    gpuNanosPerHour: integer('gpu_nanos_per_hour').notNull().default(0),
    cpuNanosPerHour: integer('cpu_nanos_per_hour').notNull().default(0),
    diskNanosPerHour: integer('disk_nanos_per_hour').notNull().default(0),
    /** Amounts of the whole interval, in millionths of a USD. */
    gpuMicros: integer('gpu_micros').notNull().default(0),
    cpuMicros: integer('cpu_micros').notNull().default(0),
    diskMicros: integer('disk_micros').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.workloadId, t.sequence] }),
    index('usage_team_kind_ended').on(t.teamId, t.kind, t.endedAtMs, t.startedAtMs),
    index('usage_resource_ended').on(t.resourceId, t.endedAtMs),
    // For the removal of what is old (BIL-42).
    index('usage_ended').on(t.endedAtMs),
  ],
)

const sums = {
  gpuMicros: integer('gpu_micros').notNull(),
  cpuMicros: integer('cpu_micros').notNull(),
  /** Of all disks but those that are HIGH_PERFORMANCE. */
  diskMicros: integer('disk_micros').notNull(),
  fastMicros: integer('fast_micros').notNull(),
}

/**
 * What a resource was charged on a UTC day by intervals that have ended (BIL-40). A trigger of the migration adds to it with each row of
 * `usage`, in the same statement, so no statement writes it. It stays when the interval is removed.
 */
export const usageDays = sqliteTable(
  'usage_days',
  {
    teamId: text('team_id').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    /** The beginning of the day, milliseconds. */
    dayMs: integer('day_ms').notNull(),
    resourceId: text('resource_id').notNull(),
    ...sums,
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.kind, t.dayMs, t.resourceId] }),
    index('usage_days_resource').on(t.teamId, t.resourceId, t.dayMs),
  ],
)

/** The same of all resources of a kind together. */
export const usageTotals = sqliteTable(
  'usage_totals',
  {
    teamId: text('team_id').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    dayMs: integer('day_ms').notNull(),
    ...sums,
  },
  (t) => [primaryKey({ columns: [t.teamId, t.kind, t.dayMs] })],
)

/** Up to when intervals have been removed (BIL-42): one row once that has happened. */
export const usageRemovals = sqliteTable('usage_removals', {
  id: integer('id').primaryKey(),
  untilMs: integer('until_ms').notNull(),
})
