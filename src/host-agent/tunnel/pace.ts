/** So much of a command's output is passed on at once to a client that grants no credit, and so much a second behind it. */
const BURST_BYTES = 8 * 2 ** 20
const BYTES_PER_SECOND = 512 * 1024
const SECOND_MS = 1_000

/**
 * How fast output goes to a client of which nobody knows whether it reads (HOST-137): what it does not read is held by the plane, in an object that
 * serves all workloads of this host. Pure but for the clock that it is given.
 */
export class Pace {
  private readonly now: () => number
  private left = BURST_BYTES
  private at: number

  constructor(now: () => number) {
    this.now = now
    this.at = now()
  }

  /** Takes these bytes; how long to wait before they are sent, milliseconds. */
  take(bytes: number): number {
    const nowMs = this.now()
    this.left = Math.min(BURST_BYTES, this.left + ((nowMs - this.at) / SECOND_MS) * BYTES_PER_SECOND)
    this.at = nowMs
    this.left -= bytes
    return Math.max(0, (-this.left / BYTES_PER_SECOND) * SECOND_MS)
  }
}
