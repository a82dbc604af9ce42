import { openDatabase } from '../../db/client.ts'
import { listIdleStopPods } from '../../db/pods/idle-stops.ts'
import { decideIdleStop, idleStopDueMs, nextIdleCheckMs } from '../../domain/pod/idle-stop.ts'
import { workloadIdOf } from '../../domain/pod/workloads.ts'
import type { Env } from '../../env.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { tryLogged } from '../../platform/log.ts'
import { changePodByPlatform } from './platform-change.ts'
import type { PodHost } from './with-pod-intents.ts'

/** More pods than a host can run. */
const MAX_PODS = 2_000
/** Delay before a retry after a failure, in milliseconds. */
const RETRY_MS = 5_000

/** Returns since when each of these workloads has been idle, as seen by their host (HIS-8). */
export type IdleOnHost = (workloadIds: readonly string[]) => ReadonlyMap<string, number>

/**
 * Stops pods of a host that have been idle for as long as their `idleStop` allows (SPD-6). Returns when to run again, in milliseconds;
 * null: when a pod gets an `idleStop`.
 */
export async function applyIdleStopsOfHost(env: Env, here: PodHost, idle: IdleOnHost, nowMs: number): Promise<number | null> {
  const pods = await listIdleStopPods(openDatabase(env.DB), here.hostId, MAX_PODS)
  const sinceById = idle(pods.map(({ id, generation }) => workloadIdOf(id, generation)))
  const checks = await mapAtOnce(pods, async (pod) => {
    const idleSinceMs = sinceById.get(workloadIdOf(pod.id, pod.generation)) ?? null
    const dueMs = idleStopDueMs(pod, idleSinceMs)
    if (dueMs === null || dueMs > nowMs) return nextIdleCheckMs(pod, idleSinceMs, nowMs)
    return (await stopIdle(env, here, pod.id, idleSinceMs, nowMs)) ? null : nowMs + RETRY_MS
  })
  return checks.reduce((soonest, ms) => (ms === null || soonest === null ? (ms ?? soonest) : Math.min(ms, soonest)), null)
}

// A pod that cannot be changed does not block the others.
function stopIdle(env: Env, host: PodHost, podId: string, idleSinceMs: number | null, nowMs: number): Promise<boolean> {
  return tryLogged('error', 'an idle pod could not be stopped', { hostId: host.hostId, podId }, () =>
    changePodByPlatform(env, host, podId, (pod) => decideIdleStop(pod, idleSinceMs, nowMs)),
  )
}
