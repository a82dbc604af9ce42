import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** An HTTP proxy before a plane that breaks the connection instead of passing some answers on. */
export interface DroppingProxy {
  url: string
  /** Answers of each kind so far. */
  counts: { passed: number; dropped: number }
  close(): Promise<void>
}

/** `drops` decides about each answer that carries jobs to a worker; every other request, links included, passes untouched. */
export async function startDroppingProxy(planeUrl: string, drops: () => boolean): Promise<DroppingProxy> {
  const plane = new URL(planeUrl)
  const counts = { passed: 0, dropped: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((incoming, outgoing) => forward(plane, incoming, outgoing, drops, counts))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (incoming, socket: Socket, head) => tunnel(plane, incoming, socket, head))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, counts, close: () => close(server, sockets) }
}

function forward(
  plane: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  drops: () => boolean,
  counts: DroppingProxy['counts'],
): void {
  const { method, url, headers } = incoming
  const upstream = request({ host: plane.hostname, port: plane.port, method, path: url, headers }, (reply) => {
    const carriesJobs = reply.statusCode === 200 && /\/job-take(-batch)?\//.test(url ?? '')
    if (carriesJobs && drops()) {
      counts.dropped += 1
      reply.resume()
      // The plane has sent its answer completely; no byte of it reaches the client of this proxy.
      reply.on('end', () => incoming.socket.destroy())
      return
    }
    if (carriesJobs) counts.passed += 1
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(outgoing)
  })
  upstream.on('error', () => incoming.socket.destroy())
  outgoing.on('close', () => upstream.destroy())
  incoming.pipe(upstream)
}

function tunnel(plane: URL, incoming: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`]
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) lines.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}`)
  const upstream = connect(Number(plane.port), plane.hostname, () => {
    upstream.write(`${lines.join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    upstream.pipe(socket)
    socket.pipe(upstream)
  })
  for (const one of [socket, upstream]) {
    one.on('error', () => undefined)
    one.on('close', () => {
      socket.destroy()
      upstream.destroy()
    })
  }
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  return new Promise((resolve) => server.close(() => resolve()))
}
