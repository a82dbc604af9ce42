import type { Silence } from '../../src/domain/pod/pod.ts'
import { excuseSilence } from '../../src/effects/pods/pod-hosts.ts'
import type { Env } from '../../src/env.ts'
import type { Alarms } from '../alarms.ts'
import type { WorkloadStore } from './workload-store.ts'

const SILENCE_KEY = 'silence'

/** Timer of the host object for a silence that has ended. */
export const SILENCE_TIMER = 'silence'

export interface HostSilenceDeps {
  env: Env
  store: WorkloadStore
  alarms: Alarms
  now(): number
  /** Last sign of life of a host that is silent; null while it beats. */
  silentSinceMs(): number | null
}

/**
 * A silence of the host that has ended, stored until it is excluded from the charges of its pods (POD-23). One write at its end, none for a
 * beat.
 */
export class HostSilence {
  private readonly deps: HostSilenceDeps

  constructor(deps: HostSilenceDeps) {
    this.deps = deps
  }

  /** Stores the silence that the host's next message ends, before the host counts as present. */
  async ends(): Promise<void> {
    const { store, alarms, now, silentSinceMs } = this.deps
    const sinceMs = silentSinceMs()
    if (sinceMs === null) return
    // A silence that follows before the first is excluded is merged with it, so that the moment in between is not charged.
    const fromMs = Math.min(sinceMs, this.over()?.fromMs ?? sinceMs)
    store.writeMeta(SILENCE_KEY, JSON.stringify({ fromMs, toMs: now() } satisfies Silence))
    await alarms.setBy(SILENCE_TIMER, now())
  }

  /** Excludes the ended silence from charges. Runs before other changes to the host's pods; an error is retried by the timer. */
  async exclude(hostId: string): Promise<void> {
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
