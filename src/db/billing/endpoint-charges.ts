import { and, desc, eq, gt, isNotNull, lt, sql } from 'drizzle-orm'
import type { Bucket } from '../../domain/billing/buckets.ts'
import { type Rates, totalNanos } from '../../domain/money.ts'
import type { ChargedTime } from '../../domain/worker/timeline.ts'
import type { Database } from '../client.ts'
import { allocations, usage } from '../schema.ts'
import { overlapping, readWithArchives } from './archived-usage.ts'
import type { BillSources } from './bill-reads.ts'

/** Intervals that one reply reads at most; with more of them no total is given. */
const MAX_INTERVALS = 5_000

/** Closed and open charges of the workers of a team's endpoint within a period; null when there are too many to read at once. */
export async function readEndpointCharges(
  { db, archive }: BillSources,
  teamId: string,
  endpointId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<ChargedTime[] | null> {
  const scope = { teamId, kinds: ['SERVERLESS' as const], resourceId: endpointId }
  const period = { startMs: fromMs, endMs: toMs }
  return readWithArchives(db, scope, period, async (objects) => {
    const { closed, open } = await readStored(db, teamId, endpointId, period)
    const all: ChargedRow[] = closed
    for await (const records of overlapping(archive, objects, scope, period)) {
      if (all.length > MAX_INTERVALS) return null
      all.push(...records)
    }
    if (all.length > MAX_INTERVALS) return null
    return [
      ...all.map((row) => ({ fromMs: row.startedAtMs, toMs: row.endedAtMs, nanosPerHour: totalNanos(row) })),
      ...open.map((row) => ({ fromMs: row.chargedFromMs ?? 0, toMs: null, nanosPerHour: totalNanos(row) })),
    ]
  })
}

type ChargedRow = Rates & { startedAtMs: number; endedAtMs: number }

async function readStored(db: Database, teamId: string, endpointId: string, { startMs, endMs }: Bucket) {
  // The plus makes the planner use the index on the resource: a team may have any number of other intervals.
  const isOwn = and(eq(usage.resourceId, endpointId), eq(sql`+${usage.teamId}`, teamId), eq(sql`+${usage.kind}`, 'SERVERLESS'))
  const [closed, open] = await db.batch([
    db
      .select()
      .from(usage)
      .where(and(isOwn, gt(usage.endedAtMs, startMs), lt(usage.startedAtMs, endMs)))
      .orderBy(desc(usage.endedAtMs))
      .limit(MAX_INTERVALS + 1),
    db
      .select()
      .from(allocations)
      .where(and(eq(allocations.teamId, teamId), eq(allocations.ownerId, endpointId), isNotNull(allocations.chargedFromMs))),
  ])
  return { closed, open }
}
