/** Bytes that may be buffered in the connection before streams wait for a turn; more would only delay the next bytes of other streams. */
const MAX_WAITING_BYTES = 256 * 1024

/** Grants turns to send in the order of the requests, so that busy streams alternate frame by frame. */
export class Turns {
  private readonly waiting: (() => void)[] = []
  private readonly waitingBytes: () => number

  /** `waitingBytes`: returns the bytes that were given to the connection and are not sent yet. */
  constructor(waitingBytes: () => number) {
    this.waitingBytes = waitingBytes
  }

  take(): Promise<void> {
    if (this.waiting.length === 0 && this.waitingBytes() < MAX_WAITING_BYTES) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  /** Grants waiting turns after bytes were sent. */
  drained(): void {
    while (this.waiting.length > 0 && this.waitingBytes() < MAX_WAITING_BYTES) this.waiting.shift()?.()
  }

  /** Grants all waiting turns when the connection has ended: each sender then notices that its stream is over. */
  close(): void {
    for (const go of this.waiting.splice(0)) go()
  }
}
