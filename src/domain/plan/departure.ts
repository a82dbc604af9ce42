import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { without } from '../availability.ts'
import { type PlacementHost, type PlacementRequest, type PlacementStrategy, rankHosts } from '../host/placement.ts'
import { podDiskGb, rankHostsForPod } from '../pod/place/placement.ts'
import type { PodSpec } from '../pod/record.ts'
import { effect, jobsEffect } from './effect.ts'

// Plans for the workloads of a host that is drained, cordoned or removed. Pure: uses the same functions as placement.

/** Fields of a pod on the host that determine where it can move. */
export interface LeavingPod {
  id: string
  name: string
  teamId: string
  spec: PodSpec
  /** Id of the cluster that the pod is a member of; null: none. */
  clusterId: string | null
  /** Whether the pod may move to another host with an empty container disk. */
  isReplaceable: boolean
}

/** A stopped pod: only its disks are on the host. */
export type StoppedPod = Pick<LeavingPod, 'id' | 'name' | 'teamId'>

/** An endpoint with workers on the host. */
export interface LeavingEndpoint extends Pick<LeavingPod, 'id' | 'name' | 'teamId'> {
  request: PlacementRequest
  /** The endpoint's workers on the host; `held`: number of jobs or requests that each one has. */
  workers: readonly { id: string; held: number }[]
}

/** The workloads of a host that is drained, cordoned or removed. */
export interface Departure {
  pods: readonly LeavingPod[]
  stopped: readonly StoppedPod[]
  endpoints: readonly LeavingEndpoint[]
  /** All hosts but the one that is drained, cordoned or removed. */
  others: readonly PlacementHost[]
  strategy: PlacementStrategy
}

/** Draining a host (DRY-4): workers finish their jobs and stop, and pods move one after another as far as other hosts have room. */
export function planDrain(resource: ChangedResource, { pods, stopped, endpoints, others, strategy }: Departure): ChangeEffect[] {
  const workers = endpoints.flatMap(leavingWorkers)
  const moves = movePods(pods, others, strategy)
  const kept = stopped.map((pod) => effect(ofPod(pod), 'STAYS', 'WARNING', 'it stays stopped, and its disks stay on the machine'))
  const effects = [...workers, ...moves.effects, ...kept, ...endpoints.flatMap((endpoint) => roomElsewhere(endpoint, moves.left))]
  return effects.length > 0 ? effects : [effect(resource, 'CHANGES', 'INFO', 'it has no workloads; it accepts no new ones')]
}

/** Cordoning a host: running workloads stay, and the next worker of each endpoint is placed on another host. */
export function planCordon(resource: ChangedResource, { endpoints, others }: Departure): ChangeEffect[] {
  const stays = effect(resource, 'STAYS', 'INFO', 'its workloads keep running; no new ones are placed there')
  return [stays, ...endpoints.flatMap((endpoint) => roomElsewhere(endpoint, others))]
}

/** Removing an unreachable host: all its workloads and disks are given up. */
export function planGivingUp({ pods, stopped, endpoints }: Departure): ChangeEffect[] {
  return [
    ...endpoints.flatMap(({ teamId, workers }) =>
      workers.map(({ id }) => effect({ kind: 'worker', id, name: null, teamId }, 'STOPS', 'WARNING', 'the worker is lost')),
    ),
    ...[...pods, ...stopped].map((pod) =>
      effect(ofPod(pod), 'DELETES', 'LOSS', 'the pod ends, its disks are deleted, and it cannot be started again'),
    ),
  ]
}

function leavingWorkers({ id, name, teamId, workers }: LeavingEndpoint): ChangeEffect[] {
  return workers.flatMap((worker) => {
    const resource = { kind: 'worker' as const, id: worker.id, name: null, teamId }
    const finishes = jobsEffect(resource, 'FINISHES', 'INFO', worker.held, [
      'that it holds is finished first',
      'that it holds are finished first',
    ])
    return [...finishes, effect(resource, 'STOPS', 'WARNING', `the worker of endpoint ${name} (${id}) stops`)]
  })
}

function movePods(pods: readonly LeavingPod[], others: readonly PlacementHost[], strategy: PlacementStrategy) {
  let left = [...others]
  const effects: ChangeEffect[] = []
  for (const pod of pods) {
    if (!pod.isReplaceable) {
      effects.push(effect(ofPod(pod), 'STAYS', 'WARNING', staysBecause(pod)))
      continue
    }
    const [place] = rankHostsForPod(pod.teamId, pod.spec, left.filter(takes(pod)), strategy).candidates
    if (!place) {
      effects.push(effect(ofPod(pod), 'WAITS', 'WARNING', 'no other machine has capacity for it: it keeps running here until one has'))
      continue
    }
    const rank = pod.clusterId === null ? '' : `, under its rank in cluster ${pod.clusterId}`
    const what = `it moves to host ${place.hostId} with an empty container disk${rank}`
    effects.push(effect(ofPod(pod), 'MOVES', 'LOSS', what))
    left = left.map((host) => (host.id === place.hostId ? without(host, { shape: place.shape, diskGb: podDiskGb(pod.spec) }) : host))
  }
  return { effects, left }
}

function staysBecause({ clusterId }: LeavingPod): string {
  return clusterId === null
    ? 'it may not move to another host, and keeps running until its owner ends it'
    : `it is a member of cluster ${clusterId}, which waits for its hosts: it keeps running until the cluster is deleted`
}

/** Members of clusters need a host whose overlay is routed, so that other hosts reach it (CLU-15). */
function takes({ clusterId }: LeavingPod): (host: PlacementHost) => boolean {
  return ({ overlay }) => clusterId === null || overlay === 'routed'
}

/** Effects on an endpoint of having to place its next worker on other hosts. */
function roomElsewhere({ id, name, teamId, request }: LeavingEndpoint, others: readonly PlacementHost[]): ChangeEffect[] {
  const resource = { kind: 'endpoint' as const, id, name, teamId }
  const { candidates } = rankHosts(request, others)
  if (candidates.length > 0) {
    const count = new Set(candidates.map(({ hostId }) => hostId)).size
    return [effect(resource, 'MOVES', 'INFO', `its next worker fits on ${count} other ${count === 1 ? 'machine' : 'machines'}`)]
  }
  const isAnywhere = rankHosts(request, others.map(emptied)).candidates.length > 0
  const what = isAnywhere
    ? 'other machines could run its workers, but have no free capacity: its jobs wait'
    : 'no other machine can run its workers: its jobs wait until a machine joins or is uncordoned'
  return [effect(resource, 'WAITS', isAnywhere ? 'WARNING' : 'LOSS', what)]
}

/** Copy of a host with all its capacity free. */
function emptied(host: PlacementHost): PlacementHost {
  const { vcpuTotal, memoryMbTotal, gpus } = host
  return {
    ...host,
    ...(host.heldBy && { heldBy: [] }),
    vcpuFree: vcpuTotal,
    memoryMbFree: memoryMbTotal,
    diskGbFree: Number.POSITIVE_INFINITY,
    gpus: gpus.map((gpu) => ({ ...gpu, free: gpu.total })),
  }
}

function ofPod({ id, name, teamId }: StoppedPod): ChangedResource {
  return { kind: 'pod', id, name, teamId }
}
