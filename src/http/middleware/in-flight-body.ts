import type { Problem } from '../../contract/problems.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { ArrivingBody, noRoomForBody } from '../../effects/arriving-body.ts'
import { drainRefused, enterInFlight, inFlightUse } from '../../effects/in-flight.ts'
import type { Env } from '../../env.ts'

/** Smaller bodies are not worth counting: limits of calls hold them. */
const MIN_COUNTED_BYTES = 64 * 1024

/** A request whose body counts for its account. */
export interface CountedRequest {
  /** In place of the one that came. */
  request: Request
  /** What its body counts as, in bytes; null: it is too small to count. */
  counted: () => { bytes: number } | null
  /** What has refused the body while it was read; null: nothing. */
  refusal: () => Problem | null
}

/**
 * Counts the body of a request with those of its account's last seconds (PP-207): what is taken in costs memory and time, however soon it is
 * answered. A body of unknown length counts by the bytes read of it (RST-20), where `maxBytes` is above 0; otherwise it is never read.
 * Throws 429 when it is too much.
 */
export async function countBody(env: Env, request: Request, teamId: string, maxBytes: number): Promise<CountedRequest> {
  if (request.body === null) return uncounted(request)
  const bytes = announcedBytes(request.headers)
  if (bytes === null && maxBytes === 0) return uncounted(request)
  if (bytes === null) return countArriving(env, request, request.body, teamId, maxBytes)
  if (bytes <= MIN_COUNTED_BYTES) return uncounted(request)
  const nowMs = Date.now()
  const { used, bound } = await inFlightUse(env, teamId, nowMs)
  if (used + bytes > bound) {
    // Unread, it resets the connection, and its sender may not hear why: that is for those who go on in spite of having heard it.
    await drainRefused(request.body, teamId, bytes, nowMs)
    throw noRoomForBody(used, bytes, bound)
  }
  const body = enterInFlight(teamId, bytes, nowMs)
  return { request, counted: () => body, refusal: () => null }
}

function uncounted(request: Request): CountedRequest {
  return { request, counted: () => null, refusal: () => null }
}

async function countArriving(
  env: Env,
  request: Request,
  source: ReadableStream<Uint8Array>,
  teamId: string,
  maxBytes: number,
): Promise<CountedRequest> {
  const reader = source.getReader()
  const head: Uint8Array[] = []
  let bytes = 0
  while (bytes <= MIN_COUNTED_BYTES) {
    const { value } = await reader.read()
    if (value === undefined) return uncounted(withWholeBody(request, head))
    bytes += value.byteLength
    head.push(value)
  }
  reader.releaseLock()
  const body = new ArrivingBody(source, { env, teamId, maxCountedBytes: maxBytes, maxDrainedBytes: maxBytes, isJson: true }, head)
  return { request: new Request(request, { body: body.stream }), counted: () => body.counted, refusal: () => body.refusal }
}

// From here on it is as if its length had been announced.
function withWholeBody(request: Request, pieces: readonly Uint8Array[]): Request {
  const body = new Blob([...pieces])
  const whole = new Request(request, { body })
  whole.headers.delete('transfer-encoding')
  whole.headers.set('content-length', String(body.size))
  return whole
}
