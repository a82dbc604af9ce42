import type { ClusterExplanation } from '../../contract/explain/explain.ts'
import { explainCluster } from '../../domain/explain/cluster.ts'
import { answerExplain } from '../../effects/explain/answer.ts'
import { own, ownMembers } from '../../objects/ownership/own.ts'
import type { VerbContext } from '../context.ts'
import { readLivePods } from '../pods/live-pods.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the explanation of a cluster's state (WHY-16). Throws 403 and 404. */
export async function explainOwnCluster(ctx: VerbContext, id: string): Promise<ClusterExplanation> {
  requireScope(ctx.principal, 'clusters:read')
  const cluster = await own(ctx.env, ctx.principal, 'cluster', id)
  const members = await ownMembers(ctx.env, cluster)
  const live = await readLivePods(ctx.env, members)
  const explained = members.map(({ id: podId, row }) => {
    return { ...row, rank: row.clusterRank ?? 0, silentSinceMs: live.get(podId)?.silentSinceMs ?? null }
  })
  const { onHostLoss, createdAtMs } = cluster.row
  const isStale = explained.some(({ silentSinceMs }) => silentSinceMs !== null)
  return { id, ...(await answerExplain(ctx.env, explainCluster(explained, onHostLoss, createdAtMs), [], { nowMs: ctx.nowMs, isStale })) }
}
