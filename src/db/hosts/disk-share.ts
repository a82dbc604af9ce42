import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { DiskUse } from '../../domain/host/disk-share.ts'
import { payerOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { allocations, hosts } from '../tables/hosts/hosts.ts'

/** More than one person may use the machines: with one alone nothing has to be left to others. */
const hasOthers = (teamId: string) =>
  sql`EXISTS (SELECT 1 FROM teams other WHERE other.kind = 'PERSONAL' AND other.deleted_at IS NULL AND other.id <> ${payerOf(teamId)})`

// Of an allocation and the team `owner` that has it: a pod that the person behind a team pays for. It costs no row more with more organizations.
const isOwnPod = (teamId: string) =>
  sql`(allocations.kind = 'pod' AND ${payerOf(teamId)} IN (owner.id, CASE WHEN owner.plan IS NULL THEN owner.maker_team_id END))`
const sumOf = (what: SQL, condition: SQL) => sql<number>`COALESCE(SUM(CASE WHEN ${condition} THEN ${what} END), 0)`

/** What a pod is to hold of a machine. */
interface Wanted {
  id: string | SQL
  diskGb: number | SQL
  vcpus: number | SQL
}

/**
 * A condition for the statement that takes disk for pods, so that requests at once cannot pass a share together (SHR-41): as `diskRoom` says it.
 * What a pod of this id holds already counts as given back. The machine stands inside the join too: SQLite would make all allocations first.
 */
export function withinDiskShare(teamId: string, hostId: string | SQL, { id, diskGb, vcpus }: Wanted): SQL {
  const own = sql`own = 1 AND held_id <> ${id}`
  const fair = sql`CASE WHEN others <= 0 THEN total - (total + 3) / 4 ELSE MAX(0, (total - others) / 2) END`
  return sql`(NOT ${hasOthers(teamId)} OR EXISTS (SELECT 1 FROM (SELECT h.disk_gb_total AS total, h.vcpu_total AS cores,
      ${sumOf(sql`disk_gb`, own)} AS held, ${sumOf(sql`vcpu`, own)} AS vcpus, ${sumOf(sql`disk_gb`, sql`own = 0`)} AS others
      FROM hosts h LEFT JOIN (SELECT allocations.id AS held_id, disk_gb, vcpu, ${isOwnPod(teamId)} AS own
        FROM allocations JOIN teams owner ON owner.id = allocations.team_id WHERE allocations.host_id = ${hostId}) held ON TRUE
      WHERE h.id = ${hostId} GROUP BY h.id)
    WHERE held + ${diskGb} <= MAX(${fair}, CAST(total * MIN(1.0, (vcpus + ${vcpus}) * 1.0 / cores) AS INTEGER))))`
}

/** What pods hold of some hosts' disks, for the person behind a team; none while no other person uses the plane. A statement of a batch. */
export function selectDiskUse(db: Database, teamId: string, which: SQL | undefined) {
  const own = isOwnPod(teamId)
  return db
    .select({
      hostId: hosts.id,
      totalGb: hosts.diskGbTotal,
      heldGb: sumOf(sql`${allocations.diskGb}`, own),
      othersGb: sumOf(sql`${allocations.diskGb}`, sql`NOT ${own}`),
      vcpusHeld: sumOf(sql`${allocations.vcpu}`, own),
    })
    .from(hosts)
    .leftJoin(allocations, eq(allocations.hostId, hosts.id))
    .leftJoin(sql`teams owner`, sql`owner.id = ${allocations.teamId}`)
    .where(and(which, hasOthers(teamId)))
    .groupBy(hosts.id) satisfies PromiseLike<(DiskUse & { hostId: string })[]>
}
