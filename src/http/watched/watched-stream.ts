import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { isStillGood } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'

/**
 * Interval of the checks of an open stream, and the maximum age of a cached decision about its key or session, milliseconds: together less
 * than a minute (DER-42). Tests shorten both.
 */
export const STREAM_CHECKS = { everyMs: 5_000, maxAgeMs: 54_000 }

/**
 * Returns a streaming response that ends once the key or session that requested it is revoked or expires, its account is suspended, or its
 * user's role changes (DER-42). A client that reconnects is authenticated again.
 */
export function watchedByKey(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  if (!response.body) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  return new Response(streamWhile(response.body, isGood, STREAM_CHECKS.everyMs), response)
}

/** Answers up to this size, in bytes, end before a check could run. They pass unchanged, which costs no JavaScript per chunk. */
const MAX_UNWATCHED_BYTES = 1_048_576

/**
 * Like `watchedByKey`, for a workload's answer, which a client reads to its end: an answer that outlives its key breaks off, so that it
 * does not look complete (DER-42). Bytes and length are unchanged.
 */
export function answerWatchedByKey(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  const length = response.headers.get('content-length')
  if (!response.body || (length !== null && Number(length) <= MAX_UNWATCHED_BYTES)) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  const through = length === null ? new IdentityTransformStream() : new FixedLengthStream(Number(length))
  const body = streamWhile(response.body, isGood, STREAM_CHECKS.everyMs, { through, breaksOff: true })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers, encodeBody: 'manual' })
}

interface Ending {
  through: { readable: ReadableStream; writable: WritableStream }
  /** Whether a stream that is ended early appears broken instead of complete. */
  breaksOff: boolean
}

/** Returns a stream that ends with its source, or when `isGood` resolves to false. A failed check changes nothing until the next one. */
export function streamWhile(
  source: ReadableStream,
  isGood: () => Promise<boolean>,
  everyMs: number,
  { through: { readable, writable }, breaksOff }: Ending = { through: new IdentityTransformStream(), breaksOff: false },
): ReadableStream {
  const ending = new AbortController()
  const timer = setInterval(() => {
    isGood().then(
      (good) => good || ending.abort(),
      (error: unknown) => logEvent('warn', 'the key of a stream could not be checked', { error }),
    )
  }, everyMs)
  source
    .pipeTo(writable, { signal: ending.signal, preventAbort: true })
    .catch((error: unknown) => (breaksOff || !ending.signal.aborted ? writable.abort(error) : writable.close()))
    // A reader that has left has already closed the writable side.
    .catch(() => undefined)
    .finally(() => clearInterval(timer))
  return readable
}
