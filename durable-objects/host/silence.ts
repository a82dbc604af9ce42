import type { Silence } from '../../src/domain/pod/pod.ts'
import { excuseSilence } from '../../src/effects/pods/pod-hosts.ts'
import type { Env } from '../../src/env.ts'
import type { Alarms } from '../alarms.ts'
import type { WorkloadStore } from './workload-store.ts'

const SILENCE_KEY = 'silence'

/** Timer of the host object that is about a silence that is over. */
export const SILENCE_TIMER = 'silence'

export interface HostSilenceDeps {
  env: Env
  store: WorkloadStore
  alarms: Alarms
  now(): number
  /** Last sign of life of a host that is silent now; null while it is heard of. */
  silentSinceMs(): number | null
}

/** A silence of the host that is over, until it has been left out of what its pods are charged (POD-23). One write at its end, none for a beat. */
export class HostSilence {
  private readonly deps: HostSilenceDeps

  constructor(deps: HostSilenceDeps) {
    this.deps = deps
  }

  /** The host is about to be heard of: what this ends is kept before anything says that it is there. */
  async ends(): Promise<void> {
    const { store, alarms, now, silentSinceMs } = this.deps
    const sinceMs = silentSinceMs()
    if (sinceMs === null) return
    // One that follows before the first is dealt with makes them one: nobody pays for a moment in between.
    const fromMs = Math.min(sinceMs, this.over()?.fromMs ?? sinceMs)
    store.writeMeta(SILENCE_KEY, JSON.stringify({ fromMs, toMs: now() } satisfies Silence))
    await alarms.setBy(SILENCE_TIMER, now())
  }

  /** Leaves out what is over. Before whatever else becomes of the host's pods; what throws is done again by the timer. */
  async settle(hostId: string): Promise<void> {
    const silence = this.over()
    if (!silence) return
    await excuseSilence(this.deps.env, hostId, silence)
    if (this.over()?.toMs === silence.toMs) this.deps.store.clearMeta(SILENCE_KEY)
  }

  private over(): Silence | null {
    const text = this.deps.store.readMeta(SILENCE_KEY)
    return text === null ? null : (JSON.parse(text) as Silence)
  }
}
