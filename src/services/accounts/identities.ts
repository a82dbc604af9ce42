import { openDatabase } from '../../db/client.ts'
import { deleteIdentities, listIdentities } from '../../db/sessions/identities.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { findUserOrThrow } from '../or-not-found.ts'

/**
 * Deletes the provider identities that a user has signed in with (OIDC-15): in force at once in this isolate, within 60 s everywhere.
 * Idempotent. Throws 404.
 */
export async function freeIdentities(ctx: OperatorContext, userId: string): Promise<void> {
  const db = openDatabase(ctx.env.DB)
  const user = await findUserOrThrow(ctx.env, userId)
  const identities = await listIdentities(db, userId)
  const change = { action: 'users.free-identities', resourceKind: 'user', resourceId: userId }
  await deleteIdentities(
    db,
    userId,
    ctx.nowMs,
    noteByOperator(ctx, user.personalTeamId, { ...change, before: { identities }, after: { identities: [] } }),
  )
  dropCachedDecisions()
}
