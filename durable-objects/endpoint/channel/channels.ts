import { AgentFrame, KEEP_ALIVE, KEEP_ALIVE_ANSWER, type PlaneFrame, readFrame } from '../../../src/host-protocol/worker-channel.ts'
import type { ChannelCall } from '../../../src/objects/worker-channel.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { Outside } from '../parts.ts'
import { problemReply } from '../replies.ts'
import { type CallParts, ChannelCalls } from './calls.ts'

const REPLACED = { code: 4000, reason: 'replaced by a newer channel' }
const NOT_UNDERSTOOD = { code: 4400, reason: 'the plane does not understand a frame of this agent' }
const ENDPOINT_GONE = { code: 4404, reason: 'the endpoint was deleted' }
const HOST_GONE = { code: 4001, reason: 'the host is gone' }

type ChannelParts = CallParts &
  Outside & { readonly ctx: Pick<DurableObjectState, 'acceptWebSocket' | 'getWebSockets' | 'setWebSocketAutoResponse'> }

/** Hibernatable worker channels of an endpoint, one for each host (HOST-100). Open calls are in memory only, and the agents repeat them. */
export class WorkerChannels {
  private readonly core: ChannelParts
  private readonly calls = new Map<WebSocket, ChannelCalls>()
  /** The channel of each host. */
  private readonly current = new Map<string, WebSocket>()

  constructor(core: ChannelParts) {
    this.core = core
    // Sockets of before: the object was out of memory, and knows no open call.
    for (const socket of this.sockets()) {
      const { hostId, heardAtMs } = attachedTo(socket)
      this.join(socket, hostId)
      if (heardAtMs !== null) core.channelHosts.unheard.set(hostId, heardAtMs)
      send(socket, { type: 'sync' })
    }
  }

  /** Opens the channel of a host that has shown the key of a worker (CHN-9). `isKnown`: the endpoint exists. */
  open({ hostId, workerId }: ChannelCall, isKnown: boolean): Response {
    const worker = isKnown ? this.core.state.workers.get(workerId) : null
    return worker?.hostId === hostId ? this.accept(hostId) : problemReply('accessDenied', 'this worker is not on this host')
  }

  /** Accepts the channel of a host; it replaces an earlier one. */
  private accept(hostId: string): Response {
    const { ctx } = this.core
    for (const earlier of this.sockets()) if (attachedTo(earlier).hostId === hostId) this.end(earlier, REPLACED)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(KEEP_ALIVE, KEEP_ALIVE_ANSWER))
    const pair = new WebSocketPair()
    ctx.acceptWebSocket(pair[1])
    this.join(pair[1], hostId)
    attach(pair[1], { hostId, heardAtMs: null })
    send(pair[1], { type: 'welcome', pingIntervalMs: this.core.settings.workerPingIntervalMs })
    return new Response(null, { status: 101, webSocket: pair[0] })
  }

  /** Applies a frame of an agent. */
  async hear(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // Frames that were on their way when the object closed the channel.
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return
    if (!this.core.isStored) return this.end(socket, ENDPOINT_GONE)
    const frame = readFrame(AgentFrame, data)
    const calls = this.callsOf(socket)
    if (frame && calls.isValid(frame)) return calls.take(frame)
    logEvent('warn', 'a host sent a frame that is not valid over its worker channel', { hostId: attachedTo(socket).hostId })
    this.end(socket, NOT_UNDERSTOOD)
  }

  /** A channel was closed: its open calls end. */
  closed(socket: WebSocket): void {
    const { hostId } = attachedTo(socket)
    // The runtime may report the end of a socket more than once, and late: the host may have a newer channel.
    const isCurrent = this.current.get(hostId) === socket
    if (isCurrent) {
      this.current.delete(hostId)
      this.core.channelHosts.remove(hostId)
    }
    this.callsOf(socket).end(isCurrent)
    this.calls.delete(socket)
  }

  /** Ends the channels of the hosts of these workers, which the plane has given up (CHN-8). */
  endOf(workerIds: readonly string[]): void {
    const hosts = new Set(workerIds.map((id) => this.core.state.workers.get(id)?.hostId))
    for (const socket of this.sockets()) if (hosts.has(attachedTo(socket).hostId)) this.end(socket, HOST_GONE)
  }

  private join(socket: WebSocket, hostId: string): void {
    this.current.set(hostId, socket)
    this.core.channelHosts.add(hostId, (frame) => send(socket, frame))
  }

  private end(socket: WebSocket, { code, reason }: { code: number; reason: string }): void {
    this.closed(socket)
    socket.close(code, reason)
  }

  private callsOf(socket: WebSocket): ChannelCalls {
    const known = this.calls.get(socket)
    if (known) return known
    const { hostId } = attachedTo(socket)
    const calls = new ChannelCalls(this.core, hostId, {
      send: (frame) => send(socket, frame),
      stand: () => attach(socket, { hostId, heardAtMs: this.core.now() }),
    })
    this.calls.set(socket, calls)
    return calls
  }

  private sockets(): WebSocket[] {
    return this.core.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.READY_STATE_OPEN)
  }
}

/** The data of a socket, which outlives the memory of the object. */
interface Attached {
  hostId: string
  /** Last frame in which its agent answered for workers (CHN-30); null: none. */
  heardAtMs: number | null
}

function attach(socket: WebSocket, attached: Attached): void {
  socket.serializeAttachment(attached)
}

function attachedTo(socket: WebSocket): Attached {
  return socket.deserializeAttachment()
}

// A channel that breaks meanwhile loses nothing: the agent repeats its calls over the next one.
function send(socket: WebSocket, frame: PlaneFrame): void {
  try {
    socket.send(JSON.stringify(frame))
  } catch {
    // Its close follows.
  }
}
