import { createServer, type Socket } from 'node:net'
import { errorText } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, failureOf, usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { PodConnection } from './connection.ts'

/** Local port and the port of the pod to which it is forwarded. */
export interface Mapping {
  local: number
  remote: number
}

const MAX_PORT = 65_535

/** Parses `8888`, or `9000:8888` for another local port; local port 0 is any free one. Throws a usage error for other text. */
export function readMapping(text: string): Mapping {
  const match = /^(?:(\d+):)?(\d+)$/.exec(text)
  const remote = Number(match?.[2])
  const local = match?.[1] === undefined ? remote : Number(match[1])
  if (match === null || remote < 1 || remote > MAX_PORT || local > MAX_PORT)
    throw usage(`${text}: it must be <port>, or <local port>:<port of the pod>`)
  return { local, remote }
}

// Connects with any of the programs that the image may have. $1 is the port.
const CONNECT = `if command -v nc >/dev/null 2>&1; then exec nc 127.0.0.1 "$1"; fi
if command -v socat >/dev/null 2>&1; then exec socat - "TCP:127.0.0.1:$1"; fi
if command -v bash >/dev/null 2>&1; then exec bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && { cat <&3 & cat >&3; wait; }' "$1"; fi
echo "the image has neither nc, socat nor bash" >&2; exit 127`

/**
 * Listens on local ports and forwards each connection to a port of a pod, which may listen on the pod's loopback only (CMD-32). Throws
 * `CliError` if the pod is not RUNNING.
 */
export async function forwardPorts(session: Session, podId: string, ports: readonly string[]): Promise<void> {
  const mappings = ports.map(readMapping)
  const pod = await session.api.getPod({ path: { id: podId } })
  if (pod.status !== 'RUNNING')
    throw new CliError(EXIT.REFUSED, 'not_running', `pod ${podId} is ${pod.status}`, { hint: `podplane pods start ${podId}` })
  const servers = await Promise.all(mappings.map((mapping) => listen(session, podId, mapping)))
  try {
    await new Promise<void>((_, reject) =>
      session.signal.addEventListener('abort', () => reject(session.signal.reason as Error), { once: true }),
    )
  } finally {
    for (const server of servers) server.close()
  }
}

async function listen(session: Session, podId: string, { local, remote }: Mapping) {
  const server = createServer({ allowHalfOpen: true }, (socket) => void carry(session, podId, remote, socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new CliError(EXIT.REFUSED, 'port_taken', `port ${local} cannot be opened here: ${errorText(error)}`)),
    )
    server.listen(local, '127.0.0.1', resolve)
  })
  const { port } = server.address() as { port: number }
  session.out.lines([`127.0.0.1:${port}\t${podId}:${remote}`])
  return server
}

async function carry(session: Session, podId: string, port: number, socket: Socket): Promise<void> {
  try {
    const connection = await PodConnection.open(session, podId, { command: ['sh', '-c', CONNECT, 'sh', String(port)] })
    socket.once('close', () => connection.close())
    void passUp(socket, connection)
    for (let heard = await connection.read(); heard !== undefined; heard = await connection.read()) {
      if (heard.channel === 'stderr') session.out.talk(Buffer.from(heard.bytes).toString('utf8').trim())
      else if (!socket.write(heard.bytes)) await new Promise<void>((resolve) => socket.once('drain', resolve).once('close', resolve))
      connection.taken(heard.bytes.length)
    }
    socket.end()
  } catch (error) {
    session.out.talk(failureOf(error).detail)
    socket.destroy()
  }
}

async function passUp(socket: Socket, connection: PodConnection): Promise<void> {
  try {
    for await (const part of socket) await connection.write(part as Buffer)
    connection.endInput()
  } catch {
    // The client has broken off, so the connection in the pod ends too.
    connection.close()
  }
}
