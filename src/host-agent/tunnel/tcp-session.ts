import { connect, type Socket } from 'node:net'
import { overConnection } from '../engine/exec-stream.ts'
import { type ExecOutput, ExecRefused, type ExecSession, type Place } from '../runtime.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** In the container, to a port that is open to the container alone. The shell's own way is last: it is bash's. */
const FORWARD_SCRIPT = `
p=$1
if command -v nc >/dev/null 2>&1; then exec nc 127.0.0.1 "$p"; fi
if command -v socat >/dev/null 2>&1; then exec socat - "TCP:127.0.0.1:$p"; fi
if command -v bash >/dev/null 2>&1; then exec bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && { cat <&3 & cat >&3; wait; }' "$p"; fi
echo "nothing listens on this port of the pod's own address, and its image has neither nc, socat nor bash to reach 127.0.0.1" >&2
exit 1
`

/** Where a connection into a workload can lead, and how a command is run there. */
export interface TcpWay {
  place: Place | undefined
  port: number
  run(command: readonly string[]): Promise<ExecSession>
}

/** A connection to a port of a workload: at its address, or by a command inside where only the workload itself reaches the port (HOST-136). */
export async function openTcp({ place, port, run }: TcpWay): Promise<ExecSession> {
  const socket = place === undefined ? null : await dial(place)
  return socket === null ? await run(['/bin/sh', '-c', FORWARD_SCRIPT, 'sh', String(port)]) : overSocket(socket)
}

/** Null when nothing listens there. */
function dial({ host, port }: Place): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS })
    socket.once('connect', () => {
      socket.setTimeout(0)
      resolve(socket)
    })
    socket.once('timeout', () => {
      socket.destroy()
      reject(new ExecRefused(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`))
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(null)
      else reject(new ExecRefused(`the port could not be reached (${error.code ?? 'unknown'})`))
    })
  })
}

function overSocket(socket: Socket): ExecSession {
  const { output, write, endInput, close } = overConnection(socket)
  return {
    output: stdoutOf(output),
    write,
    endInput,
    resize: async () => undefined,
    signal: async () => undefined,
    exitCode: async () => 0,
    end: async () => close(),
  }
}

async function* stdoutOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<ExecOutput> {
  for await (const bytes of pieces) yield { channel: 'stdout', bytes }
}
