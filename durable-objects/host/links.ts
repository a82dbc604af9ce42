import { AGENT_PROCESS_HEADER, AgentMessage, type PlaneMessage } from '../../src/host-protocol/messages.ts'
import { addressOfLink } from '../../src/objects/host-link.ts'

const MAX_MESSAGE_CHARS = 1_000_000
const REPLACED = 'replaced by a newer link'

/** The agent at the other end of a link. */
export interface LinkEnd {
  /** Id of the agent process; null: the agent sends none. */
  process: string | null
  address: string | null
}

interface LinkState extends LinkEnd {
  lastBeatAtMs: number
  /** Whether the agent takes the desired state in parts. */
  takesParts: boolean
  /** Whether the agent has said hello. Before that the link is sent nothing and does not count (HOST-78). */
  greeted: boolean
}

/**
 * The hibernatable sockets of one host. The time of the last message is attached to each socket, so it survives hibernation without a
 * write.
 */
export class HostLinks {
  private readonly ctx: DurableObjectState
  private readonly now: () => number

  constructor(ctx: DurableObjectState, now: () => number) {
    this.ctx = ctx
    this.now = now
  }

  /** Accepts a new link; returns the agent's socket. The link in use stays open until the new one has said hello. */
  accept(request: Request): { agent: WebSocket; plane: WebSocket } {
    for (const socket of this.ctx.getWebSockets()) if (!isGreeted(socket)) socket.close(4000, REPLACED)
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    const end = { process: request.headers.get(AGENT_PROCESS_HEADER), address: addressOfLink(request) }
    pair[1].serializeAttachment({ ...end, lastBeatAtMs: this.now(), takesParts: false, greeted: false } satisfies LinkState)
    return { agent: pair[0], plane: pair[1] }
  }

  /** Makes a link that has said hello the one in use; closes the earlier ones and passes them to `onReplaced`. */
  greet(socket: WebSocket, onReplaced: (newer: LinkEnd, older: LinkEnd) => void): void {
    const newer = stateOf(socket)
    socket.serializeAttachment({ ...newer, greeted: true } satisfies LinkState)
    for (const other of this.inUse()) {
      if (other === socket) continue
      onReplaced(newer, stateOf(other))
      other.close(4000, REPLACED)
    }
  }

  /** Records a message on the link. `takesPartsNow`: the ability that a hello states. */
  heard(socket: WebSocket, takesPartsNow = takesParts(socket)): void {
    socket.serializeAttachment({ ...stateOf(socket), lastBeatAtMs: this.now(), takesParts: takesPartsNow } satisfies LinkState)
  }

  /** Whether a link in use had a message within the last `ms`. */
  heardWithin(ms: number): boolean {
    const heardAtMs = this.lastHeardAtMs()
    return heardAtMs !== null && this.now() - heardAtMs < ms
  }

  /** Time of the last message on a link in use; null without one. */
  lastHeardAtMs(): number | null {
    const times = this.inUse().map(lastBeat)
    return times.length === 0 ? null : Math.max(...times)
  }

  none(): boolean {
    return this.inUse().length === 0
  }

  broadcast(message: PlaneMessage): void {
    for (const socket of this.inUse()) sendTo(socket, message)
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.open()) socket.close(code, reason)
  }

  /** Open links whose agent has said hello. */
  inUse(): WebSocket[] {
    return this.open().filter(isGreeted)
  }

  private open(): WebSocket[] {
    return this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.READY_STATE_OPEN)
  }
}

/** Sends to one socket. A link that breaks meanwhile loses nothing: the agent gets the whole state when it reconnects. */
export function sendTo(socket: WebSocket, message: PlaneMessage): void {
  try {
    socket.send(JSON.stringify(message))
  } catch {
    // The agent gets the whole state when it reconnects.
  }
}

/** Time of the last message on a socket, even a closed one. */
export function lastBeat(socket: WebSocket): number {
  return stateOf(socket).lastBeatAtMs
}

/** Whether the agent at the other end takes the desired state in parts (HOST-71). */
export function takesParts(socket: WebSocket): boolean {
  return stateOf(socket).takesParts
}

/** Whether the agent of a link has said hello. */
export function isGreeted(socket: WebSocket): boolean {
  return stateOf(socket).greeted
}

function stateOf(socket: WebSocket): LinkState {
  const state = socket.deserializeAttachment() as Partial<LinkState> | null
  return { process: null, address: null, lastBeatAtMs: 0, greeted: false, takesParts: false, ...state }
}

/** Parses a message of an agent; null when it is not valid. */
export function readMessage(data: string | ArrayBuffer): AgentMessage | null {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_CHARS) return null
  try {
    return AgentMessage.safeParse(JSON.parse(data)).data ?? null
  } catch {
    return null
  }
}
