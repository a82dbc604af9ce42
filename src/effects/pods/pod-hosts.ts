import { formatTime } from '../../contract/timestamps.ts'
import { excuseWorkersOn } from '../../db/billing/charges.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { findDeparture } from '../../db/hosts/host-cordon.ts'
import { findPodForHost, listPodsOfHost } from '../../db/pods/find-pods.ts'
import { movePod, type PodRow } from '../../db/pods/pods.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { noteOfTransition } from '../../domain/pod/note.ts'
import { podDiskGb } from '../../domain/pod/place/placement.ts'
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
import { BY_PLATFORM } from '../../objects/cause.ts'
import { logEvent } from '../../platform/log.ts'
import { podStatement } from '../audit.ts'
import { tellCluster } from '../tell-cluster.ts'
import { type PodHost, podHost, withMarkedPod } from './marked-pod.ts'
import { grantedBy, rankMove } from './place-pod.ts'
import { notePod } from './pod-notes.ts'
import { applyPodReport, changePodRow, formerAllocationId, isDown } from './pod-reports.ts'

/** Hosts tried for one pod that has to move; the next try comes with the next call. */
const MAX_TRIES = 3
/** Nobody changed the pod. */
const noNote = () => null
const DRAINED = 'moved to another host: its own is being emptied'

/**
 * Pods leave a machine that is lost or being emptied, as far as they may and there is room. Returns how many still wait for a place.
 * `heard`: the machine's last sign of life, and whether that was too long ago.
 */
export async function movePodsAway(env: Env, here: PodHost, heard: { lastHeardMs: number; silentSinceMs: number | null }): Promise<number> {
  const departure = await findDeparture(openDatabase(env.DB), here.hostId)
  if (departure === 'lost') return loseHostOfPods(env, here, heard.lastHeardMs)
  return departure === 'draining' ? drainPods(env, here, heard.silentSinceMs ?? Date.now()) : 0
}

/**
 * A machine is taken for lost: pods that may be replaced elsewhere are, the others keep their record and say why (PP-78). Returns how many
 * pods still wait for a place elsewhere; repeating it tries those again.
 */
export async function loseHostOfPods(env: Env, here: PodHost, lastHeardMs: number): Promise<number> {
  const reason = `its host has not been heard of since ${new Date(lastHeardMs).toISOString()}; the pod recovers when the host returns`
  const { hostId } = here
  let waiting = 0
  for (const pod of await listPodsOfHost(openRecords(env), hostId)) {
    if (!isToRun(pod)) continue
    const replaceable = isReplaceable(pod)
    if (replaceable && (await replacePod(env, here, pod, lastHeardMs, 'moved to another host: its own is lost'))) continue
    if (replaceable) waiting += 1
    await changePodRow(
      openRecords(env),
      pod.id,
      (row) => (row.hostId === hostId ? decideHostLost(row, reason, lastHeardMs, Date.now()) : null),
      (before, after) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.host-lost' }, before, after),
      (before, after) => notePod(env, after, noteOfTransition(before, after)),
    )
    await here.sync(pod.id)
    await tellCluster(env, pod.clusterId)
  }
  return waiting
}

/**
 * A machine is being emptied: pods that may run elsewhere go there. Returns how many of those still wait for a place. `lastHeardMs`: now, unless
 * the machine is silent.
 */
export async function drainPods(env: Env, here: PodHost, lastHeardMs: number): Promise<number> {
  let waiting = 0
  for (const pod of await listPodsOfHost(openRecords(env), here.hostId)) {
    if (isToRun(pod) && isReplaceable(pod) && !(await replacePod(env, here, pod, lastHeardMs, DRAINED))) waiting += 1
    // Its cluster decides, which it is a member of (CLU-25).
    await tellCluster(env, pod.clusterId)
  }
  return waiting
}

/** A machine that was taken for lost is back: what it says of its containers is true again, also what it had said before (PP-78). */
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

// A member that was not to start yet says nothing of itself.
async function waitAgain(env: Env, hostId: string, { id, clusterId }: PodRow): Promise<void> {
  const isWaiting = (row: PodRow) => row.hostId === hostId && (row.readyGeneration ?? 0) < row.generation
  await changePodRow(
    openRecords(env),
    id,
    (row) => (isWaiting(row) ? decideWaitsAgain(row) : null),
    (before, after) => podStatement(env, { cause: BY_PLATFORM, action: 'pods.update' }, before, after),
    (_, after) => notePod(env, after, 'host is back: the member goes on waiting for the others'),
  )
  await tellCluster(env, clusterId)
}

/** A machine that was silent is heard of again: what it has ran on, and is not charged for the time between (POD-23). Repeating it changes nothing. */
export async function excuseSilence(env: Env, hostId: string, silence: Silence): Promise<void> {
  const db = openRecords(env)
  await excuseWorkersOn(db, hostId, silence)
  const line = `host is back: not heard of from ${formatTime(silence.fromMs)} to ${formatTime(silence.toMs)}, which is not charged`
  for (const { id } of await listPodsOfHost(db, hostId)) {
    const decide = (row: PodRow) => (row.hostId === hostId ? decideHeardAgain(row, silence) : null)
    await changePodRow(db, id, decide, noNote, (_, after) => notePod(env, after, line))
  }
}

/** Whether a pod may go on on another machine: what is on the machine's own disk cannot go along. */
export function isReplaceable({ spec, clusterId }: Pick<PodRow, 'spec' | 'clusterId'>): boolean {
  return spec.onHostLoss === 'REPLACE' && spec.mounts.persistent === undefined && clusterId === null
}

async function replacePod(env: Env, here: PodHost, pod: PodRow, lastHeardMs: number, statusReason: string): Promise<boolean> {
  const { candidates } = await rankMove(env, pod.teamId, pod.spec)
  for (const candidate of candidates.filter(({ hostId }) => hostId !== pod.hostId).slice(0, MAX_TRIES)) {
    const change = decideReplacement(pod, lastHeardMs, Date.now())
    if (!change) return true
    const after = { ...change.pod, ...grantedBy(candidate), statusReason }
    if (await moveTo(env, here, pod, after, change.usage, { ...candidate.shape, diskGb: podDiskGb(pod.spec) })) return true
  }
  return false
}

/** What a member of a cluster asks of its next host. */
export interface MemberMove {
  /** As they stand in its row afterwards. */
  triedHosts: string[]
  accepts(host: PlacementHost): boolean
}

/**
 * A member of a cluster goes on elsewhere, in its data center and with what it was granted (CLU-16). Nothing happens when it is no longer where
 * that was decided for. False: there is no place for it.
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
  const { candidates } = await rankMove(env, pod.teamId, { ...pod.spec, dataCenterIds: [pod.dataCenterId] }, accepts)
  const roomy = candidates.filter(({ shape }) => shape.vcpus >= pod.vcpus && shape.memoryMb >= pod.memoryMb)
  for (const candidate of roomy.slice(0, MAX_TRIES)) {
    const { vcpus, memoryMb } = pod
    const shape = { ...candidate.shape, vcpus, memoryMb }
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
  // The former host first: its container is told to stop before the new one starts.
  return withMarkedPod([here, podHost(env, after.hostId)], before.id, async ([, mark]) => {
    // A host that misses beats gets no new work (HOST-8).
    if (!mark?.takesMore) return false
    const former = formerAllocationId(before.id, before.hostId)
    const note = podStatement(env, { cause: BY_PLATFORM, action: 'pods.move' }, before, after)
    const hasMoved = await movePod(openRecords(env), before, after, { resources, usage, note, formerAllocationId: former })
    if (hasMoved) await notePod(env, after, noteOfTransition(before, after))
    if (hasMoved) logEvent('info', 'pod moved', { podId: before.id, from: before.hostId, to: after.hostId })
    return hasMoved
  })
}
