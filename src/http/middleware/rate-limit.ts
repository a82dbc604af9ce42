import type { Next } from 'hono'
import { rateLimitHeaders } from '../../domain/rate-limit.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { countRequest, tooManyRequests } from '../../services/accounts/rate-limit.ts'
import type { AppContext } from '../app-env.ts'
import { endsSomething } from './ending.ts'

/** How long a caller who was refused is counted before being served. */
const REFUSED_TTL_MS = 60_000
const MAX_REFUSED = 10_000

const refused = new ExpiringCache<true>(REFUSED_TTL_MS, MAX_REFUSED)

/**
 * Spends one of the caller's requests and says so on the response, whatever its status (RATE-1 to RATE-4). What only reads is served
 * while it is counted, and is thrown away when it is one too many (RATE-8).
 */
export function limitRate(c: AppContext, next: Next): Promise<void> {
  return limitRateBy(endsSomething, c, next)
}

/** The same where something else than the route says whether the request `ends` something; it is asked only once a window is used up (CAP-3). */
export async function limitRateBy(ends: (c: AppContext) => Promise<boolean>, c: AppContext, next: Next): Promise<void> {
  const { principal } = c.var
  const nowMs = Date.now()
  const counting = countRequest(c.env, principal, nowMs)
  const overlaps = onlyReads(c) && !refused.get(principal.credentialId, nowMs)
  // What is served meanwhile has no proof that it was counted, and so writes nothing (SHR-3).
  const [first] = overlaps ? await Promise.all([counting, next()]) : [await counting]
  const isReserved = first.verdict?.allowed === false && (await ends(c))
  const { verdict, counted } = isReserved ? await countRequest(c.env, principal, nowMs, true) : first
  c.set('counted', counted)
  const headers = verdict && rateLimitHeaders(verdict)
  if (verdict?.allowed === false) {
    refused.set(principal.credentialId, true, nowMs)
    if (overlaps) c.res = undefined
    throw tooManyRequests(verdict)
  }
  if (!overlaps) await next()
  if (!headers) return
  c.res.headers.set('RateLimit', headers.RateLimit)
  c.res.headers.set('RateLimit-Policy', headers['RateLimit-Policy'])
}

// A log goes on for as long as it is read, so it is not begun for a caller who may not; nor is a command in a pod, which does more than read.
function onlyReads({ req }: AppContext): boolean {
  return req.method === 'GET' && !req.path.endsWith('/logs') && req.header('upgrade') === undefined
}
