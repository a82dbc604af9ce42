import { TUNNEL_ABILITIES, TUNNEL_PING, TUNNEL_PONG, TUNNEL_SILENCE_MS, type TunnelAbility } from '../../src/host-protocol/tunnel/frames.ts'
import { TunnelEnd } from '../../src/host-protocol/tunnel/tunnel-end.ts'
import { logEvent } from '../../src/platform/log.ts'

/** Stream numbers reserved at a time, so that the socket's attachment is not written for each stream. */
const NUMBERS_AT_ONCE = 1_024
const REPLACED = 4000
const VIOLATION = 4003
const SILENT = 4004

interface Noted {
  /** Time at which the socket was accepted; it counts as the last ping until the first one. */
  openedAtMs: number
  /** No stream has had this number or a higher one. */
  nextStream: number
  /** Abilities of the agent besides requests to workers. */
  serves: TunnelAbility[]
}

/**
 * The WebSocket of one agent, the last one that it opened. It may hibernate while idle: state that must survive that is attached to the
 * socket.
 */
export class TunnelConnection {
  private readonly ctx: DurableObjectState
  private readonly now: () => number
  private open: { socket: WebSocket; end: TunnelEnd } | null = null

  constructor(ctx: DurableObjectState, now: () => number) {
    this.ctx = ctx
    this.now = now
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(TUNNEL_PING, TUNNEL_PONG))
  }

  /** Accepts a new socket and closes earlier ones; returns the agent's socket. */
  accept(serves: string): WebSocket {
    for (const socket of this.ctx.getWebSockets()) this.drop(socket, REPLACED, 'replaced by a newer tunnel')
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    pair[1].serializeAttachment({ openedAtMs: this.now(), nextStream: 0, serves: abilitiesIn(serves) } satisfies Noted)
    return pair[0]
  }

  /** The end at which streams are opened; null while no agent is connected. */
  current(): TunnelEnd | null {
    const socket = this.ctx.getWebSockets().find(({ readyState }) => readyState === WebSocket.READY_STATE_OPEN)
    if (socket === undefined) return null
    if (this.isSilent(socket)) {
      this.drop(socket, SILENT, 'no ping')
      return null
    }
    return this.endOf(socket)
  }

  /** Whether the agent has an ability; for the end that `current` returned. */
  serves(ability: TunnelAbility): boolean {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- a tunnel that an earlier release accepted has none
    return this.open !== null && (notedOf(this.open.socket).serves ?? []).includes(ability)
  }

  receive(socket: WebSocket, message: ArrayBuffer | string): void {
    // A message that was in transit when the socket was closed: a new end for it would replace the one in use.
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return
    try {
      if (typeof message === 'string') throw new Error('text')
      this.endOf(socket).receive(new Uint8Array(message))
    } catch (error) {
      logEvent('warn', 'an agent broke the rules of its tunnel', { error })
      this.drop(socket, VIOLATION, 'not understood')
    }
  }

  /** Handles the end of a connection: its streams fail. */
  closed(socket: WebSocket): void {
    if (this.open?.socket !== socket) return
    const { end } = this.open
    this.open = null
    end.fail('the connection to the host of the worker ended')
  }

  /** Called periodically while streams are open, because otherwise the silence of their agent would go unnoticed. */
  check(): void {
    this.current()
  }

  private drop(socket: WebSocket, code: number, reason: string): void {
    try {
      socket.close(code, reason)
    } catch {
      // Closed already.
    }
    this.closed(socket)
  }

  private isSilent(socket: WebSocket): boolean {
    const heardAtMs = this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? notedOf(socket).openedAtMs
    return this.now() - heardAtMs > TUNNEL_SILENCE_MS
  }

  private endOf(socket: WebSocket): TunnelEnd {
    if (this.open?.socket === socket) return this.open.end
    const noted = notedOf(socket)
    let setAside = noted.nextStream
    const end: TunnelEnd = new TunnelEnd({
      firstStream: noted.nextStream,
      now: this.now,
      send: (message) => {
        if (end.nextStream >= setAside) {
          setAside = end.nextStream + NUMBERS_AT_ONCE
          socket.serializeAttachment({ ...noted, nextStream: setAside } satisfies Noted)
        }
        socket.send(message)
      },
    })
    this.open = { socket, end }
    return end
  }
}

function abilitiesIn(text: string): TunnelAbility[] {
  const named = text.split(',').map((name) => name.trim())
  return TUNNEL_ABILITIES.filter((ability) => named.includes(ability))
}

function notedOf(socket: WebSocket): Noted {
  return socket.deserializeAttachment() as Noted
}
