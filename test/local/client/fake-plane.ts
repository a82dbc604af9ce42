import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The answer to the next request; `hang up`: its connection ends without one. */
export type Answer = 'hang up' | Reply
interface Reply {
  status: number
  body?: unknown
  text?: string
  headers?: Record<string, string>
  /** The connection breaks after the text. */
  breaks?: boolean
  /** The answer never ends by itself. */
  staysOpen?: boolean
}

/** A server that gives the set answers in turn, and records its requests. */
export class FakePlane {
  readonly requests: { method: string; url: string; headers: IncomingHttpHeaders }[] = []
  private readonly server: Server
  private readonly answers: Answer[]
  private onRequest: () => void = () => {}

  private constructor(answers: Answer[]) {
    this.answers = answers
    this.server = createServer((request, response) => {
      this.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
      this.onRequest()
      request.resume()
      request.on('end', () => void reply(response, this.answers.shift() ?? 'hang up'))
    })
  }

  static async open(answers: readonly Answer[]): Promise<FakePlane> {
    const plane = new FakePlane([...answers])
    plane.server.listen(0, '127.0.0.1')
    await once(plane.server, 'listening')
    return plane
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Resolves once so many requests have arrived. */
  async heard(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => (this.onRequest = resolve))
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

async function reply(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer === 'hang up') return void response.destroy()
  response.writeHead(answer.status, answer.headers)
  const text = answer.text ?? (answer.body === undefined ? '' : JSON.stringify(answer.body))
  if (answer.breaks) response.write(text, () => response.destroy())
  else if (answer.staysOpen) response.write(text)
  else response.end(text)
}
