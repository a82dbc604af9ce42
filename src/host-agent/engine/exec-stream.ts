import type { Duplex } from 'node:stream'

/** Both directions of a command that runs in a container, as the engine sends them. */
export interface ExecStream {
  /** Ends when the command has, or the connection. */
  output: AsyncIterable<Buffer>
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  /** No more input. */
  endInput(): void
  /** The command itself goes on: the engine ends none. */
  close(): void
}

/** A connection to the engine as such a stream. */
export function overConnection(connection: Duplex): ExecStream {
  // Whoever reads hears of it; whoever has left does not care.
  connection.on('error', () => {})
  return {
    output: connection as AsyncIterable<Buffer>,
    write: (bytes) =>
      new Promise((resolve, reject) =>
        connection.write(bytes, (error) => (error ? reject(new Error('the command takes no more')) : resolve())),
      ),
    endInput: () => void connection.end(),
    close: () => void connection.destroy(),
  }
}

/** Input of a call on its way through the pipe: no more than a window is under way. */
export class InputWindow {
  private left: number
  private isOver = false
  private wake = Promise.withResolvers<void>()

  constructor(windowBytes: number) {
    this.left = windowBytes
  }

  /** Bytes that may be sent now, at most as many as wanted; throws when nobody takes them any more. */
  async take(wanted: number): Promise<number> {
    while (this.left === 0 && !this.isOver) await this.wake.promise
    if (this.isOver) throw new Error('the command takes no more')
    const bytes = Math.min(wanted, this.left)
    this.left -= bytes
    return bytes
  }

  taken(bytes: number): void {
    this.left += bytes
    this.next()
  }

  end(): void {
    this.isOver = true
    this.next()
  }

  private next(): void {
    this.wake.resolve()
    this.wake = Promise.withResolvers<void>()
  }
}
