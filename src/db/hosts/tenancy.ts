import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Inventory } from '../../host-protocol/messages.ts'
import type { Database } from '../client.ts'
import { allocations, hosts } from '../tables/hosts/hosts.ts'

/**
 * For a query of the table `hosts`: the host takes several accounts (HOST-85). It runs no containers, keeps them apart, or its operator says
 * that the accounts trust one another. An agent that says nothing of it keeps nobody apart.
 */
const TAKES_SEVERAL = sql`(json_extract(hosts.inventory, '$.runtimes') NOT LIKE '%docker%'
  OR json_extract(hosts.inventory, '$.isolation.network') = 1 OR json_extract(hosts.inventory, '$.isolation.trustedTenants') = 1)`

/** For a query of the table `hosts`: accounts that do not trust one another share its disk (SHR-41). One at a time, or friends, leave nothing to others. */
export const SHARES_DISK = sql`(${TAKES_SEVERAL} AND COALESCE(json_extract(hosts.inventory, '$.isolation.trustedTenants'), 0) = 0)`

/** The same of an inventory. */
export function sharesDisk({ runtimes, isolation }: Inventory): boolean {
  return isolation?.trustedTenants !== true && (!runtimes.includes('docker') || isolation?.network === true)
}

/** For a query of the table `hosts`: the host may be given work of this account. */
export function takesAccount(hostId: string | SQL, teamId: string): SQL {
  return sql`(${TAKES_SEVERAL} OR NOT EXISTS (SELECT 1 FROM allocations held WHERE held.host_id = ${hostId} AND held.team_id <> ${teamId}))`
}

/** For each of some hosts that takes one account at a time, those that hold anything there. A statement of a batch. */
export function selectHolders(db: Database, which: SQL | undefined) {
  return db
    .selectDistinct({ hostId: hosts.id, teamId: allocations.teamId })
    .from(hosts)
    .leftJoin(allocations, eq(allocations.hostId, hosts.id))
    .where(and(which, sql`NOT COALESCE(${TAKES_SEVERAL}, 0)`))
}
