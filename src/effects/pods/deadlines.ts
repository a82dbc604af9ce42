import { openDatabase } from '../../db/client.ts'
import { listOverduePods, listTimedPodsOfHost } from '../../db/pods/deadlines.ts'
import { decideDeadline } from '../../domain/pod/deadlines.ts'
import type { Env } from '../../env.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { tryLogged } from '../../platform/log.ts'
import { changePodByPlatform } from './platform-change.ts'
import { type PodHost, podHost } from './with-pod-intents.ts'

/** Pods per run; the next run follows at once. */
const MAX_PODS = 100
/** Delay before a retry after a failure, in milliseconds. */
const RETRY_MS = 5_000
/** A deadline overdue by this time was missed by the host object in charge. */
const OVERDUE_MS = 60_000

/**
 * Stops and terminates pods of a host at their deadlines (POD-62). Returns when to run again, in milliseconds; null: when a pod gets a
 * deadline.
 */
export async function applyDeadlinesOfHost(env: Env, here: PodHost, nowMs: number): Promise<number | null> {
  const timed = await listTimedPodsOfHost(openDatabase(env.DB), here.hostId, MAX_PODS)
  const due = timed.filter(({ dueMs }) => dueMs <= nowMs)
  const outcomes = await mapAtOnce(due, ({ id }) => applyDeadline(env, here, id, nowMs))
  if (outcomes.includes(false)) return nowMs + RETRY_MS
  return due.length === MAX_PODS ? nowMs : (timed[due.length]?.dueMs ?? null)
}

/** Applies deadlines of pods on any host that are overdue, because a host object lost its timer. Idempotent. */
export async function applyOverdueDeadlines(env: Env, nowMs: number): Promise<void> {
  for (const { id, hostId } of await listOverduePods(openDatabase(env.DB), nowMs - OVERDUE_MS, MAX_PODS)) {
    await applyDeadline(env, podHost(env, hostId), id, nowMs)
  }
}

// A pod that cannot be changed does not block the others.
function applyDeadline(env: Env, host: PodHost, podId: string, nowMs: number): Promise<boolean> {
  return tryLogged('error', 'a pod could not be stopped or terminated at its time', { hostId: host.hostId, podId }, () =>
    changePodByPlatform(env, host, podId, (pod) => decideDeadline(pod, nowMs)),
  )
}
