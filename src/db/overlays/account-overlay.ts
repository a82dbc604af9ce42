import { and, eq, lt, sql } from 'drizzle-orm'
import { OVERLAY_POOLS } from '../../domain/overlay/addresses.ts'
import type { Database } from '../client.ts'
import { isRefusedWith, refusalOf, refuse } from '../refusals.ts'
import { hosts, overlays, pods } from '../schema.ts'
import { selectOf } from '../select-of.ts'

/** An unused network is deleted after this time; joining it renews the time. */
const UNUSED_MS = 3_600_000

/**
 * The network of an account, created if there is none, and the addresses of its live pods. Null: no network is free. The network exists for
 * at least an hour, so that a pod can be stored in it.
 */
export async function provideAccountOverlay(
  db: Database,
  teamId: string,
  nowMs: number,
): Promise<{ slot: number; taken: string[] } | null> {
  const slots = sql`(SELECT slot FROM overlays WHERE kind = 'account')`
  const free = sql`(SELECT MIN(candidate) FROM (SELECT 0 AS candidate UNION ALL SELECT slot + 1 FROM overlays WHERE kind = 'account')
    WHERE candidate NOT IN ${slots} AND candidate < ${OVERLAY_POOLS.account.slots})`
  const isNew = sql`NOT EXISTS (SELECT 1 FROM overlays WHERE owner_id = ${teamId})`
  const slot = sql`COALESCE(${free}, ${refuse('network')})`
  const network = { id: teamId, teamId, kind: 'account', ownerId: teamId, slot, checkNumber: 0, createdAtMs: nowMs } as const
  try {
    const [, , found, taken] = await db.batch([
      db.insert(overlays).select(selectOf(overlays, network, sql`WHERE ${isNew}`)),
      db.update(overlays).set({ createdAtMs: nowMs }).where(eq(overlays.ownerId, teamId)),
      db.select({ slot: overlays.slot }).from(overlays).where(eq(overlays.ownerId, teamId)),
      db
        .select({ address: sql<string>`${pods.globalIp}` })
        .from(pods)
        .where(and(eq(pods.teamId, teamId), sql`${pods.globalIp} IS NOT NULL AND ${pods.status} <> 'TERMINATED'`)),
    ])
    return { slot: found[0]?.slot ?? 0, taken: taken.map(({ address }) => address) }
  } catch (error) {
    if (refusalOf(error) === 'network') return null
    throw error
  }
}

/** Deletes networks of accounts without a pod. */
export async function dropUnusedOverlays(db: Database, nowMs: number): Promise<void> {
  const isUsed = sql`EXISTS (SELECT 1 FROM pods p WHERE p.team_id = ${overlays.ownerId} AND p.global_ip IS NOT NULL AND p.status <> 'TERMINATED')`
  await db.delete(overlays).where(and(eq(overlays.kind, 'account'), lt(overlays.createdAtMs, nowMs - UNUSED_MS), sql`NOT ${isUsed}`))
}

/** Whether a batch failed because another pod of the account has taken the address. */
export function isAddressTaken(error: unknown): boolean {
  return isRefusedWith(error, 'UNIQUE constraint failed: pods.team_id, pods.global_ip')
}

/** Whether a host supports private networks. */
export async function isOnOverlays(db: Database, hostId: string): Promise<boolean> {
  const row = await db.select({ inventory: hosts.inventory }).from(hosts).where(eq(hosts.id, hostId)).get()
  return row?.inventory.overlay?.address != null
}
