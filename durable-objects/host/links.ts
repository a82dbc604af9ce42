import { AgentMessage, type PlaneMessage } from '../../src/host-protocol/messages.ts'

const MAX_MESSAGE_CHARS = 1_000_000

interface LinkState {
  lastBeatAtMs: number
  takesParts: boolean
}

/** The hibernatable sockets of one host. When each was last heard is kept with the socket, so it survives hibernation without a write. */
export class HostLinks {
  private readonly ctx: DurableObjectState
  private readonly now: () => number

  constructor(ctx: DurableObjectState, now: () => number) {
    this.ctx = ctx
    this.now = now
  }

  /** Accepts a new link, replacing any older one; returns the socket that goes to the agent. */
  accept(): { agent: WebSocket; plane: WebSocket } {
    for (const socket of this.ctx.getWebSockets()) socket.close(4000, 'replaced by a newer link')
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    this.heard(pair[1])
    return { agent: pair[0], plane: pair[1] }
  }

  /** `takesParts`: of its agent, when it says so. */
  heard(socket: WebSocket, takesPartsNow = takesParts(socket)): void {
    socket.serializeAttachment({ lastBeatAtMs: this.now(), takesParts: takesPartsNow } satisfies LinkState)
  }

  /** Whether the host was heard of within the last `ms`. */
  heardWithin(ms: number): boolean {
    const heardAtMs = this.lastHeardAtMs()
    return heardAtMs !== null && this.now() - heardAtMs < ms
  }

  /** When an open link was last heard; null without one. */
  lastHeardAtMs(): number | null {
    const times = this.open().map(lastBeat)
    return times.length === 0 ? null : Math.max(...times)
  }

  none(): boolean {
    return this.open().length === 0
  }

  broadcast(message: PlaneMessage): void {
    for (const socket of this.open()) sendTo(socket, message)
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.open()) socket.close(code, reason)
  }

  open(): WebSocket[] {
    return this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.READY_STATE_OPEN)
  }
}

/** Sends to one socket. A link that breaks meanwhile loses nothing: the agent gets the whole state when it reconnects. */
export function sendTo(socket: WebSocket, message: PlaneMessage): void {
  try {
    socket.send(JSON.stringify(message))
  } catch {
    // See above.
  }
}

/** When a socket was last heard, also one that has closed. */
export function lastBeat(socket: WebSocket): number {
  return stateOf(socket)?.lastBeatAtMs ?? 0
}

/** Whether the agent at the other end takes the desired state in parts (HOST-71). */
export function takesParts(socket: WebSocket): boolean {
  return stateOf(socket)?.takesParts ?? false
}

function stateOf(socket: WebSocket): LinkState | null {
  return socket.deserializeAttachment() as LinkState | null
}

/** What an agent says; null when it is not understood. */
export function readMessage(data: string | ArrayBuffer): AgentMessage | null {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_CHARS) return null
  try {
    return AgentMessage.safeParse(JSON.parse(data)).data ?? null
  } catch {
    return null
  }
}
