import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'

/** Answers a call of the engine API, by the path after the version. */
export type EngineAnswer = (path: string, request: IncomingMessage, response: ServerResponse) => void

/** A container engine on its own socket that answers as the test sets it. */
export class FakeEngine {
  readonly calls: string[] = []
  readonly address: string
  answer: EngineAnswer
  /** Handles an upgrade to a two-way connection; undefined: the request is answered as any other. */
  upgrade: ((socket: Duplex) => void) | undefined
  private readonly server: Server

  constructor(dir: string, answer: EngineAnswer) {
    this.answer = answer
    const path = join(dir, 'engine.sock')
    this.address = `unix://${path}`
    this.server = createServer((request, response) => this.handle(request, response)).listen(path)
    this.server.on('upgrade', (_request, socket: Duplex) => {
      if (this.upgrade) this.upgrade(socket)
      else
        socket.end(
          'HTTP/1.1 409 Conflict\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"message":"container c is not running"}',
        )
    })
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '').replace(/^\/v[0-9.]+/, '')
    request.resume()
    response.on('error', () => {})
    if (path === '/version') {
      sendJson(response, { ApiVersion: '1.41', MinAPIVersion: '1.12' })
      return
    }
    this.calls.push(`${request.method} ${path}`)
    this.answer(path, request, response)
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Sends zeros while the other end reads, up to a size. */
export function sendZeros(response: ServerResponse, bytes: number, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/octet-stream' })
  const piece = Buffer.alloc(2 ** 20)
  let left = bytes
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length
      if (!response.write(piece)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}
