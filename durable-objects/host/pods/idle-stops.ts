import type { PodRow } from '../../../src/db/pods/pods.ts'
import { nextIdleLookMs } from '../../../src/domain/pod/idle-stop.ts'
import { workloadIdOf } from '../../../src/domain/pod/workloads.ts'
import { applyIdleStopsOfHost, type IdleOnHost } from '../../../src/effects/pods/idle-stops.ts'
import type { PodHost } from '../../../src/effects/pods/marked-pod.ts'
import type { Env } from '../../../src/env.ts'
import type { Alarms } from '../../alarms.ts'

/** Timer of the host object that is about pods which are to stop when they do nothing. */
export const IDLE_TIMER = 'idle'

export interface HostIdleStopsDeps {
  env: Env
  alarms: Alarms
  now(): number
  /** Of workloads of this host, those that do nothing; none while the host is silent. */
  idle: IdleOnHost
}

/** A look that was cut short is repeated after this. */
const RETRY_MS = 5_000

/**
 * Pods of this host that are stopped when they do nothing (SPD-6). The samples are here, so the decision is. It looks at the earliest instant at
 * which a pod can have been idle for long enough: a pod that works costs a look each time its idle time could have passed.
 */
export class HostIdleStops {
  private readonly deps: HostIdleStopsDeps
  /** The soonest look of a pod that was written while this looked; its row may have been read before. */
  private soonestMs = Number.POSITIVE_INFINITY

  constructor(deps: HostIdleStopsDeps) {
    this.deps = deps
  }

  /** A pod of this host was looked at, because its row has changed. */
  async expect(pod: PodRow): Promise<void> {
    const id = workloadIdOf(pod.id, pod.generation)
    const lookMs = nextIdleLookMs(pod, this.deps.idle([id]).get(id) ?? null, this.deps.now())
    if (lookMs === null) return
    this.soonestMs = Math.min(this.soonestMs, lookMs)
    await this.deps.alarms.setBy(IDLE_TIMER, lookMs)
  }

  async look(here: PodHost): Promise<void> {
    const { env, alarms, now, idle } = this.deps
    const retry = { name: IDLE_TIMER, dueAtMs: now() + RETRY_MS }
    await alarms.set(retry.name, retry.dueAtMs)
    this.soonestMs = Number.POSITIVE_INFINITY
    const nextMs = Math.min((await applyIdleStopsOfHost(env, here, idle, now())) ?? Number.POSITIVE_INFINITY, this.soonestMs)
    if (nextMs === Number.POSITIVE_INFINITY) alarms.clear(retry)
    else await alarms.set(IDLE_TIMER, Math.max(nextMs, now() + 1))
  }
}
