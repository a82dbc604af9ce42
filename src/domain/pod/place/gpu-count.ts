import type { Refusal } from '../../../contract/problems.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { PlacementHost } from '../../host/placement.ts'
import { type Resources, released } from '../../host/resources.ts'
import type { PodSpec } from '../record.ts'
import { gpuCompute } from '../request/compute.ts'
import { rankHostsForPod } from './placement.ts'
import { refuseCount } from './refusal.ts'

/** Fields of a pod that a changed number of GPUs affects. */
export interface CountedPod {
  teamId: string
  spec: PodSpec
  pricePerHour: number
  vcpus: number
  memoryMb: number
}

/** The changed pod, or the refusal. */
export type CountResult<Pod> = { ok: true; pod: Pod } | { ok: false; problem: Refusal }

/**
 * A stopped pod with another number of GPUs on its own host, at the catalog's price (GQL-37). Capacity that the pod still holds there
 * (`held`) counts as free. The number is ignored for a CPU pod.
 */
export function withGpuCount<Pod extends CountedPod>(
  pod: Pod,
  count: number,
  { catalog, host, held }: { catalog: Catalog; host: PlacementHost | null; held: Resources | undefined },
): CountResult<Pod> {
  const { teamId, spec } = pod
  const { compute, cloud } = spec
  if (compute.kind === 'cpu' || compute.count === count) return { ok: true, pod }
  const computed = gpuCompute(catalog, { id: compute.typeId, count }, cloud, [])
  if (!computed.ok) return computed
  const counted: PodSpec = { ...spec, compute: { ...compute, count } }
  const [found] = host ? rankHostsForPod(teamId, counted, [held ? released(host, held) : host], 'pack').candidates : []
  if (!found) return { ok: false, problem: refuseCount(compute.count, count) }
  const { vcpus, memoryMb } = found.shape
  return { ok: true, pod: { ...pod, spec: counted, pricePerHour: computed.pricePerHour, vcpus, memoryMb } }
}
