import { and, eq, inArray, lt, sql } from 'drizzle-orm'
import { NO_DEADLINES } from '../../domain/pod/deadlines.ts'
import { terminatedSpec } from '../../domain/pod/terminated.ts'
import { boundOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { pods } from '../schema.ts'
import type { PodRow } from '../sealed-pod.ts'

// Verbatim as in the partial indexes: with a parameter for the status SQLite would not use them.
const IS_TERMINATED = sql`${pods.status} = 'TERMINATED'`
/** A host that still has capacity for a pod reads the pod's row before it releases the capacity. */
const HOLDS_NOTHING = sql`NOT EXISTS (SELECT 1 FROM allocations WHERE owner_id = pods.id)`

/** A pod as its row is written: for a terminated one without env, command, registry login, deadlines and labels (POD-76). */
export function retainedPod(pod: PodRow): PodRow {
  return pod.status === 'TERMINATED' ? { ...pod, spec: terminatedSpec(pod.spec), registryId: null, ...NO_DEADLINES, labels: {} } : pod
}

/** A statement for the batch that terminates a pod: deletes the team's oldest terminated pods beyond the bound. */
export function dropOldestTerminated(db: Database, teamId: string) {
  // The index has the rowid, so that a pod costs one row and no sort.
  const beyond = sql`(SELECT rowid FROM pods WHERE team_id = ${teamId} AND status = 'TERMINATED'
    ORDER BY changed_at DESC, rowid DESC LIMIT -1 OFFSET ${boundOf(teamId, 'formerPods')})`
  return db.delete(pods).where(and(sql`pods.rowid IN ${beyond}`, HOLDS_NOTHING))
}

/** Deletes pods that were terminated before `beforeMs`, at most `limit` of all teams; returns how many. */
export async function deleteTerminatedPods(db: Database, beforeMs: number, limit: number): Promise<number> {
  const isOld = and(IS_TERMINATED, lt(pods.changedAtMs, beforeMs), HOLDS_NOTHING)
  const old = db.select({ id: pods.id }).from(pods).where(isOld).limit(limit)
  const deleted = await db.delete(pods).where(and(eq(pods.status, 'TERMINATED'), inArray(pods.id, old)))
  return deleted.meta.changes
}
