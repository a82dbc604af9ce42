import { isToRun, type PodState } from './pod.ts'

/** What a host is to do with one container of a pod. */
export interface DesiredContainer {
  generation: number
  desired: 'running' | 'held' | 'stopped'
  /** Generations that must be down first, newest first. */
  replaces: number[]
  /** Go on with the writable layer of the newest of `replaces` that has a container. */
  keepDisk: boolean
  /** The persistent volume goes too. */
  wipe: boolean
  /** Make everything ready and wait: the others of its cluster are not ready yet (CLU-14). */
  prepare: boolean
}

export type PodOnHost = Pick<PodState, 'status' | 'generation' | 'keepsDisk' | 'hostLost'> & {
  /** Of a member of a cluster: the newest of its containers that may start. Null: any may. */
  readyGeneration: number | null
}

/**
 * What a host is to do with the containers of a pod: its present one, and those of former generations that it still has (`known`).
 * `pod` is null when the pod is not, or no longer, this host's: then all of it goes.
 */
export function desiredContainers(pod: PodOnHost | null, known: readonly number[]): DesiredContainer[] {
  if (pod === null || pod.status === 'TERMINATED') return known.map((generation) => ({ ...former(generation, 'stopped'), wipe: true }))
  const formers = known.filter((generation) => generation < pod.generation).toSorted((a, b) => b - a)
  // The layer that the present container goes on with is kept until it has been taken over; the agent removes it then.
  const wanted = formers.map((generation) => former(generation, pod.keepsDisk ? 'held' : 'stopped'))
  // One that was never told to run has nothing to hold.
  if (!isToRun(pod) && !known.includes(pod.generation)) return wanted
  const present: DesiredContainer = {
    generation: pod.generation,
    desired: isToRun(pod) ? 'running' : 'held',
    replaces: formers,
    keepDisk: pod.keepsDisk && formers.length > 0,
    wipe: false,
    prepare: isToRun(pod) && pod.readyGeneration !== null && pod.readyGeneration < pod.generation,
  }
  return [...wanted, present]
}

function former(generation: number, desired: 'held' | 'stopped'): DesiredContainer {
  return { generation, desired, replaces: [], keepDisk: false, wipe: false, prepare: false }
}

/** The workload of one generation of a pod. */
export function workloadIdOf(podId: string, generation: number): string {
  return `${podId}-${generation}`
}

/** The generation that a workload id of this pod names; null for any other text. */
export function generationOf(podId: string, workloadId: string): number | null {
  const digits = workloadId.startsWith(`${podId}-`) ? workloadId.slice(podId.length + 1) : ''
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : null
}
