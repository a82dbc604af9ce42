import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FlakyProxy {
  url: string
  /** Requests that were carried out and not answered, `METHOD path`. */
  lost: string[]
  /** Streams that broke in the middle. */
  broken: string[]
  close(): Promise<void>
}

/**
 * An HTTP proxy before a plane: each answer is late, the first one to each request is lost, and each stream breaks once. The plane has
 * carried out the requests that are not answered.
 */
export async function startFlakyProxy(planeUrl: string, delayMs: number): Promise<FlakyProxy> {
  const plane = new URL(planeUrl)
  const lost: string[] = []
  const broken: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    const name = `${method} ${url.split('?')[0]}`
    const upstream = request({ host: plane.hostname, port: plane.port, method, path: url, headers }, (reply) => {
      const isStream = reply.headers['content-type']?.startsWith('text/event-stream') === true
      if (!isStream && !lost.includes(name)) {
        lost.push(name)
        reply.resume()
        reply.on('end', () => incoming.socket.destroy())
        return
      }
      setTimeout(() => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        if (isStream && !broken.includes(name)) breakBehindFirst(reply, () => broken.push(name), incoming)
        reply.pipe(outgoing)
      }, delayMs)
    })
    outgoing.on('close', () => upstream.destroy())
    upstream.on('error', () => incoming.socket.destroy())
    incoming.pipe(upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost,
    broken,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function breakBehindFirst(reply: IncomingMessage, note: () => void, incoming: IncomingMessage): void {
  reply.once('data', () => {
    note()
    // The bytes passed on so far arrive; nothing after them does.
    setImmediate(() => incoming.socket.destroySoon())
  })
}
