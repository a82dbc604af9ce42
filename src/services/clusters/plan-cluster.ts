import type { ChangePlan } from '../../contract/change-plan.ts'
import { planClusterDeletion } from '../../domain/plan/cluster.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { own, ownMembers } from '../../objects/ownership/own.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the plan of deleting a cluster (DRY-8). Throws 403 and 404. */
export async function planDeleteCluster(ctx: VerbContext, id: string): Promise<ChangePlan> {
  requireScope(ctx.principal, 'clusters:write')
  const cluster = await own(ctx.env, ctx.principal, 'cluster', id)
  const resource = { kind: 'cluster' as const, id, name: cluster.row.name }
  return planChange('clusters.delete', resource, async () => {
    requireMatch(ctx, etagOf(cluster.row.version))
    const members = await ownMembers(ctx.env, cluster)
    return planClusterDeletion(
      resource,
      members.map(({ row }) => row),
    )
  })
}
