import { MAX_SERVED_BODY_BYTES } from '../../src/contract/endpoints/serving.ts'
import { headersForClient } from '../../src/domain/balancer/headers.ts'
import { COMMENT, COMMENT_MS, EventGap, takesComments } from '../../src/domain/ingress/event-gap.ts'
import type { StreamHead } from '../../src/host-protocol/tunnel/frames.ts'
import { StreamReset, type TunnelStream } from '../../src/host-protocol/tunnel/stream.ts'
import { failed } from '../../src/objects/tunnel/host-tunnel-calls.ts'
import type { TunnelFailure, TunnelRequest } from '../../src/rpc/host-tunnel.ts'
import type { Timers } from '../clock/timers.ts'

const NO_BODY = [204, 205, 304]
const CANCELLED = { code: 'cancelled', detail: 'the client disconnected' } as const

/** Carries one HTTP request through a stream: the body at the worker's pace, the response at the client's. */
export async function carryHttp(
  timers: Pick<Timers, 'after' | 'every'>,
  stream: TunnelStream,
  request: TunnelRequest,
  body: ReadableStream<Uint8Array> | null,
): Promise<Response> {
  try {
    await stream.accepted
    const sending = sendBody(stream, body)
    const head = await Promise.race([inTime(timers, stream.head, request.timeoutMs), sending.then(() => stream.head)])
    return answer(timers, stream, request, head)
  } catch (error) {
    // An invalid response head throws a different error; its stream must not stay open.
    stream.reset({ code: 'cancelled', detail: 'the answer was not passed on' })
    await body?.cancel().catch(() => undefined)
    return failed(toFailure(error))
  }
}

/** A refused request body, or a late response. */
class Refused extends Error {
  readonly failure: TunnelFailure

  constructor(failure: TunnelFailure) {
    super(failure.detail)
    this.failure = failure
  }
}

/** The failure to report for an error of a request. Throws every other error again. */
export function toFailure(error: unknown): TunnelFailure {
  if (error instanceof Refused) return error.failure
  if (!(error instanceof StreamReset)) throw error
  const isUnsent = error.code === 'unreachable' || error.code === 'refused'
  return { code: isUnsent ? 'unreachable' : 'broken', detail: error.message }
}

/** Sends the body. Rejects only if the request cannot be answered, because its body is too large. */
async function sendBody(stream: TunnelStream, body: ReadableStream<Uint8Array> | null): Promise<void> {
  let sent = 0
  if (body !== null) {
    const reader = body.getReader()
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        sent += part.value.length
        if (sent > MAX_SERVED_BODY_BYTES) {
          throw new Refused({ code: 'too large', detail: `request body exceeds ${MAX_SERVED_BODY_BYTES} bytes` })
        }
        await stream.write(part.value)
      }
    } catch (error) {
      void reader.cancel().catch(() => undefined)
      if (error instanceof Refused) {
        stream.reset({ code: 'cancelled', detail: error.message })
        throw error
      }
      // The worker may have answered without reading the whole body; a broken stream rejects its head.
      if (!(error instanceof StreamReset)) stream.reset(CANCELLED)
      return
    } finally {
      reader.releaseLock()
    }
  }
  stream.end()
}

async function inTime<T>(timers: Pick<Timers, 'after'>, wanted: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const detail = `it did not begin to respond within ${timeoutMs / 1000} s, the maximum waiting time of a request`
  const cancel = timers.after(timeoutMs, () => reject(new Refused({ code: 'late', detail })))
  return Promise.race([wanted, late]).finally(cancel)
}

/** The response with the worker's head and body. Throws a `StreamReset` for a status below 200. */
export function answer(
  timers: Pick<Timers, 'every'>,
  stream: TunnelStream,
  { target, isOwnOrigin, sandbox }: TunnelRequest,
  { status, headers }: StreamHead,
): Response {
  if (status < 200) throw new StreamReset({ code: 'broken', detail: `the worker answered with status ${status}` })
  const init = { status, headers: headersForClient(headers, isOwnOrigin, sandbox), encodeBody: 'manual' } as const
  if (('method' in target && target.method === 'HEAD') || NO_BODY.includes(status)) {
    void passAnswer(stream, new IdentityTransformStream().writable.getWriter())
    return new Response(null, init)
  }
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? ''
  const { readable, writable } = /^\d{1,15}$/.test(length) ? new FixedLengthStream(Number(length)) : new IdentityTransformStream()
  const writer = writable.getWriter()
  if (takesComments(headers)) void passEvents(timers, stream, writer)
  else void passAnswer(stream, writer)
  return new Response(readable, init)
}

/**
 * Passes an event stream, with a comment between events during silence: only a write detects that a client has closed its connection
 * (SHR-32).
 */
async function passEvents(
  timers: Pick<Timers, 'every'>,
  stream: TunnelStream,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  const gap = new EventGap()
  let isWriting = false
  const end = timers.every(COMMENT_MS, () => {
    if (isWriting || !gap.isSilent()) return
    isWriting = true
    writer.write(COMMENT).then(
      () => {
        isWriting = false
      },
      () => stream.reset(CANCELLED),
    )
  })
  await passAnswer(stream, writer, (bytes) => gap.take(bytes)).finally(end)
}

async function passAnswer(
  stream: TunnelStream,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  onPass: (bytes: Uint8Array) => void = () => {},
): Promise<void> {
  // Detects a disconnect even while the worker sends nothing.
  writer.closed.catch(() => stream.reset(CANCELLED))
  try {
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
      onPass(bytes)
      await writer.write(bytes)
    }
    await writer.close()
    // The rest of the request's body has no reader any more.
    stream.end()
  } catch (error) {
    stream.reset(CANCELLED)
    await writer.abort(error).catch(() => undefined)
  }
}
