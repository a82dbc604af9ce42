import type { User } from '../../contract/accounts/accounts.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import * as accounts from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { oneCase } from '../../domain/text/letter-case.ts'
import type { Env } from '../../env.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { dropQuota } from './rate-limit.ts'

// Operations of the operator on accounts: the route has checked the operator's key, which permits all of them (AUT-4a).

/** Maximum number of users in one answer. */
const MAX_LISTED_USERS = 1000

/** Creates a user with a personal team. Email addresses are compared without case. Throws 409 when the address is taken. */
export async function createUser(ctx: OperatorContext, email: string): Promise<User> {
  const { env, nowMs } = ctx
  const ids = { id: newResourceId(), personalTeamId: newResourceId() }
  const user = { ...ids, email: oneCase(email), createdAt: nowMs, deletedAt: null, identitiesForgottenAt: null }
  const after = { email: user.email }
  const note = noteByOperator(ctx, user.personalTeamId, {
    action: 'users.create',
    resourceKind: 'user',
    resourceId: user.id,
    before: null,
    after,
  })
  if (!(await accounts.insertUser(openDatabase(env.DB), user, note))) throw new Problem('conflict', { detail: 'email is taken' })
  return toUser(user)
}

/** Returns the user with that address, or the first users by address. */
export async function listUsers(env: Env, email: string | undefined): Promise<User[]> {
  const db = openDatabase(env.DB)
  if (email === undefined) return (await accounts.listUsers(db, MAX_LISTED_USERS)).map(toUser)
  const user = await accounts.findUserByEmail(db, oneCase(email))
  return user ? [toUser(user)] : []
}

/** Overrides a user's request quotas (AUT-4a); in force within 60 s. Throws 404. */
export async function setQuotas(ctx: OperatorContext, userId: string, quota: accounts.QuotaRow): Promise<accounts.QuotaRow> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  const change = { action: 'quotas.set', resourceKind: 'user', resourceId: userId, before: {}, after: { quotas: { ...quota } } }
  await accounts.upsertQuota(openDatabase(env.DB), user.personalTeamId, quota, nowMs, noteByOperator(ctx, user.personalTeamId, change))
  dropQuota(user.personalTeamId)
  return quota
}

/** Removes that override: the account has the quotas of its plan (PLAN-2). Throws 404. */
export async function resetQuotas(ctx: OperatorContext, userId: string): Promise<void> {
  const { personalTeamId } = await findUserOrThrow(ctx.env, userId)
  const change = { action: 'quotas.reset', resourceKind: 'user', resourceId: userId, ...DELETED }
  await accounts.deleteQuota(openDatabase(ctx.env.DB), personalTeamId, noteByOperator(ctx, personalTeamId, change))
  dropQuota(personalTeamId)
}

function toUser({ id, email, createdAt }: accounts.UserRow): User {
  return { id, email, createdAt: formatTime(createdAt) }
}
