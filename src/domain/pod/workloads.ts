import { isToRun, type PodState } from './pod.ts'

/** Desired state of one container of a pod, as sent to its host. */
export interface DesiredContainer {
  generation: number
  desired: 'running' | 'held' | 'stopped'
  /** Generations that must be down first, newest first. */
  replaces: number[]
  /** Reuse the writable layer of the newest generation in `replaces` that has a container. */
  keepDisk: boolean
  /** Delete the persistent volume too. */
  wipe: boolean
  /** Make everything ready and wait, because other members of the cluster are not ready (CLU-14). */
  prepare: boolean
}

/** The part of a pod that decides what its host runs. */
export type PodOnHost = Pick<PodState, 'status' | 'generation' | 'keepsDisk' | 'hostLost'> & {
  /** Of a member of a cluster: the newest of its containers that may start. Null: any may. */
  readyGeneration: number | null
}

/**
 * Desired containers of a pod on a host: the present one, and those of previous generations that the host still has (`known`). `pod` is
 * null when the pod does not belong to the host: all its containers there are then stopped and wiped.
 */
export function desiredContainers(pod: PodOnHost | null, known: readonly number[]): DesiredContainer[] {
  if (pod === null || pod.status === 'TERMINATED')
    return known.map((generation) => ({ ...stoppedContainer(generation, 'stopped'), wipe: true }))
  const previous = known.filter((generation) => generation < pod.generation).toSorted((a, b) => b - a)
  // The layer that the present container reuses is held until the container has taken it over; the agent removes it then.
  const wanted = previous.map((generation) => stoppedContainer(generation, pod.keepsDisk ? 'held' : 'stopped'))
  // A container that never had to run has no disk to hold.
  if (!isToRun(pod) && !known.includes(pod.generation)) return wanted
  const present: DesiredContainer = {
    generation: pod.generation,
    desired: isToRun(pod) ? 'running' : 'held',
    replaces: previous,
    keepDisk: pod.keepsDisk && previous.length > 0,
    wipe: false,
    prepare: isToRun(pod) && pod.readyGeneration !== null && pod.readyGeneration < pod.generation,
  }
  return [...wanted, present]
}

function stoppedContainer(generation: number, desired: 'held' | 'stopped'): DesiredContainer {
  return { generation, desired, replaces: [], keepDisk: false, wipe: false, prepare: false }
}

/** Workload id of one generation of a pod. */
export function workloadIdOf(podId: string, generation: number): string {
  return `${podId}-${generation}`
}

/** Generation that a workload id of this pod names; null for any other text. */
export function generationOf(podId: string, workloadId: string): number | null {
  const digits = workloadId.startsWith(`${podId}-`) ? workloadId.slice(podId.length + 1) : ''
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : null
}
