import { eq, sql } from 'drizzle-orm'
import type { Role } from '../../domain/access.ts'
import { endOfSshKey, type JudgedSshKey, type SshKeyMaker } from '../../domain/resources/ssh-key.ts'
import type { Database } from '../client.ts'
import { sshKeys } from '../schema.ts'
import { isUserActive } from './suspension.ts'

/** Columns from which `judgeSshKeys` decides which keys of an account are valid, so that one query is enough (DER-33). */
export const JUDGED_KEYS = {
  keys: sshKeys.keys,
  makers: sshKeys.makers,
  members: sql<string>`(SELECT json_group_array(json_array(m.user_id, m.role, m.created_at, NOT ${isUserActive(sql`m.user_id`)}))
    FROM memberships m WHERE m.team_id = ssh_keys.team_id)`,
}

interface KeysRow {
  keys: string[] | null
  makers: Record<string, SshKeyMaker> | null
  members: string
}

/** The SSH public keys of a team, judged by the current state of their makers; empty when it never registered any. */
export async function findSshKeys(db: Database, teamId: string): Promise<JudgedSshKey[]> {
  const row = await db.select(JUDGED_KEYS).from(sshKeys).where(eq(sshKeys.teamId, teamId)).get()
  return row ? judgeSshKeys(row) : []
}

/** Each key of a row, with the reason why it is not valid any more, if so (DER-33). */
export function judgeSshKeys({ keys, makers, members }: KeysRow): JudgedSshKey[] {
  if (keys === null) return []
  const now = new Map(
    (JSON.parse(members) as [string, Role, number, number][]).map(([userId, role, joinedAtMs, isSuspended]) => [
      userId,
      { role, joinedAtMs, isSuspended: isSuspended === 1 },
    ]),
  )
  return keys.map((line) => {
    const maker = makers?.[line] ?? null
    return { line, maker, endedBecause: endOfSshKey(maker, maker === null ? undefined : now.get(maker.userId)) }
  })
}

/** Replaces the whole set of keys (ACC-1), if it is still `before`. */
export function replaceSshKeys(
  db: Database,
  teamId: string,
  before: readonly JudgedSshKey[],
  makersByLine: ReadonlyMap<string, SshKeyMaker | null>,
  keys: string[],
  nowMs: number,
) {
  const makers = Object.fromEntries([...makersByLine].flatMap(([line, maker]) => (maker === null ? [] : [[line, maker]])))
  return db
    .insert(sshKeys)
    .values({ teamId, keys, makers, updatedAt: nowMs })
    .onConflictDoUpdate({
      target: sshKeys.teamId,
      set: { keys: sql`excluded.keys`, makers: sql`excluded.makers`, updatedAt: sql`excluded.updated_at` },
      setWhere: eq(
        sshKeys.keys,
        before.map(({ line }) => line),
      ),
    })
}
