import { findUser } from '../../db/accounts/accounts.ts'
import { findApiKey, type KnownApiKey } from '../../db/accounts/api-keys.ts'
import { findSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { type Parent, readParent } from '../../domain/session/parent.ts'
import { type Env, readSettings } from '../../env.ts'
import { digestOfOperatorKey } from './operator-key.ts'

/** Whether what a credential is derived from is good at `nowMs` (DER-1). Each use of a derived credential that no isolate remembers asks this. */
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

/** The key of that id; null when there is none, it has ended, its maker has left (TEAM-1), or what it is derived from has ended (DER-8). */
export async function findGoodKey(env: Env, id: string, nowMs: number): Promise<KnownApiKey | null> {
  const row = await findApiKey(openDatabase(env.DB), id)
  if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= nowMs)) return null
  return row.parent === null || (await isParentGood(env, readParent(row.parent), nowMs)) ? row : null
}

/** Whether a user's address is one of the operators', and the user active (CS-13). */
async function isListed(env: Env, userId: string): Promise<boolean> {
  const db = openDatabase(env.DB)
  const user = await findUser(db, userId)
  if (!user || !readSettings(env).console.operators.includes(user.email)) return false
  return (await findSuspension(db, user.personalTeamId)) === null
}
