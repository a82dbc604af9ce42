import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** How the plane treats posts: take them, fail, hang, refuse for good or for now, or break the connection after it has taken them. */
export type Mood = 'take' | 'fail' | 'hang' | 'refuse' | 'throttle' | 'reset'

export interface Arrival {
  /** Verb, worker and job, as in `job-stream/w1/j1`. */
  path: string
  query: URLSearchParams
  body: string
  authorization: string | undefined
  delivery: string
}

/** A plane that takes a post once, as the real one does, and misbehaves as the test sets it. */
export class PostPlane {
  mood: Mood = 'take'
  /** Paths that fail whatever the mood. */
  failing = /^$/
  /** Every post that arrived, repeats included. */
  readonly arrivals: Arrival[] = []
  /** Arrivals that were processed: each delivery once. */
  readonly taken: Arrival[] = []
  /** Targets of pings and polls. */
  readonly asked: string[] = []
  private readonly held: ServerResponse[] = []
  private port = 0
  private server = this.makeServer()

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts, or comes back on the same port. */
  async open(): Promise<void> {
    this.server = this.makeServer()
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve))
    this.port = (this.server.address() as AddressInfo).port
  }

  /** Goes away: connections are cut and refused. */
  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  /** Answers the hanging requests. */
  release(): void {
    for (const response of this.held.splice(0)) response.end('{}')
  }

  bodies(of: readonly Arrival[] = this.taken): string[] {
    return of.map(({ body }) => body)
  }

  private makeServer() {
    return createServer((request, response) => void this.handle(request, response).catch(() => response.destroy()))
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://plane')
    const [, , , ...path] = url.pathname.split('/')
    const isReport = url.searchParams.has('status')
    if (request.method === 'GET' && !isReport) {
      if (this.mood === 'fail') return void response.writeHead(503).end()
      this.asked.push(request.url ?? '')
      return void response.end('{}')
    }
    const { authorization, [HEADER]: delivery } = request.headers
    const arrival = { path: path.join('/'), query: url.searchParams, body: await text(request), authorization, delivery: String(delivery) }
    this.arrivals.push(arrival)
    if (this.mood === 'fail' || this.failing.test(arrival.path)) return void response.writeHead(500).end()
    if (this.mood === 'throttle') return void response.writeHead(429).end()
    if (this.mood === 'refuse') return void response.writeHead(400).end('{"detail":"no"}')
    if (!this.taken.some((known) => known.delivery === arrival.delivery)) this.taken.push(arrival)
    if (this.mood === 'reset') return void request.socket.resetAndDestroy()
    if (this.mood === 'hang') this.held.push(response)
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"by":"plane"}')
  }
}

const HEADER = 'podplane-delivery'
