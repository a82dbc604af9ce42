import type { PodRow } from '../../../src/db/pods/pods.ts'
import { nextIdleCheckMs } from '../../../src/domain/pod/idle-stop.ts'
import { workloadIdOf } from '../../../src/domain/pod/workloads.ts'
import { applyIdleStopsOfHost, type IdleOnHost } from '../../../src/effects/pods/idle-stops.ts'
import type { PodHost } from '../../../src/effects/pods/with-pod-intents.ts'
import type { Env } from '../../../src/env.ts'
import type { Alarms } from '../../alarms.ts'

/** Timer of the host object for pods that stop when they are idle. */
export const IDLE_TIMER = 'idle'

export interface HostIdleStopsDeps {
  env: Env
  alarms: Alarms
  now(): number
  /** The idle workloads of this host; none while the host is silent. */
  idle: IdleOnHost
}

/** Delay before an interrupted check is repeated. */
const RETRY_MS = 5_000

/**
 * Pods of this host that are stopped when idle (SPD-6). The decision is made here because the samples are here. The check runs at the
 * earliest time at which a pod can have been idle for long enough: a busy pod costs a check each time its idle time could have passed.
 */
export class HostIdleStops {
  private readonly deps: HostIdleStopsDeps
  /** Earliest check of the pods written while a check runs; the check may have read their rows before. */
  private soonestMs = Number.POSITIVE_INFINITY

  constructor(deps: HostIdleStopsDeps) {
    this.deps = deps
  }

  /** Sets the timer for the idle stop of a synced pod. */
  async schedule(pod: PodRow): Promise<void> {
    const id = workloadIdOf(pod.id, pod.generation)
    const checkMs = nextIdleCheckMs(pod, this.deps.idle([id]).get(id) ?? null, this.deps.now())
    if (checkMs === null) return
    this.soonestMs = Math.min(this.soonestMs, checkMs)
    await this.deps.alarms.setBy(IDLE_TIMER, checkMs)
  }

  async check(here: PodHost): Promise<void> {
    const { env, alarms, now, idle } = this.deps
    const retry = { name: IDLE_TIMER, dueAtMs: now() + RETRY_MS }
    await alarms.set(retry.name, retry.dueAtMs)
    this.soonestMs = Number.POSITIVE_INFINITY
    const nextMs = Math.min((await applyIdleStopsOfHost(env, here, idle, now())) ?? Number.POSITIVE_INFINITY, this.soonestMs)
    if (nextMs === Number.POSITIVE_INFINITY) alarms.clear(retry)
    else await alarms.set(IDLE_TIMER, Math.max(nextMs, now() + 1))
  }
}
