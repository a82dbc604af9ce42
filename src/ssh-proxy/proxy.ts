import { createServer, type Socket } from 'node:net'
import type { Connection } from 'ssh2'
import { errorText } from '../node/fail.ts'
import { loadHostKey } from './host-key.ts'
import { ConnectionLimits, LIMITS, type Limits, sourceOf } from './limits.ts'
import type { Log } from './log.ts'
import { Login } from './login.ts'
import { Plane } from './plane.ts'
import { serveClient } from './session.ts'
import { Server } from './ssh2.ts'

/** Timeout for a client to prove a key. */
const GRACE_MS = 20_000
const KEEPALIVE_MS = 30_000
const KEEPALIVES = 3
const MAX_ADDRESS_CHARS = 64

export interface ProxyOptions {
  planeUrl: string
  /** `SSH_PROXY_KEY` of the plane. */
  key: string
  host: string
  /** 0: any free port. */
  port: number
  /** Directory of the host key. */
  stateDir: string
  log: Log
  limits?: Limits
}

/** A running proxy and the port that it listens on. */
export interface SshProxy {
  port: number
  close(): Promise<void>
}

/** Listens for SSH clients and connects them to pods, through the plane and the tunnel of the pod's host (adr/0033). */
export async function openSshProxy(options: ProxyOptions): Promise<SshProxy> {
  const { log } = options
  const plane = new Plane(options.planeUrl, options.key)
  const connections = new ConnectionLimits(options.limits ?? LIMITS, () => performance.now())
  const hostKeys = [loadHostKey(options.stateDir)]
  const ssh = new Server({ hostKeys, ident: 'podplane', keepaliveInterval: KEEPALIVE_MS, keepaliveCountMax: KEEPALIVES })
  const sockets = new Set<Socket>()
  // Accepted sockets that the SSH library has not reported yet, by their address and port.
  const expected = new Map<string, Greeting>()
  ssh.on('connection', (client, { ip, port }) => {
    const greeting = expected.get(placeOf(ip, port))
    if (greeting === undefined) client.end()
    else greet(client, plane, greeting)
  })
  // Unauthenticated connections are counted before any of their bytes is read.
  const server = createServer({ noDelay: true }, (socket) => {
    const entry = connections.enter(sourceOf(socket.remoteAddress ?? ''))
    if (entry === null) return void socket.destroy()
    const place = placeOf(socket.remoteAddress, socket.remotePort)
    sockets.add(socket)
    const timer = setTimeout(() => socket.destroy(), GRACE_MS)
    socket.once('close', () => {
      clearTimeout(timer)
      sockets.delete(socket)
      expected.delete(place)
      entry.leave()
    })
    socket.on('error', () => socket.destroy())
    const known = () => {
      clearTimeout(timer)
      entry.known()
    }
    expected.set(place, { address: addressOf(socket), log, known })
    ssh.injectSocket(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: options.host, port: options.port }, () => resolve())
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  log('info', 'ssh proxy listens', { host: options.host, port })
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  return { port, close }
}

interface Greeting {
  address: string
  log: Log
  known(): void
}

function greet(client: Connection, plane: Plane, { address, log, known }: Greeting): void {
  const login = new Login(plane, address, log)
  client.on('authentication', (context) => void login.judge(context))
  client.on('ready', () => {
    if (login.login === null) return void client.end()
    known()
    const { user } = login.login
    log('info', 'came in', { user, address })
    client.on('close', () => log('info', 'has left', { user, address }))
    serveClient(client, plane, { login: login.login, channels: 0 })
  })
  // Scanners end connections with many kinds of errors.
  client.on('error', (error) => log('info', 'a connection ended', { address, error: errorText(error) }))
}

function placeOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`
}

function addressOf(socket: Socket): string {
  return (socket.remoteAddress ?? '').slice(0, MAX_ADDRESS_CHARS)
}
