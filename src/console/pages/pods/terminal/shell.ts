import { heard, protocolsFor, resized, typed } from './channels.ts'

/** State of a shell; an ended shell is never opened again. */
export type ShellState = 'connecting' | 'open' | 'ended'

interface ShellEvents {
  onOutput: (bytes: Uint8Array) => void
  /** Receives each state with a text that is shown and read out. */
  onState: (state: ShellState, message: string) => void
}

/** Shell in a pod, over a WebSocket that the session cookie authenticates. */
export class Shell {
  private readonly socket: WebSocket
  private isOver = false
  private wasOpen = false

  constructor(address: URL, accountId: string | null, { onOutput, onState }: ShellEvents) {
    const end = (message: string) => {
      if (this.isOver) return
      this.isOver = true
      onState('ended', message)
    }
    onState('connecting', 'Connecting')
    this.socket = new WebSocket(address, protocolsFor(accountId))
    this.socket.binaryType = 'arraybuffer'
    this.socket.addEventListener('open', () => {
      this.wasOpen = true
      onState('open', 'Connected')
    })
    this.socket.addEventListener('message', ({ data }) => {
      if (!(data instanceof ArrayBuffer)) return
      const said = heard(new Uint8Array(data))
      if (said.kind === 'output') onOutput(said.bytes)
      if (said.kind === 'ended') end(said.message)
    })
    this.socket.addEventListener('close', ({ reason }) => end(endedBy(reason, this.wasOpen)))
  }

  type(text: string): void {
    this.send(typed(text))
  }

  resize(rows: number, cols: number): void {
    this.send(resized(rows, cols))
  }

  /** Closes the shell without an event. */
  close(): void {
    this.isOver = true
    this.socket.close()
  }

  private send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes)
  }
}

/** Message for a shell whose socket has closed without a status: the plane or the connection is lost, or the shell never started. */
function endedBy(reason: string, wasOpen: boolean): string {
  if (reason !== '') return `Closed: ${reason}.`
  return wasOpen
    ? 'The connection to the plane is lost, and the shell with it. Its output stays here; connect again for a new shell.'
    : 'The shell did not open: the plane, or the machine of the pod, does not answer. Connect again in a moment.'
}
