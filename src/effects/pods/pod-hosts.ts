import { formatTime } from '../../contract/timestamps.ts'
import { excuseWorkersOn } from '../../db/billing/charges.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { findDeparture } from '../../db/hosts/host-cordon.ts'
import { findPodForHost, listPodsOfHost } from '../../db/pods/find-pods.ts'
import { movePod, type PodRow } from '../../db/pods/pods.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { noteOfTransition } from '../../domain/pod/note.ts'
import { type PodCandidate, podDiskGb } from '../../domain/pod/place/placement.ts'
import {
  decideElsewhere,
  decideHeardAgain,
  decideHostLost,
  decideReplacement,
  decideWaitsAgain,
  isToRun,
  type Silence,
} from '../../domain/pod/pod.ts'
import { generationOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import type { WorkloadReport } from '../../host-protocol/messages.ts'
import { logEvent } from '../../platform/log.ts'
import { BY_PLATFORM } from '../../rpc/cause.ts'
import { podStatement } from '../audit.ts'
import { notifyCluster } from '../notify-cluster.ts'
import { findMoves, grantedBy } from './place-pod.ts'
import { notePod } from './pod-notes.ts'
import { applyPodReport, changePodRow, isDown, previousAllocationId } from './pod-reports.ts'
import { type PodHost, podHost, withPodIntents } from './with-pod-intents.ts'

/** Hosts tried for one pod that must move; the next call tries again. */
const MAX_TRIES = 3
/** No audit row: the platform corrects a charge and does not change the pod. */
const noNote = () => null
const DRAINED = 'moved to another host: its host is being drained'

/**
 * Moves pods away from a host that is lost or draining, as far as their settings and the capacity allow. Returns the number of pods that
 * still wait for a place. `heard`: the host's last sign of life, and since when it is silent (null: it is not).
 */
export async function movePodsAway(env: Env, here: PodHost, heard: { lastHeardMs: number; silentSinceMs: number | null }): Promise<number> {
  const departure = await findDeparture(openDatabase(env.DB), here.hostId)
  if (departure === 'lost') return loseHostOfPods(env, here, heard.lastHeardMs)
  // No request: a host's object moves its pods.
  return departure === 'draining' ? drainPods(env, here, heard.silentSinceMs ?? Date.now()) : 0
}

/**
 * Handles a lost host: replaceable pods move to other hosts, the others keep their row with the reason (POD-31). Returns the number of pods
 * that still wait for a place; a repeated call retries those.
 */
export async function loseHostOfPods(env: Env, here: PodHost, lastHeardMs: number): Promise<number> {
  const reason = `its host has been silent since ${new Date(lastHeardMs).toISOString()}; the pod recovers when the host reconnects`
  const { hostId } = here
  let waiting = 0
  for (const pod of await listPodsOfHost(openRecords(env), hostId)) {
    if (!isToRun(pod)) continue
    const replaceable = isReplaceable(pod)
    if (replaceable && (await replacePod(env, here, pod, lastHeardMs, 'moved to another host: its host is lost'))) continue
    if (replaceable) waiting += 1
    // Each decision has the instant at which it reads the row: moves of other pods and lost races come before it.
    await changePodRow(
      openRecords(env),
      pod.id,
      (row) => (row.hostId === hostId ? decideHostLost(row, reason, lastHeardMs, Date.now()) : null),
      (before, after) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.host-lost' }, before, after),
      (before, after) => notePod(env, after, noteOfTransition(before, after)),
    )
    await here.sync(pod.id)
    await notifyCluster(env, pod.clusterId)
  }
  return waiting
}

/**
 * Drains a host: replaceable pods move to other hosts. Returns the number of those that still wait for a place. `lastHeardMs`: the present
 * time, unless the host is silent.
 */
export async function drainPods(env: Env, here: PodHost, lastHeardMs: number): Promise<number> {
  let waiting = 0
  for (const pod of await listPodsOfHost(openRecords(env), here.hostId)) {
    if (isToRun(pod) && isReplaceable(pod) && !(await replacePod(env, here, pod, lastHeardMs, DRAINED))) waiting += 1
    // The cluster of a member decides about it (CLU-25).
    await notifyCluster(env, pod.clusterId)
  }
  return waiting
}

/**
 * Handles the return of a host that was considered lost: its reports of its containers apply again, including those from before (POD-31).
 */
export async function returnHostOfPods(env: Env, hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
  const lost = (await listPodsOfHost(openRecords(env), hostId)).filter(({ hostLost }) => hostLost)
  for (const pod of lost) {
    const own = reports.filter(({ workloadId }) => generationOf(pod.id, workloadId) !== null)
    for (const report of own) {
      const areOthersDown = own.every(({ workloadId, state }) => workloadId === report.workloadId || isDown(state))
      await applyPodReport(env, { hostId, podId: pod.id, isLast: false, areOthersDown, silentSinceMs: null }, report)
    }
    if (pod.clusterId !== null) await waitAgain(env, hostId, pod)
  }
}

// A member that was not to start yet reports nothing about itself.
async function waitAgain(env: Env, hostId: string, { id, clusterId }: PodRow): Promise<void> {
  const isWaiting = (row: PodRow) => row.hostId === hostId && (row.readyGeneration ?? 0) < row.generation
  await changePodRow(
    openRecords(env),
    id,
    (row) => (isWaiting(row) ? decideWaitsAgain(row) : null),
    (before, after) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.update' }, before, after),
    (_, after) => notePod(env, after, 'host is back: the member still waits for the other members'),
  )
  await notifyCluster(env, clusterId)
}

/** Handles the return of a silent host: its workloads kept running and are not charged for the silence (POD-23). Idempotent. */
export async function excuseSilence(env: Env, hostId: string, silence: Silence): Promise<void> {
  const db = openRecords(env)
  await excuseWorkersOn(db, hostId, silence)
  const line = `host is back: it was silent from ${formatTime(silence.fromMs)} to ${formatTime(silence.toMs)}, which is not charged`
  for (const { id } of await listPodsOfHost(db, hostId)) {
    const decide = (row: PodRow) => (row.hostId === hostId ? decideHeardAgain(row, silence) : null)
    await changePodRow(db, id, decide, noNote, (_, after) => notePod(env, after, line))
  }
}

/** Whether a pod may continue on another host; data on a host's own disk cannot move. */
export function isReplaceable({ spec, clusterId }: Pick<PodRow, 'spec' | 'clusterId'>): boolean {
  return spec.onHostLoss === 'REPLACE' && spec.mounts.persistent === undefined && clusterId === null
}

async function replacePod(env: Env, here: PodHost, pod: PodRow, lastHeardMs: number, statusReason: string): Promise<boolean> {
  const rules = { accepts: ({ id }: PlacementHost) => id !== pod.hostId, suits: () => true }
  const candidates = await findMoves(env, pod.teamId, pod.spec, rules, MAX_TRIES)
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    // A try follows calls to other hosts.
    const change = decideReplacement(pod, lastHeardMs, Date.now())
    if (!change) return true
    const after = { ...change.pod, ...grantedBy(candidate), statusReason }
    if (await moveTo(env, here, pod, after, change.usage, { ...candidate.shape, diskGb: podDiskGb(pod.spec) })) return true
  }
  return false
}

/** Requirements of a cluster member for its next host. */
export interface MemberMove {
  /** The value for the member's row after the move. */
  triedHosts: string[]
  accepts(host: PlacementHost): boolean
}

/**
 * Moves a cluster member to another host of its data center with the resources that it was granted (CLU-16). Does nothing when the member
 * has moved or restarted since that decision. False: no host has room.
 */
export async function moveMemberPod(
  env: Env,
  podId: string,
  decidedFor: { from: string; generation: number },
  statusReason: string,
  { triedHosts, accepts }: MemberMove,
): Promise<boolean> {
  const pod = await findPodForHost(openRecords(env), podId)
  if (!pod || pod.status === 'TERMINATED' || pod.hostId !== decidedFor.from || pod.generation !== decidedFor.generation) return true
  const suits = ({ shape }: PodCandidate) => shape.vcpus >= pod.vcpus && shape.memoryMb >= pod.memoryMb
  const near = { ...pod.spec, dataCenterIds: [pod.dataCenterId] }
  const candidates = await findMoves(env, pod.teamId, near, { accepts, suits }, MAX_TRIES)
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    const { vcpus, memoryMb } = pod
    const shape = { ...candidate.shape, vcpus, memoryMb }
    // A try follows calls to other hosts.
    const nowMs = Date.now()
    const change = decideElsewhere(pod, pod.hostLost ? pod.changedAtMs : nowMs, nowMs)
    const after = { ...change.pod, ...grantedBy({ ...candidate, shape }), triedHosts, statusReason }
    if (await moveTo(env, podHost(env, pod.hostId), pod, after, change.usage, { ...shape, diskGb: podDiskGb(pod.spec) })) return true
  }
  return false
}

async function moveTo(
  env: Env,
  here: PodHost,
  before: PodRow,
  after: PodRow,
  usage: Parameters<typeof movePod>[3]['usage'],
  resources: Parameters<typeof movePod>[3]['resources'],
): Promise<boolean> {
  // The previous host comes first: it has to stop its container before the new one starts.
  return withPodIntents([here, podHost(env, after.hostId)], before.id, async ([, intent]) => {
    // A host that misses heartbeats gets no new work (HOST-8).
    if (!intent?.takesMore) return false
    const previous = previousAllocationId(before.id, before.hostId)
    const note = podStatement(env, { cause: BY_PLATFORM, action: 'pods.move' }, before, after)
    const hasMoved = await movePod(openRecords(env), before, after, { resources, usage, note, previousAllocationId: previous })
    if (hasMoved) await notePod(env, after, noteOfTransition(before, after))
    if (hasMoved) logEvent('info', 'pod moved', { podId: before.id, from: before.hostId, to: after.hostId })
    return hasMoved
  })
}
