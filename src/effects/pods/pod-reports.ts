import { type Database, openDatabase, openRecords, type Records, type Statement } from '../../db/client.ts'
import { releaseCapacity } from '../../db/hosts/capacity.ts'
import { findPodForHost } from '../../db/pods/find-pods.ts'
import { type PodRow, releaseCompute, updatePod } from '../../db/pods/pods.ts'
import { noteOfReport } from '../../domain/pod/note.ts'
import { type ContainerReport, cutAtSilence, decideReport, isToRun, type PodChange } from '../../domain/pod/pod.ts'
import { generationOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import type { WorkloadReport, WorkloadState } from '../../host-protocol/messages.ts'
import { BY_PLATFORM, byHost } from '../../objects/cause.ts'
import { podStatement } from '../audit.ts'
import { tellCluster } from '../tell-cluster.ts'
import { notePod } from './pod-notes.ts'

/** A transition that lost a race is decided anew; the host repeats a report that could not be applied. */
const MAX_ATTEMPTS = 5

/** Where a report came from. */
export interface ReportSource {
  hostId: string
  podId: string
  /** No other container of this pod is on that host. */
  isLast: boolean
  /** None of those that are runs: what they held is free together with this one's. */
  areOthersDown: boolean
  /** Last sign of life of a host that is silent and says this all the same; null while it is heard of. */
  silentSinceMs: number | null
}

/**
 * What a host says of a pod's container becomes the pod's state, its usage and its capacity (POD-2, POD-23). Repeating it changes nothing.
 * Throws when others kept changing the pod meanwhile.
 */
export async function applyPodReport(env: Env, source: ReportSource, report: WorkloadReport): Promise<void> {
  const generation = generationOf(source.podId, report.workloadId)
  if (generation === null) return
  const said = { generation, state: report.state, reason: report.reason, atMs: report.at, ports: report.ports }
  const pod = await applyToRow(env, source, said)
  await returnCapacity(openDatabase(env.DB), source, said, pod)
  if (isDown(report.state)) await tellCluster(env, pod?.clusterId ?? null)
}

// A pod that has moved to another machine is none of this host's business.
async function applyToRow(env: Env, { hostId, podId, silentSinceMs }: ReportSource, report: ContainerReport): Promise<PodRow | null> {
  const decide = (pod: PodRow) => {
    const change = pod.hostId === hostId ? decideReport(pod, report, Date.now()) : null
    return change && { pod: asMember(change.pod), usage: cutAtSilence(change.usage, silentSinceMs) }
  }
  const audit = { cause: byHost(hostId), action: 'pods.report' }
  const note = (before: PodRow, after: PodRow) => (isOfNote(before, after) ? podStatement(env, audit, before, after) : null)
  return changePodRow(openRecords(env), podId, decide, note, (before, after) => notePod(env, after, noteOfReport(before, after)))
}

// A member that has run is tried nowhere else: what ends it then is its program's. One that ended before that could not start (CLU-16).
function asMember(pod: PodRow): PodRow {
  if (pod.triedHosts === null) return pod
  if (pod.status === 'RUNNING') return { ...pod, triedHosts: null }
  return pod.status === 'EXITED' ? { ...pod, status: 'ERROR', statusReason: pod.statusReason ?? 'its container ended before it ran' } : pod
}

/** How far a container has come is no change of the pod; that it is no longer to run is one (AUD-5). */
function isOfNote(before: PodRow, after: PodRow): boolean {
  return isToRun(before) !== isToRun(after) || before.hostLost !== after.hostLost
}

/** A container of a pod cannot be started, as its host would say it: the pod is ERROR with the reason (SEC-6). */
export async function failPodStart(env: Env, { id, hostId, generation }: PodRow, reason: string): Promise<void> {
  const nowMs = Date.now()
  const report = { generation, state: 'error', reason, atMs: nowMs } as const
  const decide = (pod: PodRow) => (pod.hostId === hostId ? decideReport(pod, report, nowMs) : null)
  const note = (before: PodRow, after: PodRow) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.fail' }, before, after)
  await changePodRow(openRecords(env), id, decide, note, (_, after) => notePod(env, after, `start: ${reason}`))
}

/**
 * Decides on the row as it is and writes what was decided, with what `note` makes of it, until nobody else came between; `written` is told.
 * Returns the row as it is then.
 */
export async function changePodRow(
  db: Records,
  podId: string,
  decide: (pod: PodRow) => PodChange<PodRow> | null,
  note: (before: PodRow, after: PodRow) => Statement | null,
  written: (before: PodRow, after: PodRow) => Promise<void>,
): Promise<PodRow | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const before = await findPodForHost(db, podId)
    const change = before && decide(before)
    if (!change) return before
    if (!(await updatePod(db, before, change.pod, change.usage, note(before, change.pod)))) continue
    await written(before, change.pod)
    return change.pod
  }
  throw new Error(`pod ${podId} keeps changing`)
}

async function returnCapacity(db: Database, source: ReportSource, report: ContainerReport, pod: PodRow | null): Promise<void> {
  if (!isDown(report.state)) return
  const { hostId, podId, isLast, areOthersDown } = source
  if (pod !== null && pod.hostId === hostId && pod.status !== 'TERMINATED') {
    if (!isToRun(pod) && areOthersDown) await releaseCompute(db, podId, hostId, pod.generation)
  } else if (isLast && report.state === 'gone') await releasePod(db, podId, hostId)
}

/** Whether a container in this state uses nothing of its host any more but disk. */
export function isDown(state: WorkloadState | null): boolean {
  return state === 'exited' || state === 'error' || state === 'gone'
}

/** Nothing of a pod is on a host any more, and the pod is terminated or has moved on. */
export async function releasePod(db: Database, podId: string, hostId: string): Promise<void> {
  // A pod's charge is in its row: none ends here.
  await releaseCapacity(db, podId, hostId, 0)
  await releaseCapacity(db, formerAllocationId(podId, hostId), hostId, 0)
}

/** Allocation of a pod that was replaced elsewhere, on the host that may still run it. */
export function formerAllocationId(podId: string, hostId: string): string {
  return `${podId}@${hostId}`
}
