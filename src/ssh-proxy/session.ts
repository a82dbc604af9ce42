import type { Connection, PseudoTtyInfo, ServerChannel, Session } from 'ssh2'
import type { SshLogin, SshTarget } from '../host-protocol/ssh-proxy.ts'
import { join, refuse, signalOf } from './channel.ts'
import type { Door } from './door.ts'
import type { Plane } from './plane.ts'
import { serveSftp } from './sftp/serve.ts'

const MAX_SIDE = 4_096
const DEFAULT_SIZE = { rows: 24, cols: 80 }
/** The shell that a command is for, as sshd has it: bash where there is one. */
const COMMAND_SHELL = ['/bin/sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash -c "$1"; exec /bin/sh -c "$1"', 'sh'] as const
/** Sessions and connections to ports that one connection may have at a time. */
export const MAX_CHANNELS = 64

type Terminal = Extract<SshTarget, { kind: 'exec' }>['terminal']

/** Whoever has come in, and how many channels are open. */
export interface Visitor {
  login: SshLogin
  channels: number
}

/** Serves one connection that has come in: shells, commands, SFTP, and ports of the pod (NET-25 to NET-27). Nothing of the client's own. */
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
  // Ports of the client's own machine are not for pods.
  client.on('request', (_accept, reject) => reject?.())
}

function serveSession(session: Session, open: (target: SshTarget) => Promise<Door>, visitor: Visitor): void {
  let terminal: Terminal = null
  let door: Promise<Door> | null = null
  const begin = (channel: ServerChannel, command: string[] | null) => {
    door = open({ kind: 'exec', command, terminal })
    // The channel says it.
    door.catch(() => undefined)
    void join(channel, door)
  }
  const tell = (say: (door: Door) => void) => void door?.then(say, () => undefined)
  session.on('pty', (accept, _reject, info) => {
    terminal = terminalOf(info)
    answer(accept)
  })
  session.on('window-change', (accept, _reject, { rows, cols }) => {
    const size = sizeOf(rows, cols)
    if (terminal !== null) terminal = { ...terminal, ...size }
    tell((one) => one.resize(size.rows, size.cols))
    answer(accept)
  })
  session.on('signal', (accept, reject, { name }) => {
    const signal = signalOf(name)
    if (signal === null) return answer(reject)
    tell((one) => one.signal(signal))
    answer(accept)
  })
  session.on('shell', (accept) => once(accept, (channel) => begin(channel, null)))
  session.on('exec', (accept, _reject, { command }) => once(accept, (channel) => begin(channel, [...COMMAND_SHELL, command])))
  session.on('sftp', (accept) => once(accept, (channel) => serveSftp(channel, open)))
  session.on('subsystem', (accept, _reject, { name }) => once(accept, (channel) => refuse(channel, `there is no subsystem ${name}`)))
  session.on('close', () => leave(visitor))
}

/** Serves what a channel is asked for first: for a second request on it the library has no channel, whatever its types say. */
function once<Channel>(accept: () => Channel, serve: (channel: Channel) => void): void {
  const channel = accept() as Channel | undefined
  if (channel !== undefined) serve(channel)
}

/** Says yes or no to a client that wants to hear it: for another one there is nothing to call, whatever the types of the library say. */
function answer(say: (() => unknown) | undefined): void {
  say?.()
}

function terminalOf({ rows, cols, term }: PseudoTtyInfo): Terminal {
  const name = /^[A-Za-z0-9][\w.+-]{0,63}$/.test(term) ? term : 'xterm'
  return { name, ...sizeOf(rows, cols) }
}

/** A terminal that says no size has the usual one. */
function sizeOf(rows: number, cols: number): { rows: number; cols: number } {
  const within = (side: number, usual: number) => (side >= 1 ? Math.min(side, MAX_SIDE) : usual)
  return { rows: within(rows, DEFAULT_SIZE.rows), cols: within(cols, DEFAULT_SIZE.cols) }
}

/** Forwarded ports lead into the pod alone: by its loopback, or by its own name. */
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
