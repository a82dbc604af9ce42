import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { isStillGood } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'

/**
 * How often the key or session of an open stream is asked about, and how old what is known of it may be: together less than a minute (PP-215). Tests
 * shorten both.
 */
export const STREAM_CHECKS = { everyMs: 5_000, maxAgeMs: 54_000 }

/**
 * A response that stays open, as long as the key or session that asked for it is good: when it is revoked, expires, its account is suspended
 * or its user's role there changes, the stream ends (PP-215). Whoever reads on connects again, and is judged anew.
 */
export function watchedByKey(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  if (!response.body) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  return new Response(streamWhile(response.body, isGood, STREAM_CHECKS.everyMs), response)
}

/** What ends sooner than anybody could look: the answer goes on as it is, which costs no JavaScript for each piece of it. */
const MAX_UNWATCHED_BYTES = 1_048_576

/**
 * The same of an answer of a workload, which a client reads to its end: one that lasts breaks off, so that it does not look complete (PP-215). Its
 * bytes and its length stay as the workload gave them.
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
  /** Whether a stream that may not go on shows as broken, not as complete. */
  breaksOff: boolean
}

/** A stream that ends when its source does, or when `isGood` says no. A check that fails changes nothing: the next one comes. */
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
    // A reader that has left has closed it already.
    .catch(() => undefined)
    .finally(() => clearInterval(timer))
  return readable
}
