import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { HeaderList, RequestTarget } from '../../host-protocol/tunnel/frames.ts'
import { StreamReset, type TunnelStream } from '../../host-protocol/tunnel/stream.ts'
import type { Place } from '../runtime.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** One connection for each request: the workload could close a kept-alive one just as the next request is sent. */
const CONNECTIONS = new Agent({ keepAlive: false })
const MAX_ANSWER_HEADER_BYTES = 32 * 1024

/** Forwards one request of the plane to a workload; only this host determines the address. Redirects are returned to the client. */
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
      // A workload may answer before it has received the body.
      request.flushHeaders()
      stream.accept()
      passBody(stream, request).catch((error: unknown) => {
        // An answer that has begun stays valid; the plane handles the rest of the body.
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

/** Resolves when the request can be written to again, or is closed. */
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
    const previous = grouped[name.toLowerCase()] ?? []
    grouped[name.toLowerCase()] = [...previous, value]
  }
  // Node accepts a list only for headers that may be repeated.
  return Object.fromEntries(Object.entries(grouped).map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]))
}

/** Converts Node's raw headers (name, value, name, value) into pairs. */
export function pairs(raw: readonly string[]): HeaderList {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as [string, string]] : []))
}

// The tenant sees this text, so it must not contain an address of this host.
function describe(error: unknown): string {
  if (error instanceof StreamReset) return error.message
  const code = (error as { code?: unknown } | null)?.code
  if (code === 'ECONNREFUSED') return 'nothing listens on this port of the worker'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the worker closed the connection'
  if (typeof code === 'string') return `the connection to the worker failed (${code})`
  return 'the connection to the worker failed'
}
