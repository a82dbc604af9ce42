import { hostStub } from '../../durable-objects/stubs.ts'
import { openDatabase } from '../db/client.ts'
import { listPodsOfHost, movePod, type PodRow } from '../db/pods.ts'
import { decideHostLost, decideReplacement, isToRun } from '../domain/pod.ts'
import { podDiskGb } from '../domain/pod-placement.ts'
import type { Env } from '../env.ts'
import type { WorkloadReport } from '../host-protocol/messages.ts'
import { logEvent } from '../log.ts'
import { rankPod } from './pod-placement.ts'
import { applyPodReport, changePod, formerAllocationId } from './pod-reports.ts'

/** Hosts tried for one pod that has to move; the next try comes with the next call. */
const MAX_TRIES = 3
const DRAINED = 'moved to another host: its own is being emptied'

/**
 * A machine is taken for lost: pods that may be replaced elsewhere are, the others keep their record and say why (PP-78). Returns how many
 * pods still wait for a place elsewhere; repeating it tries those again.
 */
export async function loseHostOfPods(env: Env, hostId: string, lastHeardMs: number): Promise<number> {
  const reason = `its host has not been heard of since ${new Date(lastHeardMs).toISOString()}; the pod recovers when the host returns`
  let waiting = 0
  for (const pod of await listPodsOfHost(openDatabase(env.DB), hostId)) {
    if (!isToRun(pod)) continue
    const replaceable = isReplaceable(pod)
    if (replaceable && (await replacePod(env, pod, lastHeardMs, 'moved to another host: its own is lost'))) continue
    if (replaceable) waiting += 1
    await changePod(openDatabase(env.DB), pod.id, (row) =>
      row.hostId === hostId ? decideHostLost(row, reason, lastHeardMs, Date.now()) : null,
    )
    await hostStub(env, hostId).syncPod(hostId, pod.id)
  }
  return waiting
}

/** A machine is being emptied: pods that may run elsewhere go there. Returns how many of those still wait for a place. */
export async function drainPods(env: Env, hostId: string): Promise<number> {
  let waiting = 0
  for (const pod of await listPodsOfHost(openDatabase(env.DB), hostId)) {
    if (isToRun(pod) && isReplaceable(pod) && !(await replacePod(env, pod, Date.now(), DRAINED))) waiting += 1
  }
  return waiting
}

/** A machine that was taken for lost is back: what it says of its containers is true again, also what it had said before (PP-78). */
export async function returnHostOfPods(env: Env, hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
  const lost = (await listPodsOfHost(openDatabase(env.DB), hostId)).filter(({ hostLost }) => hostLost)
  for (const pod of lost) {
    for (const report of reports) await applyPodReport(env, { hostId, podId: pod.id, isLast: false }, report)
  }
}

// What is on the machine's own disk cannot go along.
function isReplaceable({ spec, clusterId }: PodRow): boolean {
  return spec.onHostLoss === 'REPLACE' && spec.mounts.persistent === undefined && clusterId === null
}

async function replacePod(env: Env, pod: PodRow, lastHeardMs: number, statusReason: string): Promise<boolean> {
  const { candidates } = await rankPod(env, pod.spec)
  for (const { hostId, dataCenterId, cudaVersion, shape } of candidates
    .filter((candidate) => candidate.hostId !== pod.hostId)
    .slice(0, MAX_TRIES)) {
    const change = decideReplacement(pod, lastHeardMs, Date.now())
    if (!change) return true
    const granted = { hostId, dataCenterId, cudaVersion, vcpus: shape.vcpus, memoryMb: shape.memoryMb }
    const after = { ...change.pod, ...granted, statusReason }
    if (await moveTo(env, pod, after, change.usage, { ...shape, diskGb: podDiskGb(pod.spec) })) return true
  }
  return false
}

async function moveTo(
  env: Env,
  before: PodRow,
  after: PodRow,
  usage: Parameters<typeof movePod>[3]['usage'],
  resources: Parameters<typeof movePod>[3]['resources'],
): Promise<boolean> {
  const hosts = [before.hostId, after.hostId]
  for (const hostId of hosts) await hostStub(env, hostId).markPod(hostId, before.id)
  try {
    const former = formerAllocationId(before.id, before.hostId)
    const hasMoved = await movePod(openDatabase(env.DB), before, after, { resources, usage, formerAllocationId: former })
    if (hasMoved) logEvent('info', 'pod moved', { podId: before.id, from: before.hostId, to: after.hostId })
    return hasMoved
  } finally {
    // The former host first: its container is told to stop before the new one starts.
    for (const hostId of hosts) await hostStub(env, hostId).syncPod(hostId, before.id)
  }
}
