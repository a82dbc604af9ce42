import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { errorText, hasCode } from '../../../node/fail.ts'
import type { Log } from '../../log.ts'
import { answerMessage } from './message.ts'
import type { Zone } from './zone.ts'

/** Attempts to find a port that is free for both UDP and TCP. */
const TRIES = 10
const CONNECTIONS_MAX = 256
const CONNECTIONS_PER_CLIENT = 8
/** Time limit of a silent connection, and of any connection. */
const IDLE_MS = 5_000
const CONNECTION_MAX_MS = 30_000
/** Limit of a question: its name has at most 255 bytes, and the rest is small. */
const QUESTION_MAX_BYTES = 1_024
const LENGTH_BYTES = 2
/**
 * Queue of questions over UDP. One container's burst must not fill it while the agent is busy, because the questions of other accounts
 * would be lost (NET-73). The kernel reduces it to its own limit; twice its usual limit still holds 550 questions.
 */
const QUEUE_BYTES = 2 ** 20
/** Limit of unsent answers to a client that does not read. */
const WAITING_MAX_BYTES = 65_536

export interface NameServerDeps {
  /** Address at which containers reach this machine. */
  address: string
  /** Zones for the container with this address; empty: it is in no private network. Undefined: not known yet. */
  zonesOf(client: string): readonly Zone[] | undefined
  log: Log
}

/** Answers containers' questions for names in their private networks, over UDP and TCP on one port (NET-70). */
export class NameServer {
  private readonly deps: NameServerDeps
  private readonly udp: UdpSocket
  private readonly tcp: Server
  private readonly connections = new Map<Socket, string>()
  readonly port: number

  private constructor(deps: NameServerDeps, udp: UdpSocket, tcp: Server, port: number) {
    this.deps = deps
    this.udp = udp
    this.tcp = tcp
    this.port = port
  }

  /** Listens on a port that the system chooses. Throws when there is none. */
  static async open(deps: NameServerDeps): Promise<NameServer> {
    for (let tries = 1; ; tries += 1) {
      const tcp = createServer()
      tcp.maxConnections = CONNECTIONS_MAX
      tcp.listen({ host: deps.address, port: 0 })
      await once(tcp, 'listening')
      const { port } = tcp.address() as { port: number }
      const udp = createSocket({ type: 'udp4', recvBufferSize: QUEUE_BYTES })
      try {
        udp.bind({ address: deps.address, port, exclusive: true })
        await once(udp, 'listening')
        const server = new NameServer(deps, udp, tcp, port)
        server.serve()
        return server
      } catch (error) {
        udp.close()
        tcp.close()
        if (tries >= TRIES || !hasCode(error, 'EADDRINUSE')) throw error
      }
    }
  }

  private serve(): void {
    const warn = (error: Error) => this.deps.log.warn('names for containers: a socket failed', { error: errorText(error) })
    this.udp.on('error', warn)
    this.tcp.on('error', warn)
    this.udp.on('message', (packet, { address, port }) => {
      const answer = this.answer(packet, 'udp', address)
      // Errors are ignored, because the client may be gone.
      if (answer !== undefined) this.udp.send(answer, port, address, () => {})
    })
    this.tcp.on('connection', (socket) => this.accept(socket))
  }

  /** Catches exceptions, so that a bug costs one answer and not the agent. */
  private answer(packet: Buffer, transport: 'udp' | 'tcp', client: string): Buffer | undefined {
    try {
      return answerMessage(packet, transport, this.deps.zonesOf(client))
    } catch (error) {
      this.deps.log.error('a question for a name could not be answered', { error: errorText(error) })
      return undefined
    }
  }

  private accept(socket: Socket): void {
    const client = socket.remoteAddress ?? ''
    socket.on('error', () => {})
    const held = [...this.connections.values()].filter((address) => address === client).length
    if (client === '' || held >= CONNECTIONS_PER_CLIENT) {
      socket.destroy()
      return
    }
    this.connections.set(socket, client)
    const end = setTimeout(() => socket.destroy(), CONNECTION_MAX_MS)
    socket.on('close', () => {
      clearTimeout(end)
      this.connections.delete(socket)
    })
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    let rest: Buffer = Buffer.alloc(0)
    socket.on('data', (data: Buffer) => {
      rest = this.take(socket, Buffer.concat([rest, data]), client)
    })
  }

  /** Answers all complete questions and returns the beginning of the next one. */
  private take(socket: Socket, bytes: Buffer, client: string): Buffer {
    let rest = bytes
    while (rest.length >= LENGTH_BYTES && !socket.destroyed) {
      const end = LENGTH_BYTES + rest.readUInt16BE(0)
      if (end > QUESTION_MAX_BYTES || socket.writableLength > WAITING_MAX_BYTES) socket.destroy()
      if (rest.length < end) break
      const answer = this.answer(rest.subarray(LENGTH_BYTES, end), 'tcp', client)
      if (answer === undefined) socket.destroy()
      else socket.write(Buffer.concat([lengthOf(answer), answer]))
      rest = rest.subarray(end)
    }
    return rest
  }

  close(): void {
    this.udp.close()
    this.tcp.close()
    for (const socket of this.connections.keys()) socket.destroy()
  }
}

function lengthOf({ length }: Buffer): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt16BE(length)
  return bytes
}
