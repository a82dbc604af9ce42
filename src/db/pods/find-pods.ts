import { and, desc, eq, inArray, or, sql } from 'drizzle-orm'
import { TO_RUN } from '../../domain/pod/pod.ts'
import type { Database, Records } from '../client.ts'
import { pods } from '../schema.ts'
import { openPod, type PodRow } from './sealed-pod.ts'

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

/** Specifications of one page, bytes: a thousand of the largest would not fit into a Worker's memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/**
 * A team's live pods behind `after`, newest first: at most `limit`, and fewer where they get large. `found` is how many there were within
 * `limit`.
 */
export async function listPods(
  db: Records,
  teamId: string,
  after: { createdAt: number; id: string } | null,
  limit: number,
): Promise<{ rows: PodRow[]; found: number }> {
  const older = after && sql`(${pods.createdAtMs}, ${pods.id}) < (${after.createdAt}, ${after.id})`
  const candidates = db
    .select({ id: pods.id, at: sql`${pods.createdAtMs}`.as('at'), bytes: sql`octet_length(${pods.spec})`.as('bytes') })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LIVE, ...(older ? [older] : [])))
    .orderBy(desc(pods.createdAtMs), desc(pods.id))
    .limit(limit)
    .as('candidates')
  const before = sql`SUM(${candidates.bytes}) OVER (ORDER BY ${candidates.at} DESC, ${candidates.id} DESC) - ${candidates.bytes}`
  const measured = db
    .select({ id: candidates.id, before: before.as('before'), found: sql<number>`COUNT(*) OVER ()`.as('found') })
    .from(candidates)
    .as('measured')
  const page = await db
    .select({ pod: pods, found: measured.found })
    .from(measured)
    .innerJoin(pods, eq(pods.id, measured.id))
    .where(sql`${measured.before} <= ${MAX_PAGE_BYTES}`)
    .orderBy(desc(pods.createdAtMs), desc(pods.id))
  return { rows: page.map(({ pod }) => openPod(db.vault, pod)), found: page[0]?.found ?? 0 }
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
