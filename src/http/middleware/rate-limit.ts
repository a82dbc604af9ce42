import type { Next } from 'hono'
import { readSettings } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { announceWrites, countRequest, tooManyRequests } from '../../services/accounts/rate-limit.ts'
import { rateLimitHeaders } from '../../services/accounts/rate-limit-headers.ts'
import type { AppContext } from '../app-env.ts'
import { endsSomething } from './ending.ts'

/** Time after a refusal during which a caller is counted before it is served, milliseconds. */
const REFUSED_TTL_MS = 60_000
const MAX_REFUSED = 10_000

const refused = new ExpiringCache<true>(REFUSED_TTL_MS, MAX_REFUSED)

/**
 * Counts one request of the caller and adds the rate limit headers to the response, whatever its status (RATE-1 to RATE-4). A read is
 * served while it is counted, and its result is dropped if the count refuses it (RATE-8).
 */
export function limitRate(c: AppContext, next: Next): Promise<void> {
  return limitRateBy(endsSomething, c, next)
}

/**
 * Like `limitRate`, with another test of whether the request `ends` something. The test runs only once a window is used up (CAP-3). Throws
 * 429 above the limit.
 */
export async function limitRateBy(ends: (c: AppContext) => Promise<boolean>, c: AppContext, next: Next): Promise<void> {
  const { principal } = c.var
  const nowMs = Date.now()
  const isRead = onlyReads(c)
  const counting = countRequest(c.env, principal, nowMs, false, isRead)
  if (isRead && readSettings(c.env).hasReadReplicas) c.set('newestWrite', bookmarkOf(counting))
  const overlaps = isRead && !refused.get(principal.credentialId, nowMs)
  // A request that is served meanwhile has no proof that it was counted, and so writes nothing (SHR-3).
  const [first] = overlaps ? await Promise.all([counting, next()]) : [await counting]
  const isReserved = first.verdict?.allowed === false && (await ends(c))
  const last = isReserved ? await countRequest(c.env, principal, nowMs, true) : first
  const { verdict, counted } = last
  c.set('counted', counted)
  const headers = verdict && rateLimitHeaders(verdict)
  if (verdict?.allowed === false) {
    refused.set(principal.credentialId, true, nowMs)
    if (overlaps) c.res = undefined
    throw tooManyRequests(verdict)
  }
  if (!overlaps) await next()
  if (!isRead) await announceWrites(c.env, principal, last, nowMs)
  if (!headers) return
  c.res.headers.set('RateLimit', headers.RateLimit)
  c.res.headers.set('RateLimit-Policy', headers['RateLimit-Policy'])
}

// A failed count fails the request itself, wherever it is awaited first.
function bookmarkOf(counting: ReturnType<typeof countRequest>): Promise<string | null> {
  return counting.then(
    ({ bookmark }) => bookmark,
    () => null,
  )
}

// A log stream lasts as long as it is read, and a command in a pod does more than read; neither starts before the caller is counted.
function onlyReads({ req }: AppContext): boolean {
  return req.method === 'GET' && !req.path.endsWith('/logs') && req.header('upgrade') === undefined
}
