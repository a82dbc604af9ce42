import { describeConstraint } from '../host/constraint-text.ts'
import { failedConstraints, type PlacementHost } from '../host/placement.ts'
import { isToRun, type PodState } from '../pod/pod.ts'
import type { PodSpec } from '../pod/record.ts'
import { runtimeOfImage } from '../worker/shape.ts'
import { constraintFacts, type Fact, fact, type Verdict } from './evidence.ts'

/** Explains the state of a pod (WHY-4). Pure. */

/** Fields of a pod that an explanation reads. */
export type ExplainedPod = Pick<PodState, 'status' | 'statusReason' | 'hostLost' | 'changedAtMs' | 'startedAtMs'> & {
  teamId: string
  clusterId: string | null
  hostId: string
  vcpus: number
  memoryMb: number
  spec: Pick<PodSpec, 'compute' | 'container' | 'onHostLoss'>
}

/** Obstacle to a start on the pod's own host. */
export interface StartBlock {
  code: 'HOST_UNAVAILABLE' | 'NO_CAPACITY' | 'SPEND_LIMIT' | 'QUOTA'
  text: string
  facts: Fact[]
}

/** Facts beside the pod's row. */
export interface PodSurroundings {
  /** Last sign of life of the pod's host, if the host is silent. */
  silentSinceMs: number | null
  /** Of a pod that does not run: the obstacle to its start; null: none. */
  block: StartBlock | null
}

/** Verdict by the first cause that applies. */
export function explainPod(pod: ExplainedPod, { silentSinceMs, block }: PodSurroundings): Verdict {
  if (pod.hostLost) return lost(pod)
  if (isToRun(pod) && silentSinceMs !== null) return silent(pod, silentSinceMs)
  if (pod.status === 'RUNNING') return verdict(pod, 'RUNNING', 'The pod is running.', pod.startedAtMs)
  if (pod.status === 'PROVISIONING' || pod.status === 'STARTING') return onItsWay(pod)
  return block ? blocked(pod, block) : over(pod)
}

/**
 * Resources that a stopped pod lacks to start on its own host, by the rules of placement; its disks are there already. Null when it can
 * start. `host`: undefined where it is gone.
 */
export function missedStart(pod: ExplainedPod, host: PlacementHost | undefined): StartBlock | null {
  if (!host?.online) return unavailable('is offline', ['status: ONLINE > OFFLINE'])
  const failed = startMisses(pod, host)
  if (failed.length === 0) return null
  if (failed.some((one) => one.startsWith('disk:'))) return unavailable('has a full disk', failed)
  if (failed.some((one) => one.startsWith('schedulable'))) return unavailable('is cordoned', failed)
  const texts = failed.map(describeConstraint)
  return { code: 'NO_CAPACITY', text: `its host machine has no capacity to start it: ${texts.join(', ')}`, facts: factsOf(failed) }
}

/** Constraints that the start of a pod violates on its own host. */
export function startMisses({ teamId, vcpus, memoryMb, spec }: ExplainedPod, host: PlacementHost): string[] {
  const { compute, container } = spec
  const gpu = compute.kind === 'gpu' ? { typeId: compute.typeId, count: compute.count } : null
  const needs = {
    teamId,
    runtime: runtimeOfImage(container.image),
    dataCenterIds: [],
    cloud: 'ALL' as const,
    diskGb: 0,
    allowedCudaVersions: [],
    minCudaVersion: null,
  }
  return failedConstraints(needs, { gpu, vcpus, memoryMb }, host)
}

function unavailable(text: string, failed: string[]): StartBlock {
  return { code: 'HOST_UNAVAILABLE', text: `its host machine ${text}`, facts: factsOf(failed) }
}

function factsOf(failed: string[]): Fact[] {
  return constraintFacts([{ hostId: '', failed }])
}

function verdict(pod: ExplainedPod, code: Verdict['code'], text: string, sinceMs: number | null = pod.changedAtMs): Verdict {
  return { code, verdict: text, sinceMs: sinceMs ?? pod.changedAtMs, facts: [state(pod)] }
}

function state({ status, statusReason, changedAtMs }: ExplainedPod): Fact {
  return fact('STATE', statusReason === null ? status : `${status}: ${statusReason}`, { atMs: changedAtMs })
}

function lost(pod: ExplainedPod): Verdict {
  const then =
    pod.spec.onHostLoss === 'REPLACE' ? 'it starts on another machine as soon as one has capacity' : 'it waits for the machine to return'
  return verdict(pod, 'HOST_LOST', `The host machine of this pod is lost (no heartbeat); ${then}.`)
}

function silent(pod: ExplainedPod, silentSinceMs: number): Verdict {
  return verdict(pod, 'HOST_SILENT', 'The host machine of this pod is silent; the state of the pod is unknown.', silentSinceMs)
}

function onItsWay(pod: ExplainedPod): Verdict {
  if (pod.clusterId !== null) {
    return verdict(pod, 'WAITS_FOR_CLUSTER', 'The pod is placed and starts together with the other members of its cluster.')
  }
  if (pod.statusReason !== null) return verdict(pod, 'PREPARING', `The pod is placed and waits: ${pod.statusReason}.`)
  const doing = pod.status === 'PROVISIONING' ? 'prepares it' : 'pulls its image or starts its container'
  return verdict(pod, 'PREPARING', `The pod is placed; its host machine ${doing}.`)
}

function blocked(pod: ExplainedPod, { code, text, facts }: StartBlock): Verdict {
  const { verdict: ended, sinceMs, facts: known } = over(pod)
  return { code, verdict: `${ended.slice(0, -1)}, and ${text}.`, sinceMs, facts: [...known, ...facts] }
}

function over(pod: ExplainedPod): Verdict {
  const { status, statusReason } = pod
  if (status === 'ERROR') return verdict(pod, 'FAILED', `The pod could not run: ${statusReason ?? 'its host machine gave no reason'}.`)
  if (statusReason === null) return verdict(pod, 'STOPPED', 'The pod was stopped through the API, the command line or the console.')
  return verdict(pod, 'ENDED', `The pod has ended: ${statusReason}.`)
}
