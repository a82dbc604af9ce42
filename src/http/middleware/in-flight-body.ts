import type { Problem } from '../../contract/problems.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { ArrivingBody, noRoomForBody } from '../../effects/arriving-body.ts'
import { drainRefused, enterInFlight, inFlightUse } from '../../effects/in-flight.ts'
import type { Env } from '../../env.ts'

/** Bodies up to this size, in bytes, are not counted: rate limits bound them. */
const MIN_COUNTED_BYTES = 64 * 1024

/** A request whose body counts towards its account's bytes under way. */
export interface CountedRequest {
  /** The request to use instead of the original one. */
  request: Request
  /** The counted size of the body, in bytes; null: the body is too small to count. */
  counted: () => { bytes: number } | null
  /** The problem that refused the body while it was read; null: none. */
  refusal: () => Problem | null
}

/**
 * Counts the body of a request towards its account's bytes of the last seconds (BUDGET-4): a body costs memory and time even if it is
 * answered at once. A body of unknown length is counted as it is read (REST-20) if `maxBytes` is above 0; otherwise it is not counted.
 * Throws 429 if the account has no room for it.
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
    // An unread body resets the connection, and the client may miss the answer. Only clients that keep sending in spite of refusals are
    // treated so.
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

// The copy has a `Content-Length`, as if its sender had announced it.
function withWholeBody(request: Request, pieces: readonly Uint8Array[]): Request {
  const body = new Blob([...pieces])
  const whole = new Request(request, { body })
  whole.headers.delete('transfer-encoding')
  whole.headers.set('content-length', String(body.size))
  return whole
}
