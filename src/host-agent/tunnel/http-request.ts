import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { HeaderList, RequestTarget } from '../../host-protocol/tunnel/frames.ts'
import { StreamReset, type TunnelStream } from '../../host-protocol/tunnel/stream.ts'
import type { Place } from '../runtime.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** A connection each: one that is kept may be closed by the workload just when the next request is on its way. */
const CONNECTIONS = new Agent({ keepAlive: false })
const MAX_ANSWER_HEADER_BYTES = 32 * 1024

/** One request of the plane to a workload, whose address nobody but this host says. Redirects are the client's business. */
export function serveHttp(stream: TunnelStream, target: RequestTarget, place: Place): void {
  const { method, path } = target
  const headers = groupHeaders(target.headers)
  const request = httpRequest({
    ...place,
    method,
    path,
    headers,
    agent: CONNECTIONS,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    setHost: false,
    insecureHTTPParser: false,
  })
  let isConnected = false
  let isAnswered = false
  const breakOff = (error: unknown) => {
    stream.reset({ code: isConnected ? 'broken' : 'unreachable', detail: describe(error) })
    request.destroy()
  }
  request.setTimeout(CONNECT_TIMEOUT_MS, () => {
    if (!isConnected) breakOff(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`))
  })
  request.on('socket', (socket) => {
    socket.once('connect', () => {
      isConnected = true
      // A workload may answer before it has been sent a body.
      request.flushHeaders()
      stream.accept()
      passBody(stream, request).catch((error: unknown) => {
        // What the workload has answered meanwhile stands, and its plane decides what becomes of a body that came too late.
        if (!isAnswered) breakOff(error)
      })
    })
  })
  request.on('response', (response: IncomingMessage) => {
    isAnswered = true
    passAnswer(stream, response).catch(breakOff)
  })
  request.on('error', breakOff)
  void stream.over.then(() => request.destroy())
}

async function passBody(stream: TunnelStream, request: ClientRequest): Promise<void> {
  for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
    if (!request.write(bytes)) await drained(request)
  }
  request.end()
}

async function passAnswer(stream: TunnelStream, response: IncomingMessage): Promise<void> {
  stream.sendHead({ status: response.statusCode ?? 502, headers: pairs(response.rawHeaders) })
  for await (const chunk of response) await stream.write(chunk as Uint8Array)
  stream.end()
}

/** Resolves when there is room again, or never will be. */
function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      request.off('drain', done)
      request.off('close', done)
      resolve()
    }
    request.once('drain', done)
    request.once('close', done)
  })
}

function groupHeaders(headers: HeaderList): Record<string, string | string[]> {
  const grouped: Record<string, string[]> = {}
  for (const [name, value] of headers) {
    const former = grouped[name.toLowerCase()] ?? []
    grouped[name.toLowerCase()] = [...former, value]
  }
  // Node takes a list only of what may stand there twice.
  return Object.fromEntries(Object.entries(grouped).map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]))
}

/** As Node gives them: name, value, name, value. */
export function pairs(raw: readonly string[]): HeaderList {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as [string, string]] : []))
}

// The text goes to the tenant: no address of this host in it.
function describe(error: unknown): string {
  if (error instanceof StreamReset) return error.message
  const code = (error as { code?: unknown } | null)?.code
  if (code === 'ECONNREFUSED') return 'nothing listens on this port of the worker'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the worker closed the connection'
  if (typeof code === 'string') return `the worker could not be spoken to (${code})`
  return 'the worker could not be spoken to'
}
