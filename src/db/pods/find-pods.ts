import { and, desc, eq, inArray, or, sql } from 'drizzle-orm'
import { TO_RUN } from '../../domain/pod/pod.ts'
import { yieldThread } from '../../platform/yield-thread.ts'
import type { Database, Records } from '../client.ts'
import { rowsInPieces } from '../rows-in-pieces.ts'
import { pods } from '../schema.ts'
import { openPod, type PodRow } from '../sealed-pod.ts'

// As the partial indexes have it, word for word: with a parameter in place of the status SQLite would not use them.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** A live pod of a team, or null. */
export async function findPod(db: Records, teamId: string, id: string): Promise<PodRow | null> {
  const rows = await db.select().from(pods).where(liveOf(teamId, id))
  return rows[0] ? openPod(db.vault, rows[0]) : null
}

/** Any pod, terminated ones too: for the host that runs it, which belongs to no team. */
export async function findPodForHost(db: Records, id: string): Promise<PodRow | null> {
  const rows = await db.select().from(pods).where(eq(pods.id, id))
  return rows[0] ? openPod(db.vault, rows[0]) : null
}

/** Where a pod is, and where it was before. */
export interface PodPlaces {
  hostId: string
  formerHosts: string[]
}

/** A pod of a team, terminated or not, or null. */
export async function findPodPlaces(db: Database, teamId: string, id: string): Promise<PodPlaces | null> {
  const formerHosts = sql<string | null>`${pods.spec} -> 'formerHosts'`
  const row = await db
    .select({ hostId: pods.hostId, formerHosts })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), eq(pods.id, id)))
    .get()
  return row ? { hostId: row.hostId, formerHosts: JSON.parse(row.formerHosts ?? '[]') as string[] } : null
}

/** Whose a pod is, and whether it is there: of any pod, for the key that was made for it. */
export function findPodOwner(db: Database, id: string): Promise<Pick<PodRow, 'teamId' | 'status'> | undefined> {
  return db.select({ teamId: pods.teamId, status: pods.status }).from(pods).where(eq(pods.id, id)).get()
}

/** Specifications that are opened before other requests run (RATE-22): a few milliseconds. */
const OPENED_AT_ONCE = 32

interface ListPosition {
  createdAt: number
  id: string
}

/** Specifications of one page, bytes: a thousand of the largest would not fit into a Worker's memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/**
 * A team's live pods behind `after`, newest first: at most `limit`, and fewer where they get large. `found` is more than there are rows where it
 * was cut short so.
 */
export async function listPods(
  db: Records,
  teamId: string,
  after: ListPosition | null,
  limit: number,
): Promise<{ rows: PodRow[]; found: number }> {
  const rows: PodRow[] = []
  let bytes = 0
  const read = (behind: typeof after, size: number) => selectPage(db, teamId, behind, size)
  for await (const piece of rowsInPieces(after, limit, read)) {
    for (const row of piece) {
      if (bytes > MAX_PAGE_BYTES) return { rows, found: rows.length + 1 }
      rows.push(openPod(db.vault, row.pod))
      if (rows.length % OPENED_AT_ONCE === 0) await yieldThread()
      bytes += row.bytes
    }
  }
  return { rows, found: rows.length }
}

async function selectPage(db: Database, teamId: string, after: ListPosition | null, limit: number) {
  const older = after && sql`(${pods.createdAtMs}, ${pods.id}) < (${after.createdAt}, ${after.id})`
  const page = await db
    .select({ pod: pods, bytes: sql<number>`octet_length(${pods.spec})` })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LIVE, ...(older ? [older] : [])))
    .orderBy(desc(pods.createdAtMs), desc(pods.id))
    .limit(limit)
  return page.map((row) => ({ ...row, position: { createdAt: row.pod.createdAtMs, id: row.pod.id } }))
}

/** Pods of a host whose container is to run there. Stopped ones are left out: there may be any number of those. */
export async function listPodsOfHost(db: Records, hostId: string): Promise<PodRow[]> {
  const rows = await db
    .select()
    .from(pods)
    .where(and(eq(pods.hostId, hostId), IS_LIVE, or(inArray(pods.status, [...TO_RUN]), eq(pods.hostLost, true))))
  return rows.map((row) => openPod(db.vault, row))
}

/** Pods of a host whose disks alone are there, as far as `limit`. */
export function listStoppedPodsOn(db: Database, hostId: string, limit: number): Promise<Pick<PodRow, 'id' | 'name' | 'teamId'>[]> {
  const isToRun = or(inArray(pods.status, [...TO_RUN]), eq(pods.hostLost, true))
  return db
    .select({ id: pods.id, name: pods.name, teamId: pods.teamId })
    .from(pods)
    .where(and(eq(pods.hostId, hostId), IS_LIVE, sql`NOT (${isToRun})`))
    .limit(limit)
}

function liveOf(teamId: string, id: string) {
  return and(eq(pods.teamId, teamId), eq(pods.id, id), IS_LIVE)
}
