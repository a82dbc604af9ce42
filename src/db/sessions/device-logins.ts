import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { MAX_DEVICE_LOGINS } from '../../domain/session/device-login.ts'
import type { Database, Statement } from '../client.ts'
import { deviceLogins } from '../schema.ts'

export type DeviceLoginRow = typeof deviceLogins.$inferSelect
/** What somebody lets a device do, and for whom. */
export type DeviceGrant = Pick<DeviceLoginRow, 'userId' | 'teamId' | 'credentialId' | 'permission' | 'scopes'>

/** Stores a device that waits; those whose time is over go. False: too many wait already. */
export async function insertDeviceLogin(
  db: Database,
  { id, userCode, name, createdAt, expiresAt, intervalSeconds }: DeviceLoginRow,
): Promise<boolean> {
  const values = sql`${id}, ${userCode}, ${name}, ${createdAt}, ${expiresAt}, ${intervalSeconds}`
  const hasRoom = sql`(SELECT COUNT(*) FROM device_logins) < ${MAX_DEVICE_LOGINS}`
  const [, { meta }] = await db.batch([
    db.delete(deviceLogins).where(sql`${deviceLogins.expiresAt} <= ${createdAt}`),
    db.insert(deviceLogins).select(sql`SELECT ${values}, NULL, 'PENDING', NULL, NULL, NULL, NULL, NULL WHERE ${hasRoom}`),
  ])
  return meta.changes > 0
}

/** A device by the hash of its own code. */
export function findDeviceLogin(db: Database, id: string): Promise<DeviceLoginRow | undefined> {
  return db.select().from(deviceLogins).where(eq(deviceLogins.id, id)).get()
}

/** A device that waits, by the hash of the code that it shows. */
export function findWaitingDevice(db: Database, userCode: string, nowMs: number): Promise<DeviceLoginRow | undefined> {
  return db.select().from(deviceLogins).where(isWaiting(userCode, nowMs)).get()
}

/** Lets a waiting device in, or not (null); false: it does not wait any more. */
export async function decideDevice(
  db: Database,
  userCode: string,
  grant: DeviceGrant | null,
  nowMs: number,
  note: Statement,
): Promise<boolean> {
  const decided = grant === null ? { status: 'DENIED' as const } : { status: 'APPROVED' as const, ...grant }
  const [{ meta }] = await db.batch([db.update(deviceLogins).set(decided).where(isWaiting(userCode, nowMs)), note])
  return meta.changes > 0
}

/** Notes that a device has asked. */
export async function notePoll(db: Database, id: string, polledAt: number, intervalSeconds: number): Promise<void> {
  await db.update(deviceLogins).set({ polledAt, intervalSeconds }).where(eq(deviceLogins.id, id))
}

/** Takes a device that was let in away, so that it gets one key; undefined: another request has done so. */
export function takeApprovedDevice(db: Database, id: string, nowMs: number): Promise<DeviceLoginRow | undefined> {
  return db
    .delete(deviceLogins)
    .where(and(eq(deviceLogins.id, id), eq(deviceLogins.status, 'APPROVED'), gt(deviceLogins.expiresAt, nowMs)))
    .returning()
    .get()
}

function isWaiting(userCode: string, nowMs: number): SQL | undefined {
  return and(eq(deviceLogins.userCode, userCode), eq(deviceLogins.status, 'PENDING'), gt(deviceLogins.expiresAt, nowMs))
}
