import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP proxy before a plane: each answer comes late, and those of the first creates never. */
export async function startCreateDropper(
  planeUrl: string,
  { delayMs, drops }: { delayMs: number; drops: number },
): Promise<{ url: string; dropped(): number; close(): Promise<void> }> {
  const plane = new URL(planeUrl)
  let dropped = 0
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const upstream = request({ host: plane.hostname, port: plane.port, method, path: url, headers }, (reply) => {
      if (method === 'POST' && dropped < drops) {
        dropped += 1
        reply.resume()
        // The plane has given its answer whole; nobody behind this proxy sees any of it.
        reply.on('end', () => incoming.socket.destroy())
        return
      }
      setTimeout(() => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(outgoing)
      }, delayMs)
    })
    upstream.on('error', () => incoming.socket.destroy())
    incoming.pipe(upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropped: () => dropped,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
