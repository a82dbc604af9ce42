import { Unheard } from '../src/domain/ingress/unheard.ts'
import type { Env } from '../src/env.ts'
import { TUNNEL_ABILITIES_HEADER } from '../src/host-protocol/tunnel/frames.ts'
import type { TunnelStream } from '../src/host-protocol/tunnel/stream.ts'
import { failed, tunnelRequestOf } from '../src/objects/tunnel/host-tunnel-calls.ts'
import type { HostTunnelRpc, TunnelFailure, TunnelRequest } from '../src/rpc/host-tunnel.ts'
import { PlaneObject } from './plane-object.ts'
import { carryHttp } from './tunnel/carry-http.ts'
import { carrySocket } from './tunnel/carry-socket.ts'
import { TunnelConnection } from './tunnel/connection.ts'
import { OpenSlots } from './tunnel/open-slots.ts'

/**
 * A request without a byte in either direction for this long is closed for a newer one, if its account or pod has no other slot (SHR-33).
 */
const SILENT_MS = 60_000
const UNREAD = 'other connections of its account have too much unread data; close them or retry later'

/** The tunnel to one host: each request to its workloads is a stream of the WebSocket that its agent opened. Stores nothing. */
export class HostTunnelObject extends PlaneObject implements HostTunnelRpc {
  private readonly connection: TunnelConnection
  private readonly slots: OpenSlots
  private readonly unheard = new Unheard<WebSocket>()
  /** Milliseconds since the epoch; tests replace the clock. */
  now: () => number = () => this.timers.readClock()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.connection = new TunnelConnection(ctx, () => this.now())
    this.slots = new OpenSlots(env, this.timers, () => this.connection.check())
  }

  /** Accepts an agent's tunnel, or carries a request to a workload. The Worker has authorized either. */
  override async fetch(request: Request): Promise<Response> {
    const wanted = tunnelRequestOf(request)
    if (wanted === null) {
      const serves = request.headers.get(TUNNEL_ABILITIES_HEADER) ?? ''
      return new Response(null, { status: 101, webSocket: this.connection.accept(serves) })
    }
    if (wanted.slot !== null) this.slots.enter(wanted.slot)
    return this.carry(wanted, request)
  }

  private async carry(wanted: TunnelRequest, request: Request): Promise<Response> {
    const { target, slot } = wanted
    const stream = this.open(wanted)
    if ('code' in stream) {
      if (slot !== null) this.ctx.waitUntil(this.slots.leave(slot, false))
      return failed(stream)
    }
    let isReached = false
    stream.accepted.then(
      () => {
        isReached = true
      },
      () => undefined,
    )
    this.ctx.waitUntil(stream.over.then(() => (slot === null ? undefined : this.slots.leave(slot, isReached))))
    const leave = () => stream.reset({ code: 'cancelled', detail: 'the client disconnected' })
    if (request.signal.aborted) leave()
    request.signal.addEventListener('abort', leave, { once: true })
    return target.kind === 'http'
      ? carryHttp(this.timers, stream, wanted, request.body)
      : carrySocket(this.timers, stream, wanted, this.unheard, () => this.now())
  }

  private open({ target, needs, beside, account }: TunnelRequest): TunnelStream | TunnelFailure {
    const end = this.connection.current()
    const host = `the host of the ${needs === null ? 'worker' : 'pod'}`
    if (end === null) return { code: 'unreachable', detail: `${host} is not connected` }
    if (needs !== null && !this.connection.serves(needs)) {
      return { code: 'outdated', detail: `${host} runs an agent that does not support this: its operator must upgrade it` }
    }
    const { workloadId } = target
    if (target.kind === 'websocket' && !this.unheard.mayListen({ workloadId, account }, this.now())) {
      return { code: 'unreachable', detail: `${host} accepts no more WebSockets: ${UNREAD}` }
    }
    if (beside !== null && end.streamsOf(workloadId) >= beside && !end.preempt({ workloadId }, SILENT_MS)) {
      return { code: 'unreachable', detail: `${beside} connections to this pod are already open, which is the maximum` }
    }
    const opened = end.open(target, account) ?? (end.preempt({ account }, SILENT_MS) ? end.open(target, account) : null)
    const own = `its account has ${end.streamsOfAccount(account)} connections there, which is its share`
    return opened ?? { code: 'unreachable', detail: `${host} accepts no more connections: ${own}; end some of them or retry later` }
  }

  override async webSocketMessage(socket: WebSocket, message: ArrayBuffer | string): Promise<void> {
    this.connection.receive(socket, message)
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    this.connection.closed(socket)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.connection.closed(socket)
  }
}
