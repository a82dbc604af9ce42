import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { PlacementHost, PlacementStrategy } from '../host/placement.ts'
import { rankHostsForPod } from '../pod/place/placement.ts'
import { runningNanos } from '../pod/rates.ts'
import type { PodSpec } from '../pod/record.ts'
import { mountsView } from '../pod/request/mounts.ts'
import { type PlanResult, type PodReferences, planPod } from '../pod/request/request.ts'
import { searchedHosts } from './hosts.ts'
import { podLadders } from './pod-changes.ts'
import { type Found, type Probe, searchOptions } from './search.ts'

/** Changed requests for a pod that fit at present (WHY-3). Pure. */

/** Inputs that decide about a create. */
export interface PodWorld {
  teamId: string
  catalog: Catalog
  hosts: readonly PlacementHost[]
  references: PodReferences
  strategy: PlacementStrategy
  nowMs: number
}

/** Trial of a create: whether it would be accepted and placed, by the rules that plan and place pods. */
export function podProbe(world: PodWorld): Probe<CreatePodRequest> {
  return (body) => {
    const planned = plan(world, body)
    if (!planned.ok) return null
    const { spec, pricePerHour, diskRates } = planned.plan
    const [best] = rankHostsForPod(world.teamId, spec, world.hosts, world.strategy).candidates
    return best ? { nanosPerHour: runningNanos({ pricePerHour, ...diskRates }), hostIds: [best.hostId] } : null
  }
}

/** Smallest changes of a create that fits on no host. */
export function podOptions(given: PodWorld, body: CreatePodRequest): Found<CreatePodRequest>[] {
  const world = { ...given, hosts: searchedHosts(given.teamId, given.hosts) }
  const planned = plan(world, body)
  if (!planned.ok) return []
  return searchOptions(body, podLadders(planned.plan.spec, world.catalog, world.hosts), podProbe(world))
}

function plan({ catalog, references, nowMs }: PodWorld, body: CreatePodRequest): PlanResult {
  return planPod(catalog, body, references, 'jupyter', nowMs)
}

/** References of an existing pod, for the create of an equal one. All exist, because the pod uses them. */
export function referencesOf({ container, mounts }: PodSpec, dataCenterId: string | null): PodReferences {
  return {
    template: null,
    networkVolume: mounts.network && dataCenterId !== null ? { id: mounts.network.volumeId, dataCenterId } : null,
    hasGlobalVolume: mounts.global !== undefined,
    hasRegistry: container.registry !== null,
    unknownDataCenter: null,
    sshKeys: [],
  }
}

/** Create body of a pod equal to an existing one. */
export function bodyOf(name: string, spec: PodSpec): CreatePodRequest {
  const { container, mounts, startSsh, accessEnv = {} } = spec
  return {
    name,
    image: container.image,
    ...(container.args !== '' && { args: container.args }),
    disk: container.diskGb,
    env: container.env,
    ports: container.ports,
    ...(container.registry !== null && { registry: container.registry }),
    cloud: spec.cloud,
    ...computeOf(spec),
    dataCenterIds: spec.dataCenterIds,
    ...(Object.keys(mounts).length > 0 && { mounts: mountsView(mounts) }),
    globalNetworking: spec.globalNetworking,
    onHostLoss: spec.onHostLoss,
    ...(startSsh && { startSsh }),
    ...('JUPYTER_PASSWORD' in accessEnv && { startJupyter: true }),
  }
}

function computeOf({ compute }: PodSpec): Pick<CreatePodRequest, 'gpu' | 'cpu'> {
  if (compute.kind === 'cpu') return { cpu: { id: compute.flavorId, vcpuCount: compute.vcpuCount } }
  const { typeId, count, allowedCudaVersions, minCudaVersion, minRamGbPerGpu, minVcpuPerGpu } = compute
  return {
    gpu: {
      id: typeId,
      count,
      ...(allowedCudaVersions.length > 0 && { allowedCudaVersions }),
      ...(minCudaVersion !== null && { minCudaVersion }),
      ...(minRamGbPerGpu !== null && { minRamPerGpu: minRamGbPerGpu }),
      ...(minVcpuPerGpu !== null && { minVcpuCountPerGpu: minVcpuPerGpu }),
    },
  }
}
