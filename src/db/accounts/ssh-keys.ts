import { eq, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { sshKeys } from '../schema.ts'

/** The SSH public keys of a team; none when it never registered any. */
export async function findSshKeys(db: Database, teamId: string): Promise<string[]> {
  const row = await db.select({ keys: sshKeys.keys }).from(sshKeys).where(eq(sshKeys.teamId, teamId)).get()
  return row?.keys ?? []
}

/** Replaces the whole set (ACC-1). */
export function replaceSshKeys(db: Database, teamId: string, keys: string[], nowMs: number): Statement {
  return db
    .insert(sshKeys)
    .values({ teamId, keys, updatedAt: nowMs })
    .onConflictDoUpdate({ target: sshKeys.teamId, set: { keys: sql`excluded.keys`, updatedAt: sql`excluded.updated_at` } })
}
