/** How long before its end the host gives up on a lease, so that its workers are down before the plane acts. */
const MARGIN_MS = 5_000

/**
 * The host's own, monotonic idea of its lease. The plane counts from when a beat arrives, the host from when it was
 * sent, so the host is always first, whatever the clocks say.
 */
export class LeaseWatch {
  private readonly leaseMs: number
  private readonly onLost: () => void
  private timer: NodeJS.Timeout | undefined

  constructor(leaseMs: number, onLost: () => void) {
    this.leaseMs = leaseMs
    this.onLost = onLost
    this.renew(performance.now())
  }

  renew(sentAtMonotonicMs: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(this.onLost, sentAtMonotonicMs + this.leaseMs - MARGIN_MS - performance.now())
  }

  close(): void {
    clearTimeout(this.timer)
  }
}
