import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Inventory } from '../../host-protocol/messages.ts'
import type { Database } from '../client.ts'
import { allocations, hosts } from '../tables/hosts/hosts.ts'

/**
 * For a query of the table `hosts`: whether the host takes several accounts at a time (HOST-85). It does if it runs no containers, isolates
 * accounts from each other, or its operator declares that the accounts trust one another. An agent that reports no isolation has none.
 */
const TAKES_SEVERAL = sql`(json_extract(hosts.inventory, '$.runtimes') NOT LIKE '%docker%'
  OR json_extract(hosts.inventory, '$.isolation.network') = 1 OR json_extract(hosts.inventory, '$.isolation.trustedTenants') = 1)`

/**
 * For a query of the table `hosts`: whether accounts that do not trust one another share its disk (SHR-41). With one account at a time, or
 * with trusted tenants, no share has to be left to others.
 */
export const SHARES_DISK = sql`(${TAKES_SEVERAL} AND COALESCE(json_extract(hosts.inventory, '$.isolation.trustedTenants'), 0) = 0)`

/** Whether accounts that do not trust one another share the disk of a host with this inventory (SHR-41). */
export function sharesDisk({ runtimes, isolation }: Inventory): boolean {
  return isolation?.trustedTenants !== true && (!runtimes.includes('docker') || isolation?.network === true)
}

/** For a query of the table `hosts`: whether the host may take workloads of this account. */
export function takesAccount(hostId: string | SQL, teamId: string): SQL {
  return sql`(${TAKES_SEVERAL} OR NOT EXISTS (SELECT 1 FROM allocations held WHERE held.host_id = ${hostId} AND held.team_id <> ${teamId}))`
}

/** For each of some hosts that take one account at a time, the accounts with an allocation there. A statement of a batch. */
export function selectHolders(db: Database, which: SQL | undefined) {
  return db
    .selectDistinct({ hostId: hosts.id, teamId: allocations.teamId })
    .from(hosts)
    .leftJoin(allocations, eq(allocations.hostId, hosts.id))
    .where(and(which, sql`NOT COALESCE(${TAKES_SEVERAL}, 0)`))
}
