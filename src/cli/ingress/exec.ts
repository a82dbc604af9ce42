import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Io } from '../core/io.ts'
import type { Session } from '../session/session.ts'
import { PodConnection } from './connection.ts'

/** Flags of `exec`. */
export interface ExecFlags {
  stdin?: boolean
  tty?: boolean
}

/** Runs a command or a shell in a pod; returns its exit code (CMD-30). */
export async function execInPod(session: Session, podId: string, command: readonly string[], flags: ExecFlags): Promise<number> {
  const { io } = session
  const isShell = command.length === 0
  const wantsTerminal = flags.tty ?? (isShell && io.stdin.isTTY === true && io.stdout.isTTY === true)
  const terminal = { rows: io.stdout.rows || 24, cols: io.stdout.columns || 80, term: io.env.TERM || 'xterm-256color' }
  const connection = await PodConnection.open(session, podId, { ...(!isShell && { command }), ...(wantsTerminal && { terminal }) })
  const stop = () => connection.close()
  session.signal.addEventListener('abort', stop, { once: true })
  const leave = wantsTerminal ? enterTerminal(io, connection) : () => undefined
  try {
    if (flags.stdin || isShell || wantsTerminal) void passInput(io, connection)
    else connection.endInput()
    await passOutput(io, connection)
  } finally {
    leave()
    session.signal.removeEventListener('abort', stop)
    connection.close()
  }
  return exitCodeOf(connection)
}

/** Exit code of the command. Throws `CliError` if the command was refused or broken off. */
export function exitCodeOf(connection: Pick<PodConnection, 'status'>): number {
  const { exitCode, message, isRefused } = connection.status
  if (exitCode !== null) return exitCode
  if (isRefused) throw new CliError(EXIT.REFUSED, 'not_supported', `the command was refused: ${message ?? 'the pod accepts no commands'}`)
  throw new CliError(EXIT.UNREACHABLE, 'broken_off', `the command was interrupted: ${message ?? 'the reason is unknown'}`)
}

async function passInput({ stdin }: Io, connection: PodConnection): Promise<void> {
  try {
    for await (const part of stdin) await connection.write(Buffer.from(part))
  } finally {
    connection.endInput()
  }
}

async function passOutput({ stdout, stderr }: Io, connection: PodConnection): Promise<void> {
  for (let heard = await connection.read(); heard !== undefined; heard = await connection.read()) {
    const sink = heard.channel === 'stdout' ? stdout : stderr
    const hasRoom = sink.write(heard.bytes)
    if (!hasRoom && 'once' in sink) await new Promise<void>((resolve) => (sink as NodeJS.WriteStream).once('drain', resolve))
    connection.taken(heard.bytes.length)
  }
}

/** Passes on each key, including Ctrl-C, and each size of the terminal. Returns the function that restores the terminal. */
function enterTerminal({ stdin, stdout }: Io, connection: PodConnection): () => void {
  const keyboard = stdin as NodeJS.ReadStream
  const screen = stdout as NodeJS.WriteStream
  const resize = () => connection.resize(screen.rows, screen.columns)
  if (keyboard.isTTY) keyboard.setRawMode(true)
  if (screen.isTTY && 'on' in screen) screen.on('resize', resize)
  return () => {
    if (keyboard.isTTY) keyboard.setRawMode(false)
    if (screen.isTTY && 'off' in screen) screen.off('resize', resize)
  }
}
