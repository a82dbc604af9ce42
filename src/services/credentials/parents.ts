import { findUser } from '../../db/accounts/accounts.ts'
import { findApiKey, type KnownApiKey } from '../../db/accounts/api-keys.ts'
import { findSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { type Parent, readParent } from '../../domain/session/parent.ts'
import { type Env, readSettings } from '../../env.ts'
import { digestOfOperatorKey } from './operator-key.ts'

/**
 * Whether the parent of a derived credential is valid at `nowMs` (DER-1). Checked on each use of a derived credential that is not cached.
 */
export async function isParentGood(env: Env, { kind, id }: Parent, nowMs: number): Promise<boolean> {
  switch (kind) {
    case 'KEY':
      return (await findGoodKey(env, id, nowMs)) !== null
    case 'OPERATOR_KEY':
      return id === (await digestOfOperatorKey(env))
    case 'OPERATOR_ADDRESS':
      return isListed(env, id)
    case 'UNKNOWN':
      return false
  }
}

/** Returns the key of that id; null when it does not exist, has ended, its creator has left (TEAM-1), or its parent has ended (DER-8). */
export async function findGoodKey(env: Env, id: string, nowMs: number): Promise<KnownApiKey | null> {
  const row = await findApiKey(openDatabase(env.DB), id)
  if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= nowMs)) return null
  return row.parent === null || (await isParentGood(env, readParent(row.parent), nowMs)) ? row : null
}

/** Whether a user is active and has an operator's address (SESSION-13). */
async function isListed(env: Env, userId: string): Promise<boolean> {
  const db = openDatabase(env.DB)
  const user = await findUser(db, userId)
  if (!user || !readSettings(env).console.operators.includes(user.email)) return false
  return (await findSuspension(db, user.personalTeamId)) === null
}
