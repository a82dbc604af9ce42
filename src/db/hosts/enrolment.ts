import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { Cloud, HostStatus } from '../../contract/enums.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import type { Database, Statement } from '../client.ts'
import { selectOf } from '../select-of.ts'
import { hosts, joinTokens } from '../tables/hosts/hosts.ts'

/** A host that joins. */
export interface NewHost {
  id: string
  name: string
  publicKeyX: string
  inventory: Inventory
}

/** A join token and the host that has joined with it. */
export interface JoinTokenState {
  dataCenterId: string
  cloud: Cloud
  name: string | null
  expiresAt: number
  usedAt: number | null
  /** Null also when the host was removed. */
  host: { id: string; publicKeyX: string; epoch: number; lastSeenAt: number | null } | null
}

/** A join token by its hash; null for an unknown one. */
export async function findJoinTokenState(db: Database, tokenHash: string): Promise<JoinTokenState | null> {
  const [row] = await db
    .select({ token: joinTokens, host: hosts })
    .from(joinTokens)
    .leftJoin(hosts, and(eq(hosts.id, joinTokens.usedByHostId), ne(hosts.status, 'REMOVED')))
    .where(eq(joinTokens.tokenHash, tokenHash))
  return row ? { ...row.token, host: row.host } : null
}

/**
 * Uses up a join token and stores the host that joins with it, both or neither (DUR-4). False when the token is used or expired: of two
 * concurrent callers, one gets it. The host is offline until its agent has linked.
 */
export async function joinHost(
  db: Database,
  tokenHash: string,
  host: NewHost,
  { dataCenterId, cloud }: Pick<JoinTokenState, 'dataCenterId' | 'cloud'>,
  nowMs: number,
  note: Statement,
): Promise<boolean> {
  const { vcpus, memoryMb, diskGb } = host.inventory
  const use = db
    .update(joinTokens)
    .set({ usedAt: nowMs, usedByHostId: host.id })
    .where(and(eq(joinTokens.tokenHash, tokenHash), isNull(joinTokens.usedAt), gt(joinTokens.expiresAt, nowMs)))
  const [{ meta }] = await db.batch([
    use,
    insertIfChanged(db, {
      ...host,
      dataCenterId,
      cloud,
      publicIp: host.inventory.publicIp ?? null,
      status: 'OFFLINE',
      epoch: 1,
      vcpuTotal: vcpus,
      vcpuFree: vcpus,
      memoryMbTotal: memoryMb,
      memoryMbFree: memoryMb,
      diskGbTotal: diskGb,
      diskGbFree: diskGb,
      createdAt: nowMs,
      lastSeenAt: null,
      cordonedAt: null,
      cordonReason: null,
      cordonBy: null,
      draining: false,
      lostAt: null,
      gpuProblems: [],
    }),
    note,
  ])
  return meta.changes > 0
}

function insertIfChanged(db: Database, row: typeof hosts.$inferSelect): Statement {
  return db.insert(hosts).select(selectOf(hosts, row, sql`WHERE changes() > 0`))
}

/** The public key of an enrolled host; null for an unknown or removed one. */
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

/** Marks an offline host as lost. */
export async function setHostLost(db: Database, hostId: string, nowMs: number, note: Statement): Promise<void> {
  const lose = db
    .update(hosts)
    .set({ lostAt: nowMs })
    .where(and(eq(hosts.id, hostId), eq(hosts.status, 'OFFLINE')))
  await db.batch([lose, note])
}
