/** Smaller differences are the one-second grain of the Date header and the time on the wire. */
const NOISE_MS = 2_000

/**
 * The plane's clock as seen from here. A GPU machine with a wrong clock would sign assertions that are not valid yet or
 * not any more, so times in them are the plane's, learned from the Date header of its answers.
 */
export class PlaneClock {
  private offsetMs = 0

  now(): number {
    return this.fromHost(Date.now())
  }

  /** What the plane's clock showed when this machine's showed `hostMs`. */
  fromHost(hostMs: number): number {
    return hostMs + this.offsetMs
  }

  /** Returns whether this changed our idea of the time enough that a refused signature is worth another try. */
  learn(dateHeader: string | null): boolean {
    const planeMs = Date.parse(dateHeader ?? '')
    if (Number.isNaN(planeMs)) return false
    const former = this.offsetMs
    const measured = planeMs - Date.now()
    this.offsetMs = Math.abs(measured) < NOISE_MS ? 0 : measured
    return Math.abs(this.offsetMs - former) >= NOISE_MS
  }
}
