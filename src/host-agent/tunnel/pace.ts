/** Burst of a command's output, and the rate behind it, for a client that grants no credit. */
const BURST_BYTES = 8 * 2 ** 20
const BYTES_PER_SECOND = 512 * 1024
const SECOND_MS = 1_000

/**
 * Limits the output to a client that does not report what it has read (HOST-137): unread output is buffered in the plane, in an object that
 * serves all workloads of this host. Pure except for its clock.
 */
export class Pace {
  private readonly now: () => number
  private left = BURST_BYTES
  private at: number

  constructor(now: () => number) {
    this.now = now
    this.at = now()
  }

  /** Counts bytes; returns the delay in ms before they are sent. */
  take(bytes: number): number {
    const nowMs = this.now()
    this.left = Math.min(BURST_BYTES, this.left + ((nowMs - this.at) / SECOND_MS) * BYTES_PER_SECOND)
    this.at = nowMs
    this.left -= bytes
    return Math.max(0, (-this.left / BYTES_PER_SECOND) * SECOND_MS)
  }
}
