import type { Offboarding } from '../../contract/accounts/offboarding.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { listSoleOwnerships } from '../../db/accounts/sole-ownerships.ts'
import { writeSuspension } from '../../db/accounts/suspension.ts'
import { openDatabase } from '../../db/client.ts'
import { listClusterIds } from '../../db/clusters/clusters.ts'
import { revokeKeysOf, wipeAccount } from '../../db/operator/offboarding.ts'
import { listEndpointIds, listLivePodIds } from '../../db/operator/sweeps.ts'
import { scopesOf } from '../../domain/access.ts'
import { logEvent } from '../../platform/log.ts'
import { applyToFollowing } from '../accounts/suspension.ts'
import { noteByOperator } from '../audit.ts'
import { deleteCluster } from '../clusters/clusters.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { deleteEndpoint } from '../endpoints/endpoints.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { actOnPod, updatePod } from '../pods/change-pod.ts'

/**
 * Deletes a user with the personal account (TEAM-23): first the keys, so that no new work begins, then running workloads, then stored data.
 * Data for billing stays. A repeated call ends what an earlier one could not. Throws 404, and 409 for the only owner of an organization.
 */
export async function deleteUser(operator: OperatorContext, userId: string): Promise<Offboarding> {
  const { env, nowMs } = operator
  const db = openDatabase(env.DB)
  const user = await findUserOrThrow(env, userId)
  refuseSoleOwner(await listSoleOwnerships(db, userId))
  const teamId = user.personalTeamId
  const change = { action: 'users.delete', resourceKind: 'user', resourceId: userId, before: { email: user.email }, after: null }
  await writeSuspension(db, teamId, nowMs, noteByOperator(operator, teamId, change))
  const keys = await revokeKeysOf(db, userId, nowMs)
  dropCachedDecisions()
  // The organization's remaining owners may all be suspended (DER-21).
  const failed = (await applyToFollowing(operator, userId)).flatMap((parts) => parts.failed)
  const principal = { via: 'OPERATOR', credentialId: 'operator', userId, teamId, scopes: scopesOf('ALL', []) } as const
  const ctx = { ...operator, principal }
  // Clusters come first, because their members end only with them.
  await endAll(
    'cluster',
    (afterId) => listClusterIds(db, teamId, afterId),
    ({ id }) => deleteCluster(ctx, id),
    failed,
  )
  const pods = await endAll(
    'pod',
    (afterId) => listLivePodIds(db, teamId, afterId),
    ({ id, locked }) => endPod(ctx, id, locked),
    failed,
  )
  const endpoints = await endAll(
    'endpoint',
    async (afterId) => (await listEndpointIds(db, teamId, afterId)).map((id) => ({ id })),
    ({ id }) => deleteEndpoint(ctx, id),
    failed,
  )
  const isWhole = failed.length === 0
  const wiped = isWhole ? await wipeAccount(db, { userId, teamId }, nowMs) : { secrets: 0, templates: 0, registries: 0, volumes: 0 }
  logEvent('info', 'account deleted', { userId, teamId, keys, pods, endpoints, ...wiped, failed: failed.length })
  return { userId, deletedAt: isWhole ? formatTime(nowMs) : null, keys, pods, endpoints, ...wiped, failed }
}

/** Throws 409 for a user who is the only owner of an organization. */
export function refuseSoleOwner([sole]: readonly { id: string; name: string }[]): void {
  if (!sole) return
  const detail = `the user is the only owner of the organization ${sole.name} (${sole.id}): transfer its ownership or delete it first`
  throw new Problem('conflict', { detail, code: 'IN_USE' })
}

async function endPod(ctx: VerbContext, id: string, locked: boolean): Promise<void> {
  if (locked) await updatePod(ctx, id, { locked: false }, undefined)
  await actOnPod(ctx, id, 'terminate', undefined)
}

/** Ends the listed resources one by one and continues after failures; returns how many it ended. */
async function endAll<Row extends { id: string }>(
  kind: string,
  list: (afterId: string) => Promise<Row[]>,
  end: (row: Row) => Promise<void>,
  failed: string[],
): Promise<number> {
  let ended = 0
  for (let afterId = ''; ; ) {
    const rows = await list(afterId)
    const last = rows.at(-1)
    if (!last) return ended
    for (const row of rows) {
      try {
        await end(row)
        ended += 1
      } catch (error) {
        logEvent('error', 'a deletion could not be carried out', { kind, id: row.id, error })
        failed.push(`${kind} ${row.id}`)
      }
    }
    afterId = last.id
  }
}
