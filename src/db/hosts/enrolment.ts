import { and, eq, gt, isNull, ne } from 'drizzle-orm'
import type { Cloud, HostStatus } from '../../contract/enums.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import type { Database, Statement } from '../client.ts'
import { hosts, joinTokens } from '../tables/hosts/hosts.ts'

export interface NewHost {
  id: string
  name: string
  publicKeyX: string
  inventory: Inventory
}

/** What a join token lets its machine be. */
export interface JoinGrant {
  dataCenterId: string
  cloud: Cloud
  name: string | null
}

/** Uses up a join token. Null when it is unknown, used or expired; of two callers at once, one gets it. */
export async function useJoinToken(db: Database, tokenHash: string, hostId: string, nowMs: number): Promise<JoinGrant | null> {
  const rows = await db
    .update(joinTokens)
    .set({ usedAt: nowMs, usedByHostId: hostId })
    .where(and(eq(joinTokens.tokenHash, tokenHash), isNull(joinTokens.usedAt), gt(joinTokens.expiresAt, nowMs)))
    .returning({ dataCenterId: joinTokens.dataCenterId, cloud: joinTokens.cloud, name: joinTokens.name })
  return rows[0] ?? null
}

/** Records a machine that has just joined. It is offline until its agent has linked. */
export async function insertHost(
  db: Database,
  host: NewHost,
  { dataCenterId, cloud }: JoinGrant,
  nowMs: number,
  note: Statement,
): Promise<void> {
  const { vcpus, memoryMb, diskGb } = host.inventory
  const insert = db.insert(hosts).values({
    id: host.id,
    name: host.name,
    dataCenterId,
    cloud,
    publicIp: host.inventory.publicIp ?? null,
    status: 'OFFLINE',
    publicKeyX: host.publicKeyX,
    epoch: 1,
    inventory: host.inventory,
    vcpuTotal: vcpus,
    vcpuFree: vcpus,
    memoryMbTotal: memoryMb,
    memoryMbFree: memoryMb,
    diskGbTotal: diskGb,
    diskGbFree: diskGb,
    createdAt: nowMs,
    lastSeenAt: null,
  })
  await db.batch([insert, note])
}

/** The key with which an enrolled host proves itself; null for an unknown or removed one. */
export async function findHostKey(db: Database, hostId: string): Promise<{ publicKeyX: string; epoch: number } | null> {
  const rows = await db
    .select({ publicKeyX: hosts.publicKeyX, epoch: hosts.epoch })
    .from(hosts)
    .where(and(eq(hosts.id, hostId), ne(hosts.status, 'REMOVED')))
  return rows[0] ?? null
}

/** Writes a presence change; a removed host stays removed. */
export async function setHostStatus(db: Database, hostId: string, status: HostStatus, nowMs: number): Promise<void> {
  await db
    .update(hosts)
    .set({ status, ...(status === 'ONLINE' ? { lastSeenAt: nowMs, lostAt: null } : {}) })
    .where(and(eq(hosts.id, hostId), ne(hosts.status, 'REMOVED')))
}

/** Notes that a host which is offline counts as lost. */
export async function setHostLost(db: Database, hostId: string, nowMs: number, note: Statement): Promise<void> {
  const lose = db
    .update(hosts)
    .set({ lostAt: nowMs })
    .where(and(eq(hosts.id, hostId), eq(hosts.status, 'OFFLINE')))
  await db.batch([lose, note])
}
