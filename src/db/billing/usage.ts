import { sql } from 'drizzle-orm'
import { type Amounts, partAmounts, type Rates } from '../../domain/billing/money.ts'
import type { Database } from '../client.ts'
import { usage } from '../schema.ts'

type UsageRow = typeof usage.$inferInsert
/** A closed interval; what it comes to follows from its times and rates. */
export type ClosedInterval = Rates & Omit<UsageRow, keyof Amounts | keyof Rates>

/**
 * A statement that writes a closed interval, if the statement before it has changed a row: to stand directly behind the one that ends the
 * interval, or behind another that looks at it (adr/0013).
 */
export function insertClosed(db: Database, row: ClosedInterval) {
  const { startedAtMs, endedAtMs } = row
  const amounts = partAmounts(row, startedAtMs, { fromMs: startedAtMs, toMs: endedAtMs })
  // Columns in the order of the table.
  return db.insert(usage).select(sql`SELECT ${row.workloadId}, ${row.sequence}, ${row.kind}, ${row.resourceId}, ${row.teamId},
    ${startedAtMs}, ${endedAtMs}, ${row.cloud ?? null}, ${row.gpuTypeId ?? null}, ${row.gpuCount ?? 0}, ${row.vcpus ?? 0},
    ${row.diskGb ?? 0}, ${row.volumeType ?? null}, ${row.gpuNanosPerHour}, ${row.cpuNanosPerHour}, ${row.diskNanosPerHour},
    ${amounts.gpuMicros}, ${amounts.cpuMicros}, ${amounts.diskMicros} WHERE changes() > 0`)
}
