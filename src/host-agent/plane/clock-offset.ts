/** Smaller differences are ignored: the Date header has a resolution of one second, and the answer takes time to arrive. */
const NOISE_MS = 2_000

/**
 * Estimates the plane's clock. A GPU machine with a wrong clock would sign assertions that are not valid yet or have expired, so their
 * times are the plane's, estimated from the Date header of its answers.
 */
export class PlaneClock {
  private offsetMs = 0

  now(): number {
    return this.fromHost(Date.now())
  }

  /** Returns the plane's time, in ms since the epoch, at the moment when this machine's clock showed `hostMs`. */
  fromHost(hostMs: number): number {
    return hostMs + this.offsetMs
  }

  /**
   * Updates the offset from a Date header. Returns whether it changed by `NOISE_MS` or more, so that a refused signature is worth another
   * try.
   */
  update(dateHeader: string | null): boolean {
    const planeMs = Date.parse(dateHeader ?? '')
    if (Number.isNaN(planeMs)) return false
    const previous = this.offsetMs
    const measured = planeMs - Date.now()
    this.offsetMs = Math.abs(measured) < NOISE_MS ? 0 : measured
    return Math.abs(this.offsetMs - previous) >= NOISE_MS
  }
}
