import { eq, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { sshKeys } from '../schema.ts'

/** The SSH public keys of a team; none when it never registered any. */
export async function findSshKeys(db: Database, teamId: string): Promise<string[]> {
  const row = await db.select({ keys: sshKeys.keys }).from(sshKeys).where(eq(sshKeys.teamId, teamId)).get()
  return row?.keys ?? []
}

/** Replaces the whole set (ACC-1), if it still is `before`. */
export function replaceSshKeys(db: Database, teamId: string, before: string[], keys: string[], nowMs: number) {
  return db
    .insert(sshKeys)
    .values({ teamId, keys, updatedAt: nowMs })
    .onConflictDoUpdate({
      target: sshKeys.teamId,
      set: { keys: sql`excluded.keys`, updatedAt: sql`excluded.updated_at` },
      setWhere: eq(sshKeys.keys, before),
    })
}
