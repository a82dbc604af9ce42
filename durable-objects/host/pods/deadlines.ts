import { nextDeadlineMs, type TimedPod } from '../../../src/domain/pod/deadlines.ts'
import { applyDeadlinesOfHost } from '../../../src/effects/pods/deadlines.ts'
import type { PodHost } from '../../../src/effects/pods/marked-pod.ts'
import type { Env } from '../../../src/env.ts'
import type { Alarms } from '../../alarms.ts'

/** Timer of the host object that is about pods which are to stop or end at a time. */
export const DEADLINES_TIMER = 'deadlines'

export interface HostDeadlinesDeps {
  env: Env
  alarms: Alarms
  now(): number
}

/** A look that was cut short is repeated after this. */
const RETRY_MS = 5_000

/**
 * The times at which pods of this host stop or end (PP-252). Whoever writes a pod's row has this object look at it, so it knows of every time;
 * it keeps the soonest, and asks D1 for what is due then. Whether the host is heard of does not matter.
 */
export class HostDeadlines {
  private readonly deps: HostDeadlinesDeps
  /** The soonest time of a pod that was looked at while this looked at others; their rows may have been read before. */
  private soonestMs: number | null = null

  constructor(deps: HostDeadlinesDeps) {
    this.deps = deps
  }

  /** A pod of this host was looked at. */
  async expect(pod: TimedPod): Promise<void> {
    const dueMs = nextDeadlineMs(pod)
    if (dueMs === null) return
    this.soonestMs = soonest(this.soonestMs, dueMs)
    await this.deps.alarms.setBy(DEADLINES_TIMER, dueMs)
  }

  async look(here: PodHost): Promise<void> {
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
