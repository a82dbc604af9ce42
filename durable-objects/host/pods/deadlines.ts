import { nextDeadlineMs, type TimedPod } from '../../../src/domain/pod/deadlines.ts'
import { applyDeadlinesOfHost } from '../../../src/effects/pods/deadlines.ts'
import type { PodHost } from '../../../src/effects/pods/with-pod-intents.ts'
import type { Env } from '../../../src/env.ts'
import type { Alarms } from '../../alarms.ts'

/** Timer of the host object for pods that stop or end at a set time. */
export const DEADLINES_TIMER = 'deadlines'

export interface HostDeadlinesDeps {
  env: Env
  alarms: Alarms
  now(): number
}

/** Delay before an interrupted check is repeated. */
const RETRY_MS = 5_000

/**
 * The times at which pods of this host stop or end (POD-62). Every writer of a pod's row has this object sync the pod, so the object knows
 * every time; it stores the earliest, and queries D1 for the due pods then. The presence of the host does not matter.
 */
export class HostDeadlines {
  private readonly deps: HostDeadlinesDeps
  /** Earliest time of the pods synced while a check runs; the check may have read their rows before. */
  private soonestMs: number | null = null

  constructor(deps: HostDeadlinesDeps) {
    this.deps = deps
  }

  /** Sets the timer for the deadlines of a synced pod. */
  async schedule(pod: TimedPod): Promise<void> {
    const dueMs = nextDeadlineMs(pod)
    if (dueMs === null) return
    this.soonestMs = soonest(this.soonestMs, dueMs)
    await this.deps.alarms.setBy(DEADLINES_TIMER, dueMs)
  }

  async check(here: PodHost): Promise<void> {
    const { env, alarms, now } = this.deps
    const retry = { name: DEADLINES_TIMER, dueAtMs: now() + RETRY_MS }
    await alarms.set(retry.name, retry.dueAtMs)
    this.soonestMs = null
    const nextMs = soonest(await applyDeadlinesOfHost(env, here, now()), this.soonestMs)
    if (nextMs === null) alarms.clear(retry)
    else await alarms.set(DEADLINES_TIMER, Math.max(nextMs, now() + 1))
  }
}

function soonest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}
