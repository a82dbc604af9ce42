import { type Database, openDatabase, openRecords, type Records, type Statement } from '../../db/client.ts'
import { releaseCapacity } from '../../db/hosts/capacity.ts'
import { findPodForHost } from '../../db/pods/find-pods.ts'
import { type PodRow, releaseCompute, updatePod } from '../../db/pods/pods.ts'
import { noteOfReport } from '../../domain/pod/note.ts'
import { type ContainerReport, cutAtSilence, decideReport, isToRun, type PodChange } from '../../domain/pod/pod.ts'
import { generationOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import type { WorkloadReport, WorkloadState } from '../../host-protocol/messages.ts'
import { BY_PLATFORM, byHost } from '../../rpc/cause.ts'
import { podStatement } from '../audit.ts'
import { notifyCluster } from '../notify-cluster.ts'
import { LOST, retryLost } from '../retry-lost.ts'
import { notePod } from './pod-notes.ts'

/** The origin of a report. */
export interface ReportSource {
  hostId: string
  podId: string
  /** The pod has no other container on that host. */
  isLast: boolean
  /** None of the pod's other containers runs: their resources become free together with this one's. */
  areOthersDown: boolean
  /** Last sign of life of a silent host whose report arrives all the same, in milliseconds; null for a host that is not silent. */
  silentSinceMs: number | null
}

/**
 * Applies a host's report about a pod's container to the pod's state, usage and capacity (POD-2, POD-23). Idempotent. Throws when other
 * writers kept changing the pod.
 */
export async function applyPodReport(env: Env, source: ReportSource, report: WorkloadReport): Promise<void> {
  const generation = generationOf(source.podId, report.workloadId)
  if (generation === null) return
  const said = { generation, state: report.state, reason: report.reason, atMs: report.at, ports: report.ports }
  const pod = await applyToRow(env, source, said)
  await returnCapacity(openDatabase(env.DB), source, said, pod)
  if (isDown(report.state)) await notifyCluster(env, pod?.clusterId ?? null)
}

// Ignores reports about a pod that has moved to another host.
async function applyToRow(env: Env, { hostId, podId, silentSinceMs }: ReportSource, report: ContainerReport): Promise<PodRow | null> {
  const decide = (pod: PodRow) => {
    // No request: a host reports. An event is not later than the instant of the decision, which a lost race repeats.
    const change = pod.hostId === hostId ? decideReport(pod, report, Date.now()) : null
    return change && { pod: asMember(change.pod), usage: cutAtSilence(change.usage, silentSinceMs) }
  }
  const audit = { cause: byHost(hostId), action: 'pods.report' }
  const note = (before: PodRow, after: PodRow) => (isOfNote(before, after) ? podStatement(env, audit, before, after) : null)
  return changePodRow(openRecords(env), podId, decide, note, (before, after) => notePod(env, after, noteOfReport(before, after)))
}

// A member that has run is not moved to another host: its own program ended it. A member that ended before it ran failed to start (CLU-16).
function asMember(pod: PodRow): PodRow {
  if (pod.triedHosts === null) return pod
  if (pod.status === 'RUNNING') return { ...pod, triedHosts: null }
  return pod.status === 'EXITED' ? { ...pod, status: 'ERROR', statusReason: pod.statusReason ?? 'its container ended before it ran' } : pod
}

/** The progress of a container is no audited change of the pod; a change of whether it is to run is one (AUD-5). */
function isOfNote(before: PodRow, after: PodRow): boolean {
  return isToRun(before) !== isToRun(after) || before.hostLost !== after.hostLost
}

/** Sets a pod to ERROR with the reason, as if its host had reported that a container cannot be started (SECRET-6). */
export async function failPodStart(env: Env, { id, hostId, generation }: PodRow, reason: string): Promise<void> {
  // No request: an object starts the pod. The report stands for one of the host, which has one instant.
  const nowMs = Date.now()
  const report = { generation, state: 'error', reason, atMs: nowMs } as const
  const decide = (pod: PodRow) => (pod.hostId === hostId ? decideReport(pod, report, nowMs) : null)
  const note = (before: PodRow, after: PodRow) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.fail' }, before, after)
  await changePodRow(openRecords(env), id, decide, note, (_, after) => notePod(env, after, `start: ${reason}`))
}

/**
 * Decides on the pod's present row and writes the result with the statement of `note`, retrying when another writer was first; then calls
 * `written`. Returns the resulting row. Throws after too many lost races; a host repeats a report that could not be applied.
 */
export async function changePodRow(
  db: Records,
  podId: string,
  decide: (pod: PodRow) => PodChange<PodRow> | null,
  note: (before: PodRow, after: PodRow) => Statement | null,
  written: (before: PodRow, after: PodRow) => Promise<void>,
): Promise<PodRow | null> {
  const outcome = await retryLost(async () => {
    const before = await findPodForHost(db, podId)
    const change = before && decide(before)
    if (!change) return before
    if (!(await updatePod(db, before, change.pod, change.usage, note(before, change.pod)))) return LOST
    await written(before, change.pod)
    return change.pod
  })
  if (outcome === LOST) throw new Error(`pod ${podId} keeps changing`)
  return outcome
}

async function returnCapacity(db: Database, source: ReportSource, report: ContainerReport, pod: PodRow | null): Promise<void> {
  if (!isDown(report.state)) return
  const { hostId, podId, isLast, areOthersDown } = source
  if (pod !== null && pod.hostId === hostId && pod.status !== 'TERMINATED') {
    if (!isToRun(pod) && areOthersDown) await releaseCompute(db, podId, hostId, pod.generation)
  } else if (isLast && report.state === 'gone') await releasePod(db, podId, hostId)
}

/** Whether a container in this state uses nothing of its host except disk. */
export function isDown(state: WorkloadState | null): boolean {
  return state === 'exited' || state === 'error' || state === 'gone'
}

/** Releases what a pod held on a host, because nothing of it is left there and it is terminated or has moved. */
export async function releasePod(db: Database, podId: string, hostId: string): Promise<void> {
  // A pod's charge is in its row, so this ends none.
  await releaseCapacity(db, podId, hostId, 0)
  await releaseCapacity(db, previousAllocationId(podId, hostId), hostId, 0)
}

/** Returns the allocation id of a moved pod on the previous host, which may still run it. */
export function previousAllocationId(podId: string, hostId: string): string {
  return `${podId}@${hostId}`
}
