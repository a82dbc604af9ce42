import type { Env } from '../src/env.ts'
import type { HostTunnelRpc, TunnelRequest } from '../src/objects/tunnel/host-tunnel.ts'
import { failed, tunnelRequestOf } from '../src/objects/tunnel/host-tunnel-calls.ts'
import { PlaneObject } from './plane-object.ts'
import { carryHttp } from './tunnel/carry-http.ts'
import { carrySocket } from './tunnel/carry-socket.ts'
import { TunnelConnection } from './tunnel/connection.ts'
import { OpenSlots } from './tunnel/open-slots.ts'

/** The tunnel into one machine: requests to its workloads, each a stream of the WebSocket that its agent has opened. Stores nothing. */
export class HostTunnelObject extends PlaneObject implements HostTunnelRpc {
  private readonly connection: TunnelConnection
  private readonly slots: OpenSlots
  /** Milliseconds since the epoch; tests set their own clock. */
  now: () => number = () => Date.now()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.connection = new TunnelConnection(ctx, () => this.now())
    this.slots = new OpenSlots(env, () => this.connection.check())
  }

  /** An agent that opens its tunnel, or a request to a workload. The Worker has checked either. */
  override async fetch(request: Request): Promise<Response> {
    const wanted = tunnelRequestOf(request)
    if (wanted === null) return new Response(null, { status: 101, webSocket: this.connection.accept() })
    this.slots.enter(wanted.slot)
    return this.carry(wanted, request)
  }

  private async carry(wanted: TunnelRequest, request: Request): Promise<Response> {
    const { target, slot } = wanted
    const stream = this.connection.current()?.open(target) ?? null
    if (stream === null) {
      this.ctx.waitUntil(this.slots.leave(slot, false))
      return failed({ code: 'unreachable', detail: 'the host of the worker is not connected, or has too many requests under way' })
    }
    let isReached = false
    stream.accepted.then(
      () => {
        isReached = true
      },
      () => undefined,
    )
    this.ctx.waitUntil(stream.over.then(() => this.slots.leave(slot, isReached)))
    const leave = () => stream.reset({ code: 'cancelled', detail: 'the client has left' })
    if (request.signal.aborted) leave()
    request.signal.addEventListener('abort', leave, { once: true })
    return target.kind === 'websocket' ? carrySocket(stream, wanted) : carryHttp(stream, wanted, request.body)
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
