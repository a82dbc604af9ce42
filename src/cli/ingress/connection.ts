import { ApiError } from '../../client/client.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { CHANNELS, creditMessage, type ExitStatus, MESSAGE_BYTES, message, readStatus, resizeMessage, WINDOW_BYTES } from './channels.ts'

/**
 * Options of a connection. Both ends grant credit for the bytes that they consume, so neither buffers more than one window per direction.
 */
export interface ConnectionOptions {
  /** Command with its arguments; a login shell if left out. */
  command?: readonly string[]
  terminal?: { rows: number; cols: number; term: string }
}

/** Output of a command in a pod, as it arrives. */
export interface Heard {
  channel: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/** Command in a pod, over a WebSocket of the plane (CMD-30). */
export class PodConnection {
  private readonly socket: WebSocket
  private readonly arrived: Heard[] = []
  private sendable = WINDOW_BYTES
  private unsaid = 0
  private ended: ExitStatus | undefined
  private wake = Promise.withResolvers<void>()

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => this.hear(new Uint8Array(data as ArrayBuffer)))
    socket.addEventListener('close', ({ reason }) => this.end({ exitCode: null, message: reason || 'the connection to the pod ended' }))
  }

  /** Opens the connection. Throws the reason if the pod cannot be entered. */
  static async open(session: Session, podId: string, { command, terminal }: ConnectionOptions): Promise<PodConnection> {
    const query = {
      flow: true,
      ...(command !== undefined && { command }),
      ...(terminal !== undefined && { tty: true, ...terminal }),
    }
    if (session.printer !== undefined) throw usage('this command uses a WebSocket, which cannot be printed as curl')
    const address = session.api.execInPod({ path: { id: podId }, query })
    // The WebSocket of Node takes no headers; the plane reads the key from the subprotocols (NET-10).
    const key = Buffer.from(session.key).toString('base64url')
    const socket = new WebSocket(address, ['v5.channel.k8s.io', `base64url.bearer.authorization.podplane.${key}`])
    socket.binaryType = 'arraybuffer'
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.addEventListener('open', () => resolve(true), { once: true })
      socket.addEventListener('error', () => resolve(false), { once: true })
    })
    if (isOpen) return new PodConnection(socket)
    throw await refusalOf(session, address)
  }

  /** Resolves to the next output; undefined after the last. One reader at a time. */
  async read(): Promise<Heard | undefined> {
    for (;;) {
      const next = this.arrived.shift()
      if (next !== undefined) return next
      if (this.ended !== undefined) return undefined
      await this.wake.promise
    }
  }

  /** Reports consumed bytes, for which the other end may send as many more. */
  taken(bytes: number): void {
    this.unsaid += bytes
    if (this.unsaid < WINDOW_BYTES / 4) return
    this.say(creditMessage(this.unsaid))
    this.unsaid = 0
  }

  /** Status of the command; final once `read` has returned undefined. */
  get status(): ExitStatus {
    return this.ended ?? { exitCode: null, message: 'the command has not ended' }
  }

  /** Resolves once all bytes are sent. One writer at a time. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length && this.ended === undefined; ) {
      if (this.sendable <= 0) {
        await this.wake.promise
        continue
      }
      const part = bytes.subarray(from, from + Math.min(this.sendable, MESSAGE_BYTES))
      this.sendable -= part.length
      from += part.length
      this.say(message('stdin', part))
    }
  }

  endInput(): void {
    this.say(message('close', new Uint8Array([CHANNELS.stdin])))
  }

  resize(rows: number, cols: number): void {
    this.say(resizeMessage(rows, cols))
  }

  /** Closes the connection, which ends the command. */
  close(): void {
    this.socket.close()
  }

  private hear(bytes: Uint8Array): void {
    const body = bytes.subarray(1)
    if (bytes[0] === CHANNELS.stdout) this.arrived.push({ channel: 'stdout', bytes: body })
    else if (bytes[0] === CHANNELS.stderr) this.arrived.push({ channel: 'stderr', bytes: body })
    else if (bytes[0] === CHANNELS.credit) this.sendable += Buffer.from(body).readUInt32BE(0)
    else if (bytes[0] === CHANNELS.status) this.end(readStatus(body))
    this.next()
  }

  private end(status: ExitStatus): void {
    this.ended ??= status
    this.next()
  }

  private say(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes)
  }

  private next(): void {
    this.wake.resolve()
    this.wake = Promise.withResolvers<void>()
  }
}

/** A WebSocket does not state why it was refused; the same request without an upgrade does. */
async function refusalOf(session: Session, address: URL): Promise<Error> {
  try {
    await session.api.request('GET', address.pathname + address.search)
  } catch (error) {
    // Status 400 only reports the missing upgrade: nothing else is wrong.
    if (!(error instanceof ApiError) || error.status !== 400) return error as Error
  }
  return new CliError(EXIT.UNREACHABLE, 'no_websocket', 'the plane answers, but the WebSocket connection failed', {
    hint: 'a proxy may block WebSockets; podplane doctor checks the connection',
  })
}
