import { and, eq, gt, sql } from 'drizzle-orm'
import type { VolumeType } from '../../contract/enums.ts'
import { type Amounts, partAmounts } from '../../domain/money.ts'
import type { Database } from '../client.ts'
import { usage, usageRemovals } from '../schema.ts'
import { selectOf } from '../select-of.ts'

const UNHELD = { cloud: null, gpuTypeId: null, gpuCount: 0, vcpus: 0, diskGb: 0, volumeType: null }

type UsageRow = Omit<typeof usage.$inferSelect, keyof Amounts>
type Unheld = keyof typeof UNHELD
/** A closed interval; its amounts follow from its times and rates. */
export type ClosedInterval = Omit<UsageRow, Unheld> & Partial<Pick<UsageRow, Unheld>>

/**
 * A statement that writes a closed interval if the preceding statement changed a row: it must directly follow the one that ends the
 * interval, or another that uses `changes()` (adr/0013).
 */
export function insertClosed(db: Database, row: ClosedInterval) {
  const { startedAtMs, endedAtMs } = row
  const amounts = partAmounts(row, startedAtMs, { fromMs: startedAtMs, toMs: endedAtMs })
  return db.insert(usage).select(selectOf(usage, { ...UNHELD, ...row, ...amounts }, sql`WHERE changes() > 0`))
}

/** The rows of `usage_removals`: up to when intervals are deleted, and up to when they are moved to the bucket. */
export const REMOVED = 1
export const MOVED = 2

/** The number of a row of `usage`: later rows have higher ones. */
export const ROW = sql<number>`usage.rowid`

/**
 * The present moment as the number of the last usage row, above which are all intervals that end later; and the time up to which intervals
 * have been deleted (BIL-42).
 */
export function selectMoment(db: Database) {
  return db
    .select({
      lastRow: sql<number>`(SELECT COALESCE(MAX(rowid), 0) FROM usage)`.as('last_row'),
      removedUntilMs: sql<number>`COALESCE((SELECT until_ms FROM ${usageRemovals} WHERE id = ${REMOVED}), 0)`.as('removed_until'),
    })
    .from(sql`(SELECT 1)`)
}

/** The columns of an interval. */
export const INTERVAL = {
  kind: usage.kind,
  resourceId: usage.resourceId,
  workloadId: usage.workloadId,
  startedAtMs: usage.startedAtMs,
  endedAtMs: usage.endedAtMs,
  gpuTypeId: usage.gpuTypeId,
  gpuCount: usage.gpuCount,
  vcpus: usage.vcpus,
  diskGb: usage.diskGb,
  volumeType: sql<VolumeType | null>`${usage.volumeType}`.as('volume_type'),
  gpuNanosPerHour: usage.gpuNanosPerHour,
  cpuNanosPerHour: usage.cpuNanosPerHour,
  diskNanosPerHour: usage.diskNanosPerHour,
}

/** A team's intervals that have ended since a moment: few, since the moment is recent. The plus makes the planner use the row number. */
export function selectSince(db: Database, teamId: string, moment: number) {
  return db
    .select(INTERVAL)
    .from(usage)
    .where(and(gt(ROW, moment), eq(sql`+${usage.teamId}`, teamId)))
}
