import type { ServerChannel } from 'ssh2'
import { SIGNALS } from '../host-protocol/tunnel/channels.ts'
import type { PodConnection } from './connection.ts'
import { ConnectionRefused } from './plane.ts'

/** Exit code of `ssh` itself for an error of the connection. */
const TROUBLE = 255

/**
 * Forwards a command's bytes both ways until it ends, and then its exit code. Never rejects: an error of one client's channel must not end
 * the program.
 */
export async function join(channel: ServerChannel, opening: Promise<PodConnection>): Promise<void> {
  try {
    await pass(channel, opening)
  } catch {
    channel.destroy()
  }
}

async function pass(channel: ServerChannel, opening: Promise<PodConnection>): Promise<void> {
  let connection: PodConnection
  try {
    connection = await opening
  } catch (error) {
    refuse(channel, error instanceof ConnectionRefused ? error.message : 'the pod could not be entered')
    return
  }
  channel.on('close', () => connection.close())
  channel.on('error', () => connection.close())
  void passIn(channel, connection)
  for (let next = await connection.read(); next !== null; next = await connection.read()) {
    const stream = next.channel === 'stderr' ? channel.stderr : channel
    if (!stream.write(next.bytes)) await drained(channel, stream)
  }
  const { exitCode, message } = connection.status
  if (exitCode === null) channel.stderr.write(`${message ?? 'the connection to the pod ended'}\r\n`)
  channel.exit(exitCode ?? TROUBLE)
  channel.end()
  connection.close()
}

/** Converts an SSH signal name to a signal for a command in a pod; null: not supported. */
export function signalOf(name: string) {
  return SIGNALS.find((signal) => signal === name.replace(/^SIG/, '')) ?? null
}

/** Ends a channel that cannot be opened, with a message to its user. */
export function refuse(channel: ServerChannel, why: string): void {
  channel.stderr.write(`podplane: ${why}\r\n`)
  channel.exit(TROUBLE)
  channel.end()
}

async function passIn(channel: ServerChannel, connection: PodConnection): Promise<void> {
  try {
    for await (const bytes of channel as AsyncIterable<Buffer>) await connection.write(bytes)
    connection.endInput()
  } catch {
    connection.close()
  }
}

function drained(channel: ServerChannel, stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      channel.off('close', done)
      resolve()
    }
    stream.once('drain', done)
    channel.once('close', done)
  })
}
