import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { TO_RUN } from '../../domain/pod/pod.ts'
import { yieldThread } from '../../platform/yield-thread.ts'
import type { Database, Records } from '../client.ts'
import { isBehind, orderOf, positionOf } from '../list-order.ts'
import { isOneOf } from '../one-of.ts'
import { type ListPosition, rowsInPieces } from '../rows-in-pieces.ts'
import { pods } from '../schema.ts'
import { openPod, type PodRow, type RetainedPodRow } from '../sealed-pod.ts'
import { matchLabels } from './labelled-pods.ts'
import { ALL_PODS, conditionsOf, POD_ORDER, type PodFilter } from './pod-filter.ts'

// Verbatim as in the partial indexes: with a parameter for the status SQLite would not use them.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** A live pod of a team, or null. */
export async function findPod(db: Records, teamId: string, id: string): Promise<PodRow | null> {
  const rows = await db.select().from(pods).where(liveOf(teamId, id))
  return rows[0] ? openPod(db.vault, rows[0]) : null
}

/** Any pod, including terminated ones: for the host that runs it, which belongs to no team. */
export async function findPodForHost(db: Records, id: string): Promise<PodRow | null> {
  const rows = await db.select().from(pods).where(eq(pods.id, id))
  return rows[0] ? openPod(db.vault, rows[0]) : null
}

/** The current and previous hosts of a pod. */
export interface PodHosts {
  hostId: string
  formerHosts: string[]
}

/** The hosts of a team's pod, terminated or not, or null. */
export async function findPodHosts(db: Database, teamId: string, id: string): Promise<PodHosts | null> {
  const formerHosts = sql<string | null>`${pods.spec} -> 'formerHosts'`
  const row = await db
    .select({ hostId: pods.hostId, formerHosts })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), eq(pods.id, id)))
    .get()
  return row ? { hostId: row.hostId, formerHosts: JSON.parse(row.formerHosts ?? '[]') as string[] } : null
}

/** Owner and status of any pod, for the key that was made for it. */
export function findPodOwner(db: Database, id: string): Promise<Pick<PodRow, 'teamId' | 'status'> | undefined> {
  return db.select({ teamId: pods.teamId, status: pods.status }).from(pods).where(eq(pods.id, id)).get()
}

/** Specs that are opened before other requests run (RATE-22): a few milliseconds. */
const OPENED_AT_ONCE = 32

/** Rows of a filtered list that one statement reads. */
const READ_AT_ONCE = 128

const SIZED = { pod: pods, bytes: sql<number>`octet_length(${pods.spec}) + octet_length(${pods.labels})` }
interface SizedPod {
  pod: RetainedPodRow
  bytes: number
}

/** Largest total size of the specs and labels of one page, in bytes: a thousand of the largest would not fit in a Worker's memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** Rows of a page of pods. */
interface PodRows {
  rows: PodRow[]
  /** Exceeds the number of rows when more follow them. */
  found: number
  /** How far a filtered list was searched beyond its rows; null: the last row is the end of the page. */
  end: ListPosition | null
  /** Rows that were examined for a filter. */
  examined: number
}

/** At most `limit` of a team's live pods after `after` that match `filter`, in its order; fewer when they are large. */
export async function listPods(
  db: Records,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  filter: PodFilter = ALL_PODS,
): Promise<PodRows> {
  if (filter.labels.length === 0) {
    const read = (behind: typeof after, size: number) => selectPage(db, teamId, behind, size, filter)
    const { rows, isCut } = await openPage(db, rowsInPieces(after, limit, read))
    return { rows, found: rows.length + Number(isCut), end: null, examined: 0 }
  }
  const { matches, examined, end } = await matchLabels(db, teamId, after, limit, filter)
  const { rows, isCut } = await openPage(db, matchingRows(db, teamId, matches))
  return { rows, found: rows.length + Number(isCut || (end !== null && rows.length < limit)), end: isCut ? null : end, examined }
}

/** Opens rows until they exceed the size of a page. */
async function openPage(db: Records, pieces: AsyncIterable<SizedPod[]>): Promise<{ rows: PodRow[]; isCut: boolean }> {
  const rows: PodRow[] = []
  let bytes = 0
  for await (const piece of pieces) {
    for (const row of piece) {
      if (bytes > MAX_PAGE_BYTES) return { rows, isCut: true }
      rows.push(openPod(db.vault, row.pod))
      if (rows.length % OPENED_AT_ONCE === 0) await yieldThread()
      bytes += row.bytes
    }
  }
  return { rows, isCut: false }
}

async function* matchingRows(db: Database, teamId: string, matches: readonly ListPosition[]): AsyncGenerator<SizedPod[]> {
  for (let from = 0; from < matches.length; from += READ_AT_ONCE) {
    const ids = matches.slice(from, from + READ_AT_ONCE).map(({ id }) => id)
    const isNamed = isOneOf(pods.id, ids)
    const read = await db
      .select(SIZED)
      .from(pods)
      // The index on the team would read all of its pods.
      .where(and(isNamed, sql`+${pods.teamId} = ${teamId}`, IS_LIVE))
    const byId = new Map(read.map((row) => [row.pod.id, row]))
    // A pod that ended since it was found is left out.
    yield ids.flatMap((id) => byId.get(id) ?? [])
  }
}

async function selectPage(db: Database, teamId: string, after: ListPosition | null, limit: number, filter: PodFilter) {
  const page = await db
    .select(SIZED)
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LIVE, isBehind(POD_ORDER, filter.sort, after), ...conditionsOf(filter)))
    .orderBy(...orderOf(POD_ORDER, filter.sort))
    .limit(limit)
  return page.map((row) => ({
    ...row,
    position: positionOf(filter.sort, { createdAt: row.pod.createdAtMs, id: row.pod.id, name: row.pod.name }),
  }))
}

/** Pods of a host whose desired state is running. Stopped ones are left out: there may be any number of them. */
export async function listPodsOfHost(db: Records, hostId: string): Promise<PodRow[]> {
  const rows = await db
    .select()
    .from(pods)
    .where(and(eq(pods.hostId, hostId), IS_LIVE, or(inArray(pods.status, [...TO_RUN]), eq(pods.hostLost, true))))
  return rows.map((row) => openPod(db.vault, row))
}

/** At most `limit` pods of a host that are stopped, so that only their disks are there. */
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
