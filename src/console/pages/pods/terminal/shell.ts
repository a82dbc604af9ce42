import { heard, protocolsFor, resized, typed } from './channels.ts'

export type ShellState = 'connecting' | 'open' | 'ended'

interface ShellEvents {
  onOutput: (bytes: Uint8Array) => void
  /** What is to be said of it, for who looks and for who listens. */
  onState: (state: ShellState, words: string) => void
}

/** A shell in a pod, over a WebSocket that the session's cookie opens. */
export class Shell {
  private readonly socket: WebSocket
  private isOver = false

  constructor(address: URL, accountId: string | null, { onOutput, onState }: ShellEvents) {
    const end = (words: string) => {
      if (this.isOver) return
      this.isOver = true
      onState('ended', words)
    }
    onState('connecting', 'Connecting')
    this.socket = new WebSocket(address, protocolsFor(accountId))
    this.socket.binaryType = 'arraybuffer'
    this.socket.addEventListener('open', () => onState('open', 'Connected'))
    this.socket.addEventListener('message', ({ data }) => {
      if (!(data instanceof ArrayBuffer)) return
      const said = heard(new Uint8Array(data))
      if (said.kind === 'output') onOutput(said.bytes)
      if (said.kind === 'ended') end(said.words)
    })
    this.socket.addEventListener('close', ({ reason }) => end(reason === '' ? 'The connection is closed.' : `Closed: ${reason}.`))
  }

  type(text: string): void {
    this.send(typed(text))
  }

  resize(rows: number, cols: number): void {
    this.send(resized(rows, cols))
  }

  /** Leaves it without a further word. */
  close(): void {
    this.isOver = true
    this.socket.close()
  }

  private send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes)
  }
}
