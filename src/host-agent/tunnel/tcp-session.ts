import { connect, type Socket } from 'node:net'
import { asStdout, overConnection } from '../engine/exec-stream.ts'
import { ExecRefused, type ExecSession, type Place } from '../runtime.ts'

const CONNECT_TIMEOUT_MS = 5_000
/**
 * Runs in the container and connects to a port that listens on its loopback only. bash comes last because `/dev/tcp` is a feature of bash.
 */
const FORWARD_SCRIPT = `
p=$1
if command -v nc >/dev/null 2>&1; then exec nc 127.0.0.1 "$p"; fi
if command -v socat >/dev/null 2>&1; then exec socat - "TCP:127.0.0.1:$p"; fi
if command -v bash >/dev/null 2>&1; then exec bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && { cat <&3 & cat >&3; wait; }' "$p"; fi
echo "nothing listens on this port of the pod's own address, and its image has neither nc, socat nor bash to reach 127.0.0.1" >&2
exit 1
`

/** A port of a workload and its address, and how to run a command in it. */
export interface TcpWay {
  place: Place | undefined
  port: number
  run(command: readonly string[]): Promise<ExecSession>
}

/** Connects to a port of a workload: at its address, or by a command inside if the port accepts connections only there (HOST-136). */
export async function openTcp({ place, port, run }: TcpWay): Promise<ExecSession> {
  const socket = place === undefined ? null : await dial(place)
  return socket === null ? await run(['/bin/sh', '-c', FORWARD_SCRIPT, 'sh', String(port)]) : overSocket(socket)
}

/** Returns null when nothing listens there. Rejects with `ExecRefused` for other errors. */
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
    output: asStdout({ output }),
    write,
    endInput,
    resize: async () => undefined,
    signal: async () => undefined,
    exitCode: async () => 0,
    end: async () => close(),
  }
}
