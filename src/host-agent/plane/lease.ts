import { hostPatienceMs } from '../../host-protocol/silence.ts'

/** After this much silence the first workers are stopped. */
const FIRST_STOP_MS = hostPatienceMs(0, 0)

/** Acts on the silence since then, and says after how much of it to act again; null: not before the next beat is acknowledged. */
export type OnSilence = (sinceMs: number, nowMs: number) => number | null

/**
 * The host's own, monotonic idea of its lease. The plane counts from when a beat arrives, the host from when it was
 * sent, so the host is always first, whatever the clocks say.
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
