import { hostPatienceMs } from '../../host-protocol/silence.ts'

/** Silence after which the first workers are stopped. */
const FIRST_STOP_MS = hostPatienceMs(0, 0)

/**
 * Acts on the silence since `sinceMs`. Returns the silence, in ms, after which to call it again; null: not before the next acknowledged
 * beat.
 */
export type OnSilence = (sinceMs: number, nowMs: number) => number | null

/**
 * Measures the host's lease by its own monotonic clock. The plane counts from the arrival of a beat, the host from its sending, so the host
 * always acts first, whatever the clocks say.
 */
export class LeaseWatch {
  private readonly onSilence: OnSilence
  private sinceMs = 0
  private timer: NodeJS.Timeout | undefined

  constructor(onSilence: OnSilence) {
    this.onSilence = onSilence
    this.renew(performance.now())
  }

  renew(sentAtMonotonicMs: number): void {
    this.sinceMs = sentAtMonotonicMs
    this.arm(FIRST_STOP_MS)
  }

  close(): void {
    clearTimeout(this.timer)
  }

  private arm(silenceMs: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.act(), this.sinceMs + silenceMs - performance.now())
  }

  private act(): void {
    const nextMs = this.onSilence(this.sinceMs, performance.now())
    if (nextMs !== null) this.arm(nextMs)
  }
}
