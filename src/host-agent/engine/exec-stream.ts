import type { Duplex } from 'node:stream'
import type { ExecOutput } from '../runtime.ts'

/** Both directions of a command that runs in a container. */
export interface ExecStream {
  /** Ends when the command or the connection ends. */
  output: AsyncIterable<Buffer>
  /** Resolves when there is room for more input. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the input. */
  endInput(): void
  /** Closes the connection. The command continues, because the engine ends none. */
  close(): void
}

/** An `ExecStream` over a connection to the engine. */
export function overConnection(connection: Duplex): ExecStream {
  // A reader gets the error from the stream; without a reader it has no effect.
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

/** The output of a command that has one channel. */
export async function* asStdout({ output }: Pick<ExecStream, 'output'>): AsyncGenerator<ExecOutput> {
  for await (const bytes of output) yield { channel: 'stdout', bytes }
}

/** Flow control for the input of a call through the pipe: at most one window is in transit. */
export class InputWindow {
  private left: number
  private isOver = false
  private wake = Promise.withResolvers<void>()

  constructor(windowBytes: number) {
    this.left = windowBytes
  }

  /** Reserves bytes to send, at most `wanted`; waits while the window is full. Throws when the command takes no more input. */
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
