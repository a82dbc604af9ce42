import { openDatabase } from '../../db/client.ts'
import { listOverduePods, listTimedPodsOfHost } from '../../db/pods/deadlines.ts'
import { decideDeadline } from '../../domain/pod/deadlines.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { type PodHost, podHost } from './marked-pod.ts'
import { changePodByPlatform } from './platform-change.ts'

/** Pods of one look; the next one follows at once. */
const MAX_PODS = 100
/** What failed is tried again after this. */
const RETRY_MS = 5_000
/** A time that passed so long ago has been missed by the host object that it was for. */
const OVERDUE_MS = 60_000

/** Stops and terminates pods of a host whose time has come (PP-252). Returns when to look again; null: when a pod gets a time. */
export async function applyDeadlinesOfHost(env: Env, here: PodHost, nowMs: number): Promise<number | null> {
  const timed = await listTimedPodsOfHost(openDatabase(env.DB), here.hostId, MAX_PODS)
  const due = timed.filter(({ dueMs }) => dueMs <= nowMs)
  const outcomes = await Promise.all(due.map(({ id }) => applyDeadline(env, here, id, nowMs)))
  if (outcomes.includes(false)) return nowMs + RETRY_MS
  return due.length === MAX_PODS ? nowMs : (timed[due.length]?.dueMs ?? null)
}

/** The same for pods of any host that nobody else has looked at: of a host object that lost its timer. Repeating it changes nothing. */
export async function applyOverdueDeadlines(env: Env, nowMs: number): Promise<void> {
  for (const { id, hostId } of await listOverduePods(openDatabase(env.DB), nowMs - OVERDUE_MS, MAX_PODS)) {
    await applyDeadline(env, podHost(env, hostId), id, nowMs)
  }
}

// One pod that cannot be changed holds up no other.
async function applyDeadline(env: Env, host: PodHost, podId: string, nowMs: number): Promise<boolean> {
  try {
    await changePodByPlatform(env, host, podId, (pod) => decideDeadline(pod, nowMs))
    return true
  } catch (error) {
    logEvent('error', 'a pod could not be stopped or terminated at its time', { hostId: host.hostId, podId, error })
    return false
  }
}
