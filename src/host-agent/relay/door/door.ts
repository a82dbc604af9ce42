import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sleep } from '../../../node/backoff.ts'
import type { RelayBounds } from '../bounds.ts'
import type { RelayCallers } from './callers.ts'
import { Turnstile } from './turnstile.ts'

export interface DoorOptions {
  callers: RelayCallers
  bounds: Pick<RelayBounds, 'callerRequestsPerSecond' | 'refusalDelayMs'>
  closing: AbortSignal
}

/** Lets in the workers of this host, each as itself, and nobody else (HOST-75, HOST-76). */
export class Door {
  private readonly options: DoorOptions
  private readonly turnstile: Turnstile
  /** The request that each connection waits for; a connection has one at a time. */
  private readonly current = new WeakMap<Socket, ServerResponse>()

  constructor(options: DoorOptions) {
    this.options = options
    this.turnstile = new Turnstile(options.bounds.callerRequestsPerSecond)
  }

  /**
   * The workload that a request is of, once it is its turn. Undefined when there is nothing more to do about it: nothing of it was read but its
   * head, and its connection ends.
   */
  async admit(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
    const { socket } = request
    if (!this.isAlone(socket, response)) {
      socket.destroy()
      return undefined
    }
    const caller = await this.options.callers.identify(socket.remoteAddress, request.headers.authorization)
    if (caller === undefined) {
      await this.refuse(response)
      return undefined
    }
    const delayMs = this.turnstile.delayMs(caller, performance.now())
    if (delayMs > 0) await sleep(delayMs, this.options.closing)
    return response.destroyed ? undefined : caller
  }

  /** 401, and the end of the connection; after a moment, so that asking in vain is no way to keep this process busy. */
  async refuse(response: ServerResponse): Promise<void> {
    await sleep(this.options.bounds.refusalDelayMs, this.options.closing)
    if (response.destroyed) return
    const body = JSON.stringify({ error: 'the relay serves the workers of this host only, each with its own key and from its own address' })
    response.writeHead(401, { 'content-type': 'application/json', connection: 'close' }).end(body)
  }

  /** Whether all that came before on this connection has been answered: a worker asks one thing at a time. */
  private isAlone(socket: Socket, response: ServerResponse): boolean {
    // The parser goes on with what it has read when the connection has been ended.
    if (socket.destroyed) return false
    const former = this.current.get(socket)
    this.current.set(socket, response)
    return former === undefined || former.writableEnded
  }
}
