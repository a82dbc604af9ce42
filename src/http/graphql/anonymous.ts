import { Problem } from '../../contract/problems.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { clientSource } from '../callers/client-address.ts'

const WINDOW_MS = 60_000
/** Requests without a key that one address may send in a minute. */
export const MAX_ANONYMOUS = 120
const MAX_SOURCES = 10_000

const counts = new ExpiringCache<{ count: number }>(WINDOW_MS, MAX_SOURCES)

/** Counts a request without a key by its network address (GQL-28). Throws 429. */
export function countAnonymous(request: Request, nowMs: number): void {
  const source = clientSource(request)
  if (source === null) return
  const known = counts.get(source, nowMs)
  if (!known) counts.set(source, { count: 1 }, nowMs)
  else known.count += 1
  if (!known || known.count <= MAX_ANONYMOUS) return
  throw new Problem('rateLimited', {
    detail: `more than ${MAX_ANONYMOUS} requests without a key in a minute; send an API key`,
    headers: { 'Retry-After': String(WINDOW_MS / 1000) },
  })
}
