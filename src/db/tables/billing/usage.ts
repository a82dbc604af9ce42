import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { USAGE_KINDS } from '../../../domain/billing/usage.ts'
import { ARCHIVE_STATES } from '../../../domain/billing/usage-archive.ts'

/**
 * One row per charged interval of a pod, a worker or a volume, written in the batch that ends the interval. Times in milliseconds,
 * half-open. Rates are those at the start of the interval; amounts follow from the rates and times alone.
 */
export const usage = sqliteTable(
  'usage',
  {
    /** The pod, worker or volume that was charged. */
    workloadId: text('workload_id').notNull(),
    /** Rises with every interval of a workload, so that the same end can be written only once. */
    sequence: integer('sequence').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    /** The resource on the bill: the pod, endpoint, volume or cluster. */
    resourceId: text('resource_id').notNull(),
    teamId: text('team_id').notNull(),
    startedAtMs: integer('started_at').notNull(),
    endedAtMs: integer('ended_at').notNull(),
    cloud: text('cloud'),
    gpuTypeId: text('gpu_type_id'),
    gpuCount: integer('gpu_count').notNull().default(0),
    vcpus: real('vcpus').notNull().default(0),
    diskGb: integer('disk_gb').notNull().default(0),
    /** STANDARD or HIGH_PERFORMANCE; null for pods and workers. */
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
    // For the deletion of old intervals (BIL-42).
    index('usage_ended').on(t.endedAtMs),
  ],
)

const sums = {
  gpuMicros: integer('gpu_micros').notNull(),
  cpuMicros: integer('cpu_micros').notNull(),
  /** Of all disks except HIGH_PERFORMANCE ones, which are in `fastMicros`. */
  diskMicros: integer('disk_micros').notNull(),
  fastMicros: integer('fast_micros').notNull(),
}

/**
 * Charges of a resource on a UTC day by closed intervals (BIL-40). A trigger of the migration adds each row of `usage` in the same
 * statement, so no other statement writes this table. The sums are retained when the interval is deleted.
 */
export const usageDays = sqliteTable(
  'usage_days',
  {
    teamId: text('team_id').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    /** The start of the day, milliseconds since the epoch. */
    dayMs: integer('day_ms').notNull(),
    resourceId: text('resource_id').notNull(),
    ...sums,
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.kind, t.dayMs, t.resourceId] }),
    index('usage_days_resource').on(t.teamId, t.resourceId, t.dayMs),
  ],
)

/** Charges on a UTC day by closed intervals of all resources of a kind together. */
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

/**
 * The time up to which intervals have been deleted (BIL-42), in row 1, and up to which they have been moved to the bucket (BIL-43), in
 * row 2. A release that does not know the bucket reads the later of the two, and refuses bills that need moved intervals.
 */
export const usageRemovals = sqliteTable('usage_removals', {
  id: integer('id').primaryKey(),
  untilMs: integer('until_ms').notNull(),
})

/**
 * One row per object with intervals in the bucket (BIL-43): an interval is in `usage` or in exactly one object that is STORED. Its key
 * follows from the row.
 */
export const usageArchives = sqliteTable(
  'usage_archives',
  {
    /** Random and part of the key, so that no two attempts write the same object. */
    id: text('id').primaryKey(),
    state: text('state', { enum: ARCHIVE_STATES }).notNull(),
    teamId: text('team_id').notNull(),
    kind: text('kind', { enum: USAGE_KINDS }).notNull(),
    /** The start of the UTC month in which the intervals ended. */
    monthMs: integer('month_ms').notNull(),
    rows: integer('rows').notNull(),
    /** Of the text before compression. */
    bytes: integer('bytes').notNull(),
    /** Of the text before compression. */
    sha256: text('sha256').notNull(),
    /** The earliest start and the latest end of the intervals. */
    startedAtMs: integer('started_at').notNull(),
    endedAtMs: integer('ended_at').notNull(),
    changedAtMs: integer('changed_at').notNull(),
  },
  (t) => [
    index('usage_archives_team').on(t.teamId, t.kind, t.endedAtMs).where(sql`${t.state} = 'STORED'`),
    index('usage_archives_ended').on(t.endedAtMs).where(sql`${t.state} = 'STORED'`),
    index('usage_archives_changed').on(t.state, t.changedAtMs).where(sql`${t.state} <> 'STORED'`),
  ],
)
