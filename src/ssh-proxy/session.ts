import type { Connection, PseudoTtyInfo, ServerChannel, Session } from 'ssh2'
import type { SshLogin, SshTarget } from '../host-protocol/ssh-proxy.ts'
import { join, refuse, signalOf } from './channel.ts'
import type { PodConnection } from './connection.ts'
import type { Plane } from './plane.ts'
import { serveSftp } from './sftp/serve.ts'

const MAX_SIDE = 4_096
const DEFAULT_SIZE = { rows: 24, cols: 80 }
/** The shell that runs a command, as with sshd: bash where there is one. */
const COMMAND_SHELL = ['/bin/sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash -c "$1"; exec /bin/sh -c "$1"', 'sh'] as const
/** Maximum number of concurrent sessions and port connections of one SSH connection. */
export const MAX_CHANNELS = 64

type Terminal = Extract<SshTarget, { kind: 'exec' }>['terminal']

/** An authenticated connection and the number of its open channels. */
export interface Visitor {
  login: SshLogin
  channels: number
}

/**
 * Serves one authenticated connection: shells, commands, SFTP, and ports of the pod (NET-25 to NET-27), but nothing on the client's side.
 */
export function serveClient(client: Connection, plane: Pick<Plane, 'open'>, visitor: Visitor): void {
  const open = (target: SshTarget) => plane.open(visitor.login, target)
  client.on('session', (accept, reject) => {
    if (enter(visitor)) serveSession(accept(), open, visitor)
    else reject()
  })
  client.on('tcpip', (accept, reject, { destIP, destPort }) => {
    if (!isPod(destIP, visitor.login.user) || destPort < 1 || !enter(visitor)) return reject()
    const channel = accept()
    leaveWith(channel, visitor)
    void join(channel, open({ kind: 'tcp', port: destPort }))
  })
  // Remote forwarding is refused: pods do not get ports on the client's machine.
  client.on('request', (_accept, reject) => reject?.())
}

function serveSession(session: Session, open: (target: SshTarget) => Promise<PodConnection>, visitor: Visitor): void {
  let terminal: Terminal = null
  let connection: Promise<PodConnection> | null = null
  const begin = (channel: ServerChannel, command: string[] | null) => {
    connection = open({ kind: 'exec', command, terminal })
    // `join` reports the error on the channel.
    connection.catch(() => undefined)
    void join(channel, connection)
  }
  const send = (say: (connection: PodConnection) => void) => void connection?.then(say, () => undefined)
  session.on('pty', (accept, _reject, info) => {
    terminal = terminalOf(info)
    answer(accept)
  })
  session.on('window-change', (accept, _reject, { rows, cols }) => {
    const size = sizeOf(rows, cols)
    if (terminal !== null) terminal = { ...terminal, ...size }
    send((one) => one.resize(size.rows, size.cols))
    answer(accept)
  })
  session.on('signal', (accept, reject, { name }) => {
    const signal = signalOf(name)
    if (signal === null) return answer(reject)
    send((one) => one.signal(signal))
    answer(accept)
  })
  session.on('shell', (accept) => once(accept, (channel) => begin(channel, null)))
  session.on('exec', (accept, _reject, { command }) => once(accept, (channel) => begin(channel, [...COMMAND_SHELL, command])))
  session.on('sftp', (accept) => once(accept, (channel) => serveSftp(channel, open)))
  session.on('subsystem', (accept, _reject, { name }) => once(accept, (channel) => refuse(channel, `there is no subsystem ${name}`)))
  session.on('close', () => leave(visitor))
}

/** Serves the first request on a channel: for a second one the library returns no channel, although its types say so. */
function once<Channel>(accept: () => Channel, serve: (channel: Channel) => void): void {
  const channel = accept() as Channel | undefined
  if (channel !== undefined) serve(channel)
}

/** Answers a request if the client wants a reply; otherwise the library passes no function, although its types say so. */
function answer(say: (() => unknown) | undefined): void {
  say?.()
}

function terminalOf({ rows, cols, term }: PseudoTtyInfo): Terminal {
  const name = /^[A-Za-z0-9][\w.+-]{0,63}$/.test(term) ? term : 'xterm'
  return { name, ...sizeOf(rows, cols) }
}

/** Returns a terminal size within bounds; the default where the client sends none. */
function sizeOf(rows: number, cols: number): { rows: number; cols: number } {
  const within = (side: number, usual: number) => (side >= 1 ? Math.min(side, MAX_SIDE) : usual)
  return { rows: within(rows, DEFAULT_SIZE.rows), cols: within(cols, DEFAULT_SIZE.cols) }
}

/** Forwarded ports lead only into the pod: to its loopback or its own name. */
function isPod(host: string, user: string): boolean {
  const podId = user.slice(0, user.lastIndexOf('-'))
  return ['localhost', '127.0.0.1', '::1', '0.0.0.0', podId, user].includes(host.toLowerCase())
}

function enter(visitor: Visitor): boolean {
  if (visitor.channels >= MAX_CHANNELS) return false
  visitor.channels += 1
  return true
}

function leave(visitor: Visitor): void {
  visitor.channels -= 1
}

function leaveWith(channel: ServerChannel, visitor: Visitor): void {
  channel.once('close', () => leave(visitor))
}
