import type { OrganizationSuspension, Suspension, SuspensionParts } from '../../contract/accounts/accounts.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findSuspension, listFollowing, writeSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { listEndpointIds, listPodsToSuspend } from '../../db/operator/sweeps.ts'
import { isLiveOrganization } from '../../db/organizations/organizations.ts'
import { findPodForHost } from '../../db/pods/find-pods.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { ACCOUNT_SUSPENDED, decideSuspension } from '../../domain/pod/pod.ts'
import { transitPod } from '../../effects/pods/pod-transitions.ts'
import { LOST, retryLost } from '../../effects/retry-lost.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { settleAtOnce } from '../../platform/at-once.ts'
import { logEvent } from '../../platform/log.ts'
import { noteByOperator, operatorCause } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { findUserOrThrow } from '../or-not-found.ts'

/** The resource named by the operator, whose account is suspended. */
interface Suspended {
  resourceKind: 'user' | 'organization'
  resourceId: string
}

/**
 * Suspends a user (DER-40): the keys are refused within 60 s everywhere, workers and pods of the personal account end at once, and its jobs
 * wait. Organizations that only suspended users own follow (DER-21). Pods created with a key that another isolate still has cached get no
 * capacity. A repeated call completes what failed. Throws 404.
 */
export function suspendUser(ctx: OperatorContext, userId: string): Promise<Suspension> {
  return applyToUser(ctx, userId, ctx.nowMs)
}

/**
 * Ends a suspension: keys are valid, workers start as jobs need them, and pods that the suspension stopped start where there is room;
 * likewise in organizations that followed it. Throws 404.
 */
export function resumeUser(ctx: OperatorContext, userId: string): Promise<Suspension> {
  return applyToUser(ctx, userId, null)
}

/** Suspends an organization; other accounts of its members are not affected (DER-41). Throws 404. */
export function suspendOrganization(ctx: OperatorContext, id: string): Promise<OrganizationSuspension> {
  return applyToOrganization(ctx, id, ctx.nowMs)
}

/**
 * Ends the suspension of an organization. It stays suspended while all of its owners are; the answer has the time of the suspension
 * (DER-20). Throws 404.
 */
export function resumeOrganization(ctx: OperatorContext, id: string): Promise<OrganizationSuspension> {
  return applyToOrganization(ctx, id, null)
}

async function applyToUser(ctx: OperatorContext, userId: string, sinceMs: number | null): Promise<Suspension> {
  const user = await findUserOrThrow(ctx.env, userId)
  const parts = await apply(ctx, user.personalTeamId, { resourceKind: 'user', resourceId: userId }, sinceMs)
  for (const followed of await applyToFollowing(ctx, userId)) {
    parts.endpoints += followed.endpoints
    parts.pods += followed.pods
    parts.failed.push(...followed.failed)
  }
  return { userId, ...parts }
}

/** Applies the present suspension to the organizations that follow that of a user (DER-21). A repeated call completes what failed. */
export async function applyToFollowing(ctx: OperatorContext, userId: string): Promise<SuspensionParts[]> {
  const parts: SuspensionParts[] = []
  for (const { id } of await listFollowing(openDatabase(ctx.env.DB), userId)) parts.push(await applyNow(ctx, id))
  return parts
}

async function applyToOrganization(ctx: OperatorContext, id: string, sinceMs: number | null): Promise<OrganizationSuspension> {
  if (!(await isLiveOrganization(openDatabase(ctx.env.DB), id))) throw new Problem('notFound')
  return { organizationId: id, ...(await apply(ctx, id, { resourceKind: 'organization', resourceId: id }, sinceMs)) }
}

async function apply(ctx: OperatorContext, teamId: string, resource: Suspended, sinceMs: number | null): Promise<SuspensionParts> {
  // The suspension is written first, so that no new work starts while the rest ends.
  const isSuspended = sinceMs !== null
  const action = `${resource.resourceKind}s.${isSuspended ? 'suspend' : 'resume'}`
  const note = noteByOperator(ctx, teamId, { action, ...resource, before: {}, after: { isSuspended } })
  await writeSuspension(openDatabase(ctx.env.DB), teamId, sinceMs, note)
  dropCachedDecisions()
  return applyNow(ctx, teamId)
}

/** Notifies endpoints and pods of a team whether it is suspended, by its own row or through its owners (DER-20). */
async function applyNow(ctx: OperatorContext, teamId: string): Promise<SuspensionParts> {
  const { env } = ctx
  const sinceMs = await findSuspension(openDatabase(env.DB), teamId)
  const isSuspended = sinceMs !== null
  const failed: string[] = []
  const endpoints = await notifyEndpoints(env, teamId, isSuspended, failed)
  const pods = await changePods(ctx, teamId, isSuspended, failed)
  logEvent('info', isSuspended ? 'account suspended' : 'account resumed', { teamId, endpoints, pods, failed: failed.length })
  return { suspendedAt: sinceMs === null ? null : formatTime(sinceMs), endpoints, pods, failed }
}

async function notifyEndpoints(env: Env, teamId: string, isSuspended: boolean, failed: string[]): Promise<number> {
  let notified = 0
  for (let afterId = ''; ; ) {
    const ids = await listEndpointIds(openDatabase(env.DB), teamId, afterId)
    const last = ids.at(-1)
    if (last === undefined) return notified
    const outcomes = await settleAtOnce(ids, (id) => endpointStub(env, asPlane('endpoint', id, 'suspends an account')).suspend(isSuspended))
    notified += count(outcomes, ids, 'endpoint', failed)
    afterId = last
  }
}

async function changePods(ctx: OperatorContext, teamId: string, isSuspended: boolean, failed: string[]): Promise<number> {
  let changed = 0
  for (let afterId = ''; ; ) {
    const pods = await listPodsToSuspend(openRecords(ctx.env), teamId, afterId, ACCOUNT_SUSPENDED)
    const last = pods.at(-1)
    if (last === undefined) return changed
    const due = pods.filter((pod) => decideSuspension(pod, isSuspended, ctx.nowMs) !== null)
    const outcomes = await settleAtOnce(due, (pod) => changePod(ctx, pod, isSuspended))
    const ids = due.map(({ id }) => id)
    changed += count(outcomes, ids, 'pod', failed)
    afterId = last.id
  }
}

async function changePod(ctx: OperatorContext, pod: PodRow, isSuspended: boolean): Promise<void> {
  const { env } = ctx
  const audit = { cause: operatorCause(ctx), action: isSuspended ? 'pods.stop' : 'pods.start' }
  let before: PodRow | null = pod
  const outcome = await retryLost(async () => {
    if (before === null) return LOST
    const change = decideSuspension(before, isSuspended, ctx.nowMs)
    if (change === null) return 'done'
    const transition = await transitPod(env, before, change, audit)
    if (transition === LOST) before = await findPodForHost(openRecords(env), pod.id)
    return transition
  })
  if (outcome === LOST) throw new Error('it keeps changing')
  if (outcome !== 'done') throw new Error('its host has no room for it any more')
}

function count(outcomes: readonly PromiseSettledResult<void>[], ids: readonly string[], kind: string, failed: string[]): number {
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue
    logEvent('error', 'a suspension could not be carried out', { kind, id: ids[i], error: outcome.reason })
    failed.push(`${kind} ${ids[i]}`)
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}
