import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import type { Principal } from '../../services/context.ts'
import { isStillGood } from '../../services/credentials/authenticate.ts'

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

/** A stream that ends when its source does, or when `isGood` says no. A check that fails changes nothing: the next one comes. */
export function streamWhile(source: ReadableStream, isGood: () => Promise<boolean>, everyMs: number): ReadableStream {
  const { readable, writable } = new IdentityTransformStream()
  const ending = new AbortController()
  const timer = setInterval(() => {
    isGood().then(
      (good) => good || ending.abort(),
      (error: unknown) => logEvent('warn', 'the key of a stream could not be checked', { error }),
    )
  }, everyMs)
  source
    .pipeTo(writable, { signal: ending.signal, preventAbort: true })
    .catch((error: unknown) => endStream(writable, ending.signal, error))
    .finally(() => clearInterval(timer))
  return readable
}

// A reader that has left has closed it already.
async function endStream(writable: WritableStream, ended: AbortSignal, error: unknown): Promise<void> {
  await (ended.aborted ? writable.close() : writable.abort(error)).catch(() => undefined)
}
