/** Bytes that may wait in the connection before streams wait for it: more would only make a neighbour's next bytes later. */
const MAX_WAITING_BYTES = 256 * 1024

/** Whose turn it is to send: in the order in which they asked, so that streams that send much take turns frame by frame. */
export class Turns {
  private readonly waiting: (() => void)[] = []
  private readonly waitingBytes: () => number

  /** `waitingBytes`: what the connection has been given and not yet sent. */
  constructor(waitingBytes: () => number) {
    this.waitingBytes = waitingBytes
  }

  take(): Promise<void> {
    if (this.waiting.length === 0 && this.waitingBytes() < MAX_WAITING_BYTES) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  /** Some of it is sent. */
  drained(): void {
    while (this.waiting.length > 0 && this.waitingBytes() < MAX_WAITING_BYTES) this.waiting.shift()?.()
  }

  /** The connection is gone: whoever waits finds that out by itself. */
  close(): void {
    for (const go of this.waiting.splice(0)) go()
  }
}
