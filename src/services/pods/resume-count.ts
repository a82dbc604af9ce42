import { problemOf } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { findPlacementHost } from '../../db/hosts/capacity.ts'
import { listHeldCapacity } from '../../db/hosts/held-capacity.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { withGpuCount } from '../../domain/pod/place/gpu-count.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'

/**
 * Returns the pod as it would start with this many GPUs (GQL-37). Another number changes the cost, so the pod's own key may not ask for it.
 * Throws 400 and 403.
 */
export async function countedForStart({ env, principal }: VerbContext, before: PodRow, count: number | undefined): Promise<PodRow> {
  const { compute } = before.spec
  if (count === undefined || compute.kind === 'cpu' || compute.count === count) return before
  requireScope(principal, 'pods:write')
  const db = openDatabase(env.DB)
  const [catalog, host, allocations] = await Promise.all([
    loadCatalog(env),
    findPlacementHost(db, before.hostId),
    listHeldCapacity(db, [before.hostId]),
  ])
  const counted = withGpuCount(before, count, { catalog, host, held: allocations.find(({ id }) => id === before.id) })
  if (!counted.ok) throw problemOf(counted.problem)
  return counted.pod
}
