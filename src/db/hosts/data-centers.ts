import { and, eq, ne } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { hosts } from '../schema.ts'

/** Whether a data center contains a host that is not removed. */
export async function hasHostIn(db: Database, dataCenterId: string): Promise<boolean> {
  const row = await db
    .select({ id: hosts.id })
    .from(hosts)
    .where(and(eq(hosts.dataCenterId, dataCenterId), ne(hosts.status, 'REMOVED')))
    .limit(1)
    .get()
  return row !== undefined
}

/** Data center of a host; null for a host that is unknown or removed. */
export async function findDataCenterOf(db: Database, hostId: string): Promise<string | null> {
  const row = await db
    .select({ dataCenterId: hosts.dataCenterId })
    .from(hosts)
    .where(and(eq(hosts.id, hostId), ne(hosts.status, 'REMOVED')))
    .get()
  return row?.dataCenterId ?? null
}

/** Ids of all data centers with a host that is not removed. */
export async function listHostDataCenters(db: Database): Promise<string[]> {
  const rows = await db.selectDistinct({ id: hosts.dataCenterId }).from(hosts).where(ne(hosts.status, 'REMOVED'))
  return rows.map(({ id }) => id)
}
