import { headersForClient } from '../../src/domain/balancer/headers.ts'
import type { Listener, Unheard } from '../../src/domain/ingress/unheard.ts'
import { encodeRecord, RecordReader, type SocketRecord } from '../../src/host-protocol/tunnel/socket-records.ts'
import type { TunnelStream } from '../../src/host-protocol/tunnel/stream.ts'
import { failed } from '../../src/objects/tunnel/host-tunnel-calls.ts'
import type { TunnelRequest } from '../../src/rpc/host-tunnel.ts'
import type { Timers } from '../clock/timers.ts'
import { answer, toFailure } from './carry-http.ts'

const SWITCHING = 101
/** Limit of a client's bytes that wait for its worker; the sender of a WebSocket cannot be slowed down. */
const MAX_WAITING_BYTES = 4 * 2 ** 20
const NORMAL = 1000
const NO_CODE = 1005
const TOO_LARGE = 1009
const TRY_LATER = 1013
const BROKEN = 1011
/** How long a worker may take to close its side after the client's. */
const CLOSING_MS = 5_000
const GONE = { code: 'cancelled', detail: 'the client disconnected' } as const
const UNHEARD = 'the client must send data from time to time: it received too much since its last message'

/** Carries a client's WebSocket through a stream, message by message. */
export async function carrySocket(
  timers: Pick<Timers, 'after' | 'every'>,
  stream: TunnelStream,
  request: TunnelRequest,
  unheard: Unheard<WebSocket>,
  now: () => number,
): Promise<Response> {
  try {
    await stream.accepted
    const head = await stream.head
    if (head.status !== SWITCHING) return answer(timers, stream, request, head)
    const listener = { workloadId: request.target.workloadId, account: request.account }
    const pair = new WebSocketPair()
    pair[1].binaryType = 'arraybuffer'
    pair[1].accept()
    const ear = new Ear(pair[1], listener, unheard, now)
    passUp(timers, stream, pair[1], ear)
    void passDown(stream, pair[1], ear)
    return new Response(null, { status: SWITCHING, webSocket: pair[0], headers: headersForClient(head.headers, request.isOwnOrigin) })
  } catch (error) {
    stream.reset(GONE)
    return failed(toFailure(error))
  }
}

/** Tracks whether a client reads the messages that it is sent (NET-51). */
class Ear {
  private readonly socket: WebSocket
  private readonly listener: Listener
  private readonly unheard: Unheard<WebSocket>
  private readonly now: () => number

  constructor(socket: WebSocket, listener: Listener, unheard: Unheard<WebSocket>, now: () => number) {
    this.socket = socket
    this.listener = listener
    this.unheard = unheard
    this.now = now
  }

  /**
   * Counts bytes sent to the client; closes the client, or another one of the same account, that was sent too much without a message of its
   * own (SHR-43).
   */
  countSent(bytes: number): void {
    const gone = this.unheard.countSent(this.listener, this.socket, bytes, this.now())
    if (gone !== null) close(gone, TRY_LATER, UNHEARD)
  }

  hear(): void {
    this.unheard.hear(this.socket)
  }

  leave(): void {
    this.unheard.leave(this.socket)
  }
}

function passUp(timers: Pick<Timers, 'after'>, stream: TunnelStream, socket: WebSocket, ear: Ear): void {
  let waiting = 0
  let writing = Promise.resolve()
  const say = (record: SocketRecord) => {
    const bytes = encodeRecord(record)
    if (bytes === null) return close(socket, TOO_LARGE, 'the message is above 1 MiB')
    waiting += bytes.length
    if (waiting > MAX_WAITING_BYTES) return close(socket, TRY_LATER, 'the worker reads too slowly')
    writing = writing
      .then(() => stream.write(bytes))
      .then(() => {
        waiting -= bytes.length
      })
    writing.catch(() => close(socket, BROKEN, 'the connection to the worker ended'))
  }
  socket.addEventListener('message', ({ data }) => {
    ear.hear()
    if (typeof data === 'string') say({ kind: 'text', text: data })
    else if (data instanceof ArrayBuffer) say({ kind: 'binary', bytes: new Uint8Array(data) })
  })
  socket.addEventListener('close', ({ code, reason }) => {
    ear.leave()
    say({ kind: 'close', code: code === NO_CODE ? NORMAL : code, reason })
    void writing.then(
      () => stream.end(),
      () => undefined,
    )
    // SHR-32: a worker that does not close its side must not hold the stream either.
    const cancel = timers.after(CLOSING_MS, () => stream.reset(GONE))
    void stream.over.then(cancel)
  })
  socket.addEventListener('error', () => {
    ear.leave()
    stream.reset(GONE)
  })
}

async function passDown(stream: TunnelStream, socket: WebSocket, ear: Ear): Promise<void> {
  const reader = new RecordReader()
  try {
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
      for (const record of reader.push(bytes)) {
        if (record.kind === 'close') close(socket, record.code, record.reason)
        else socket.send(record.kind === 'text' ? record.text : record.bytes)
      }
      ear.countSent(bytes.length)
    }
    close(socket, NORMAL, '')
    stream.end()
  } catch {
    stream.reset({ code: 'broken', detail: 'the WebSocket ended' })
    close(socket, BROKEN, 'the connection to the worker ended')
  }
}

function close(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // Closed already, or a reserved code that must not be sent.
  }
}
