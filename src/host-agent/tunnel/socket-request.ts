import { WebSocket } from 'ws'
import type { RequestTarget } from '../../host-protocol/tunnel/frames.ts'
import { encodeRecord, MAX_MESSAGE_BYTES, RecordReader, type SocketRecord } from '../../host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../host-protocol/tunnel/stream.ts'
import type { Place } from '../runtime.ts'
import { pairs } from './http-request.ts'

const CONNECT_TIMEOUT_MS = 5_000
const MAX_REFUSAL_BYTES = 64 * 1024
/** Headers that a WebSocket client sets itself. */
const OWN_HEADERS = /^(?:sec-websocket-.*|connection|upgrade)$/i
const NORMAL = 1000
const NO_CODE = 1005
const ABNORMAL = 1006

/** Forwards a WebSocket of the plane to a workload, message by message. */
export function serveSocket(stream: TunnelStream, target: RequestTarget, { host, port }: Place): void {
  const wanted = target.headers.filter(([name]) => name.toLowerCase() === 'sec-websocket-protocol').flatMap(([, value]) => value.split(','))
  const headers = Object.fromEntries(target.headers.filter(([name]) => !OWN_HEADERS.test(name)))
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const socket = new WebSocket(`ws://${authority}${target.path}`, wanted.map((name) => name.trim()).filter(Boolean), {
    headers,
    followRedirects: false,
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  socket.binaryType = 'nodebuffer'
  let writing = Promise.resolve()
  const say = (record: SocketRecord) => {
    const bytes = encodeRecord(record)
    if (bytes === null) return
    // The socket is not read during a write, so that further messages wait in the workload and not here.
    socket.pause()
    writing = writing.then(() => stream.write(bytes)).then(() => socket.resume())
    writing.catch(() => socket.terminate())
  }
  socket.on('open', () => {
    stream.accept()
    const headers = socket.protocol === '' ? [] : [['sec-websocket-protocol', socket.protocol] as [string, string]]
    stream.sendHead({ status: 101, headers })
    passDown(stream, socket).catch(() => socket.terminate())
  })
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    say(isBinary ? { kind: 'binary', bytes } : { kind: 'text', text: bytes.toString('utf8') })
  })
  socket.on('unexpected-response', (request, response) => {
    stream.accept()
    stream.sendHead({ status: response.statusCode ?? 502, headers: pairs(response.rawHeaders) })
    void passRefusal(stream, response).finally(() => request.destroy())
  })
  socket.on('close', (code, reason) => {
    if (code !== ABNORMAL) say({ kind: 'close', code: code === NO_CODE ? NORMAL : code, reason: reason.toString('utf8') })
    void writing.then(
      () => (code === ABNORMAL ? stream.reset({ code: 'broken', detail: 'the worker closed the connection' }) : stream.end()),
      () => {},
    )
  })
  socket.on('error', (error) => stream.reset({ code: 'unreachable', detail: `the connection to the worker failed (${nameOf(error)})` }))
  void stream.over.then(() => socket.terminate())
}

async function passDown(stream: TunnelStream, socket: WebSocket): Promise<void> {
  const reader = new RecordReader()
  for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
    for (const record of reader.push(bytes)) {
      if (record.kind === 'close') socket.close(closeCode(record.code), record.reason)
      else await new Promise((resolve) => socket.send(record.kind === 'text' ? record.text : record.bytes, resolve))
    }
  }
  socket.close()
}

async function passRefusal(stream: TunnelStream, body: AsyncIterable<Uint8Array>): Promise<void> {
  let left = MAX_REFUSAL_BYTES
  for await (const chunk of body) {
    await stream.write(chunk.subarray(0, left))
    left -= Math.min(left, chunk.length)
    if (left === 0) break
  }
  stream.end()
}

/** Returns the code if an endpoint may send it (RFC 6455 §7.4), otherwise 1000. */
function closeCode(code: number): number {
  return (code >= 1000 && code <= 1014 && ![1004, NO_CODE, ABNORMAL].includes(code)) || (code >= 3000 && code <= 4999) ? code : NORMAL
}

function nameOf(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? error.code : 'it does not speak the protocol'
}
