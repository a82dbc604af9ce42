import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './http.ts'

/** One attempt as it was received. */
export interface Delivery {
  method: string
  headers: IncomingHttpHeaders
  text: string
  /** Time on the monotonic clock, milliseconds. */
  atMs: number
}

/** How an attempt is answered: a status, or a connection that breaks. */
export type Answer = number | 'reset'

/** A webhook address of one job. */
export interface Hook {
  url: string
  deliveries: Delivery[]
  /** Waits until this many attempts have arrived. */
  received(count: number): Promise<Delivery[]>
}

/**
 * Receives webhooks on loopback. For a deployment that cannot reach this machine there, `CONFORMANCE_WEBHOOK_PORT` fixes the port and
 * `CONFORMANCE_WEBHOOK_ORIGIN` names the address under which it is reached.
 */
export class WebhookReceiver {
  private readonly server: Server
  private readonly origin: string
  private readonly hooks = new Map<string, { deliveries: Delivery[]; answer: (attempt: number) => Answer }>()

  private constructor(server: Server, origin: string) {
    this.server = server
    this.origin = origin
    server.on('request', (request, response) => void this.receive(request, response))
  }

  static async open(): Promise<WebhookReceiver> {
    const server = createServer()
    const port = Number(process.env.CONFORMANCE_WEBHOOK_PORT ?? 0)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const origin = process.env.CONFORMANCE_WEBHOOK_ORIGIN ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return new WebhookReceiver(server, origin.replace(/\/+$/, ''))
  }

  /** A fresh address; `answer` returns the answer to its first, second, … attempt. */
  hook(answer: (attempt: number) => Answer = () => 200): Hook {
    const path = `/hooks/${randomUUID()}?for=conformance`
    const deliveries: Delivery[] = []
    this.hooks.set(path, { deliveries, answer })
    return {
      url: this.origin + path,
      deliveries,
      received: (count) => eventually(`${count} webhook deliveries`, async () => deliveries.length >= count && deliveries.slice(0, count)),
    }
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = performance.now()
    let text = ''
    request.setEncoding('utf8')
    for await (const piece of request) text += piece
    const hook = this.hooks.get(request.url ?? '')
    if (hook === undefined) {
      response.writeHead(404).end()
      return
    }
    hook.deliveries.push({ method: request.method ?? '', headers: request.headers, text, atMs })
    const answer = hook.answer(hook.deliveries.length)
    if (answer === 'reset') request.socket.resetAndDestroy()
    else response.writeHead(answer).end()
  }
}
