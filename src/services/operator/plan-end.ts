import type { ChangedResource, ChangeEffect, ChangePlan } from '../../contract/change-plan.ts'
import { Problem } from '../../contract/problems.ts'
import { listSoleOwnerships } from '../../db/accounts/sole-ownerships.ts'
import { areOwnersSuspended, findSuspension, listFollowing } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { findJoinToken } from '../../db/hosts/join-tokens.ts'
import { readHoldings } from '../../db/operator/account-holdings.ts'
import { isLiveOrganization } from '../../db/organizations/organizations.ts'
import { countSessions } from '../../db/sessions/console-sessions.ts'
import { listIdentities } from '../../db/sessions/identities.ts'
import { planResumption, planSuspension, planUserDeletion } from '../../domain/plan/account.ts'
import { effect } from '../../domain/plan/effect.ts'
import { viewSpend } from '../../effects/billing/spend.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { accountOf } from '../accounts/dry-runs/plan-account.ts'
import { planChange } from '../change-plan.ts'
import type { OperatorContext } from '../context.ts'
import { joinTokenUsed } from '../hosts/join-tokens.ts'
import { findUserOrThrow, orNotFound } from '../or-not-found.ts'
import { refuseSoleOwner } from './offboarding.ts'

// Dry runs of the operator's deletions, suspensions and revocations (DRY-12, DRY-13). Each throws 404.

/** Returns the plan of suspending or resuming a user, with the organizations that follow the user's suspension (DER-21). */
export async function planSuspendUser(ctx: OperatorContext, userId: string, isSuspended: boolean): Promise<ChangePlan> {
  const user = await findUserOrThrow(ctx.env, userId)
  return planChange(`users.${isSuspended ? 'suspend' : 'resume'}`, accountOf(user), async () => {
    const own = await pauseOf(ctx, accountOf(user), user.personalTeamId, isSuspended)
    return [...own, ...(await pauseOfFollowing(ctx, userId, isSuspended))]
  })
}

async function pauseOfFollowing(ctx: OperatorContext, userId: string, isSuspended: boolean): Promise<ChangeEffect[]> {
  const following = await listFollowing(openDatabase(ctx.env.DB), userId)
  const pauses = ({ id, name }: (typeof following)[number]) => pauseOf(ctx, { kind: 'organization', id, name, teamId: id }, id, isSuspended)
  return (await mapAtOnce(following, pauses)).flat()
}

/** Returns the plan of suspending or resuming an organization. Throws 404 for an unknown or deleted one. */
export async function planSuspendOrganization(ctx: OperatorContext, id: string, isSuspended: boolean): Promise<ChangePlan> {
  if (!(await isLiveOrganization(openDatabase(ctx.env.DB), id))) throw new Problem('notFound')
  const organization = { kind: 'organization' as const, id, name: null, teamId: id }
  return planChange(`organizations.${isSuspended ? 'suspend' : 'resume'}`, organization, async () => {
    if (isSuspended || !(await areOwnersSuspended(openDatabase(ctx.env.DB), id))) return pauseOf(ctx, organization, id, isSuspended)
    return [effect(organization, 'STAYS', 'WARNING', 'it stays suspended, because all of its owners are: resume one of them')]
  })
}

async function pauseOf({ env, nowMs }: OperatorContext, account: ChangedResource, teamId: string, isSuspended: boolean) {
  const db = openDatabase(env.DB)
  const [held, { nanosByKind }, since] = await Promise.all([
    readHoldings(db, teamId, nowMs),
    viewSpend(env, teamId),
    findSuspension(db, teamId),
  ])
  if (isSuspended) return planSuspension(account, held, nanosByKind.PODS + nanosByKind.SERVERLESS)
  if (since === null) return [effect(account, 'STAYS', 'INFO', 'it is not suspended')]
  return planResumption(account, held)
}

/** Returns the plan of deleting a user; throws the errors of the deletion. */
export async function planDeleteUser(ctx: OperatorContext, userId: string): Promise<ChangePlan> {
  const { env, nowMs } = ctx
  const db = openDatabase(env.DB)
  const user = await findUserOrThrow(env, userId)
  const account = accountOf(user)
  return planChange('users.delete', account, async () => {
    refuseSoleOwner(await listSoleOwnerships(db, userId))
    const [held, { nanosPerHour }] = await Promise.all([readHoldings(db, user.personalTeamId, nowMs), viewSpend(env, user.personalTeamId)])
    return [...planUserDeletion(account, held, nanosPerHour), ...(await pauseOfFollowing(ctx, userId, true))]
  })
}

/** Returns the plan of ending the sessions of a user. */
export async function planEndSessions({ env, nowMs }: OperatorContext, userId: string): Promise<ChangePlan> {
  const account = accountOf(await findUserOrThrow(env, userId))
  return planChange('sessions.end', account, async () => {
    const sessions = await countSessions(openDatabase(env.DB), userId, nowMs)
    const what = `${sessions} ${sessions === 1 ? 'browser has' : 'browsers have'} to sign in again; keys go on`
    return [{ ...effect(account, 'REFUSES', 'WARNING', what), amount: sessions }]
  })
}

/** Returns the plan of freeing the identities of a user. */
export async function planFreeIdentities({ env }: OperatorContext, userId: string): Promise<ChangePlan> {
  const account = accountOf(await findUserOrThrow(env, userId))
  return planChange('identities.free', account, async () => {
    const identities = (await listIdentities(openDatabase(env.DB), userId)).length
    const what = `${identities} ${identities === 1 ? 'identity' : 'identities'} of the provider no longer sign in as this user; the next one with this address does`
    return [{ ...effect(account, 'REFUSES', 'WARNING', what), amount: identities }]
  })
}

/** Returns the plan of revoking a join token (DRY-13): refused when a host has joined with it. */
export async function planRevokeJoinToken({ env }: OperatorContext, id: string): Promise<ChangePlan> {
  const row = orNotFound(await findJoinToken(openDatabase(env.DB), id))
  const token = { kind: 'join-token' as const, id, name: row.name }
  return planChange('join-tokens.revoke', token, async () => {
    if (row.usedAt !== null) throw joinTokenUsed()
    return [effect(token, 'REFUSES', 'INFO', 'no machine joins with it; machines that have joined are not touched')]
  })
}
