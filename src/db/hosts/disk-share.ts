import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { DiskUse } from '../../domain/host/disk-share.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import { isShared, payerOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { allocations } from '../tables/hosts/hosts.ts'
import { SHARES_DISK, sharesDisk } from './tenancy.ts'

/** The payer of a team `owner`, as `payerOf` computes it. */
const OWNERS_PAYER = sql`CASE WHEN owner.plan IS NULL THEN COALESCE(owner.maker_team_id, owner.id) ELSE owner.id END`

/** Whether there are several payers: a single one does not have to leave anything to others. */
const hasOthers = (teamId: string) =>
  sql`EXISTS (SELECT 1 FROM teams owner WHERE owner.deleted_at IS NULL AND ${OWNERS_PAYER} <> ${payerOf(teamId)})`

/** Disk that a pod is to have on a host. */
interface Wanted {
  id: string | SQL
  diskGb: number | SQL
}

/**
 * A condition for the statement that takes disk for pods, so that concurrent requests cannot exceed a share together (SHR-41): the same
 * rule as `diskRoom`. The present disk of the pod with this id counts as released. It reads the allocations of this host only.
 */
export function withinDiskShare(teamId: string, hostId: string | SQL, { id, diskGb }: Wanted): SQL {
  const sumOf = (condition: SQL) => sql`COALESCE(SUM(CASE WHEN ${condition} THEN disk_gb END), 0)`
  const fair = sql`CASE WHEN others <= 0 THEN total - (total + 3) / 4 ELSE MAX(0, (total - others) / 2) END`
  return sql`(NOT ${hasOthers(teamId)} OR NOT EXISTS (SELECT 1 FROM (
      SELECT (SELECT disk_gb_total FROM hosts WHERE id = ${hostId} AND ${SHARES_DISK}) AS total,
        ${sumOf(sql`own AND kind = 'pod' AND id <> ${id}`)} AS held, ${sumOf(sql`NOT own`)} AS others
      FROM (SELECT allocations.id AS id, allocations.kind AS kind, disk_gb, ${OWNERS_PAYER} = ${payerOf(teamId)} AS own
        FROM allocations JOIN teams owner ON owner.id = allocations.team_id WHERE allocations.host_id = ${hostId}))
    WHERE total IS NOT NULL AND held + ${diskGb} > ${fair}))`
}

/** Whether a payer other than the team's uses the plane. A statement of a batch. */
export function selectHasOthers(db: Database, teamId: string) {
  return db.select({ hasOthers: sql<number>`${hasOthers(teamId)}`.as('has_others') }).from(sql`(SELECT 1)`)
}

/** Disk use of a team's payer by host, on these hosts or on all: as many rows as the payer has there. A statement of a batch. */
export function selectOwnDisk(db: Database, teamId: string, hostIds?: readonly string[]) {
  const { hostId, diskGb, kind } = allocations
  // The plus keeps the few hosts first: by their teams, all workloads of the payer would be read.
  const which = hostIds
    ? and(isOneOf(hostId, hostIds), isShared(teamId, sql`+${allocations.teamId}`))
    : isShared(teamId, sql`${allocations.teamId}`)
  return db
    .select({
      hostId,
      podsGb: sql<number>`SUM(CASE WHEN ${eq(kind, 'pod')} THEN ${diskGb} ELSE 0 END)`.as('pods_gb'),
      allGb: sql<number>`SUM(${diskGb})`.as('all_gb'),
    })
    .from(allocations)
    .where(which)
    .groupBy(hostId)
}

interface Disk {
  id: string
  diskGbTotal: number
  diskGbFree: number
  inventory: Inventory
}

/** Use of shared disks by host, from the results of `selectHasOthers` and `selectOwnDisk`; empty while no other payer uses the plane. */
export function diskUses(
  shared: readonly { hasOthers: number }[],
  own: readonly { hostId: string; podsGb: number; allGb: number }[],
  disks: readonly Disk[],
): Map<string, DiskUse> {
  if (!shared[0]?.hasOthers) return new Map()
  const byHost = new Map(own.map(({ hostId, ...held }) => [hostId, held]))
  return new Map(
    disks
      .filter(({ inventory }) => sharesDisk(inventory))
      .map(({ id, diskGbTotal, diskGbFree }) => {
        const { podsGb, allGb } = byHost.get(id) ?? { podsGb: 0, allGb: 0 }
        return [id, { totalGb: diskGbTotal, heldGb: podsGb, othersGb: diskGbTotal - diskGbFree - allGb }]
      }),
  )
}
