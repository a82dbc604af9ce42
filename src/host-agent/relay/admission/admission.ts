import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sleep } from '../../../node/backoff.ts'
import type { RelayBounds } from '../bounds.ts'
import type { RelayCallers } from './callers.ts'
import { WorkloadRates } from './workload-rates.ts'

export interface AdmissionOptions {
  callers: RelayCallers
  bounds: Pick<RelayBounds, 'callerRequestsPerSecond' | 'refusalDelayMs'>
  closing: AbortSignal
}

/** Authenticates callers: only the workers of this host are admitted (HOST-75, HOST-76). */
export class Admission {
  private readonly options: AdmissionOptions
  private readonly rates: WorkloadRates
  /** The unanswered request of each connection; a connection has one at a time. */
  private readonly current = new WeakMap<Socket, ServerResponse>()

  constructor(options: AdmissionOptions) {
    this.options = options
    this.rates = new WorkloadRates(options.bounds.callerRequestsPerSecond)
  }

  /**
   * Returns the workload that sent a request, after any delay by its rate limit. Returns undefined when the request was refused: only its
   * head has been read, and its connection is closed.
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
    const delayMs = this.rates.delayMs(caller, performance.now())
    if (delayMs > 0) await sleep(delayMs, this.options.closing)
    return response.destroyed ? undefined : caller
  }

  /** Answers 401 and closes the connection, after a delay that limits the load from repeated attempts. */
  async refuse(response: ServerResponse): Promise<void> {
    await sleep(this.options.bounds.refusalDelayMs, this.options.closing)
    if (response.destroyed) return
    const body = JSON.stringify({ error: 'the relay serves the workers of this host only, each with its own key and from its own address' })
    response.writeHead(401, { 'content-type': 'application/json', connection: 'close' }).end(body)
  }

  /** Whether all earlier requests of this connection have been answered: a worker sends one request at a time. */
  private isAlone(socket: Socket, response: ServerResponse): boolean {
    // The parser continues with data it has read even after the connection was destroyed.
    if (socket.destroyed) return false
    const previous = this.current.get(socket)
    this.current.set(socket, response)
    return previous === undefined || previous.writableEnded
  }
}
