import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { DiskUse } from '../../domain/host/disk-share.ts'
import { isShared, payerOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { allocations } from '../tables/hosts/hosts.ts'

/** More than one person may use the machines: with one alone nothing has to be left to others. */
const hasOthers = (teamId: string) =>
  sql`EXISTS (SELECT 1 FROM teams other WHERE other.kind = 'PERSONAL' AND other.deleted_at IS NULL AND other.id <> ${payerOf(teamId)})`

// Of an allocation and the team `owner` that has it: a pod that the person behind a team pays for. It costs no row more with more organizations.
const isOwnPod = (teamId: string) =>
  sql`(allocations.kind = 'pod' AND ${payerOf(teamId)} = CASE WHEN owner.plan IS NULL THEN COALESCE(owner.maker_team_id, owner.id) ELSE owner.id END)`
const sumOf = (what: SQL, condition: SQL) => sql<number>`COALESCE(SUM(CASE WHEN ${condition} THEN ${what} END), 0)`

/** What a pod is to hold of a machine. */
interface Wanted {
  id: string | SQL
  diskGb: number | SQL
  vcpus: number | SQL
}

/**
 * A condition for the statement that takes disk for pods, so that requests at once cannot pass a share together (SHR-41): as `diskRoom` says it.
 * What a pod of this id holds already counts as given back.
 */
export function withinDiskShare(teamId: string, hostId: string | SQL, { id, diskGb, vcpus }: Wanted): SQL {
  const own = sql`own = 1 AND held_id <> ${id}`
  const fair = sql`CASE WHEN others <= 0 THEN total - (total + 3) / 4 ELSE MAX(0, (total - others) / 2) END`
  return sql`(NOT ${hasOthers(teamId)} OR EXISTS (SELECT 1 FROM (SELECT h.disk_gb_total AS total, h.vcpu_total AS cores,
      ${sumOf(sql`disk_gb`, own)} AS held, ${sumOf(sql`vcpu`, own)} AS vcpus, ${sumOf(sql`disk_gb`, sql`own = 0`)} AS others
      FROM hosts h LEFT JOIN (SELECT allocations.id AS held_id, host_id, disk_gb, vcpu, ${isOwnPod(teamId)} AS own
        FROM allocations JOIN teams owner ON owner.id = allocations.team_id) held ON held.host_id = h.id
      WHERE h.id = ${hostId} GROUP BY h.id)
    WHERE held + ${diskGb} <= MAX(${fair}, CAST(total * MIN(1.0, (vcpus + ${vcpus}) * 1.0 / cores) AS INTEGER))))`
}

/** Whether anybody but the person behind a team uses the plane. A statement of a batch. */
export function selectHasOthers(db: Database, teamId: string) {
  return db.select({ hasOthers: sql<number>`${hasOthers(teamId)}`.as('has_others') }).from(sql`(SELECT 1)`)
}

/** What the pods of the person behind a team hold of each host's disk and vCPUs: as many rows as that person has pods. A statement of a batch. */
export function selectOwnDisk(db: Database, teamId: string) {
  const { hostId, diskGb, vcpu, kind } = allocations
  return db
    .select({ hostId, heldGb: sql<number>`SUM(${diskGb})`.as('held_gb'), vcpusHeld: sql<number>`SUM(${vcpu})`.as('vcpus_held') })
    .from(allocations)
    .where(and(eq(kind, 'pod'), isShared(teamId, sql`${allocations.teamId}`)))
    .groupBy(hostId)
}

interface Disk {
  id: string
  diskGbTotal: number
  diskGbFree: number
}

/** The use of each host's disk from both; none while no other person uses the plane. */
export function diskUses(
  shared: readonly { hasOthers: number }[],
  own: readonly { hostId: string; heldGb: number; vcpusHeld: number }[],
  disks: readonly Disk[],
): Map<string, DiskUse> {
  if (!shared[0]?.hasOthers) return new Map()
  const byHost = new Map(own.map(({ hostId, ...held }) => [hostId, held]))
  return new Map(
    disks.map(({ id, diskGbTotal, diskGbFree }) => {
      const { heldGb, vcpusHeld } = byHost.get(id) ?? { heldGb: 0, vcpusHeld: 0 }
      return [id, { totalGb: diskGbTotal, heldGb, othersGb: diskGbTotal - diskGbFree - heldGb, vcpusHeld }]
    }),
  )
}
