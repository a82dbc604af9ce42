import { and, eq, gt, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { deviceLogins } from '../schema.ts'

export type DeviceLoginRow = typeof deviceLogins.$inferSelect

/** Stores a user's decision about a device, once, and deletes expired ones. False: the device was decided before. */
export async function insertDecision(db: Database, row: DeviceLoginRow, note: Statement): Promise<boolean> {
  const [, { meta }] = await db.batch([
    db.delete(deviceLogins).where(sql`${deviceLogins.expiresAt} <= ${row.createdAt}`),
    db.insert(deviceLogins).values(row).onConflictDoNothing(),
    note,
  ])
  return meta.changes > 0
}

/** The decision about a device, by the hash of the code that it shows. */
export function findDecision(db: Database, id: string): Promise<DeviceLoginRow | undefined> {
  return db.select().from(deviceLogins).where(eq(deviceLogins.id, id)).get()
}

/** Marks an approved device as served, so that it gets one key; undefined: another request has done so, or it has expired. */
export function takeApproved(db: Database, id: string, nowMs: number): Promise<DeviceLoginRow | undefined> {
  return db
    .update(deviceLogins)
    .set({ status: 'TAKEN' })
    .where(and(eq(deviceLogins.id, id), eq(deviceLogins.status, 'APPROVED'), gt(deviceLogins.expiresAt, nowMs)))
    .returning()
    .get()
}
