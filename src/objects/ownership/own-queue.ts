import { openDatabase } from '../../db/client.ts'
import { ownsEndpoint } from '../../db/endpoints/endpoints.ts'
import type { Env } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { Owned } from '../owned.ts'
import type { RequestOwner } from './own.ts'

/** How long an isolate allows a team to call an endpoint that it owned at the last check. */
export const OWN_TTL_MS = 60_000
/** How long an isolate refuses without querying D1 again. No caller knows an endpoint's id before the endpoint exists. */
export const REFUSED_TTL_MS = 5_000
const CAPACITY = 10_000
/** Any other text was never the id of an endpoint, and must not fill the isolate's memory. */
const ENDPOINT_ID = /^[A-Za-z0-9_-]{1,64}$/

// Keyed by team and endpoint, so that one team's calls do not warm the cache for another: an id of another team takes the same path and
// time as an unknown one (AUT-23). Separate caches, so that refusals do not evict owners.
const own = new ExpiringCache<true>(OWN_TTL_MS, CAPACITY)
const refused = new ExpiringCache<true>(REFUSED_TTL_MS, CAPACITY)
const keyOf = (teamId: string, endpointId: string) => `${teamId}/${endpointId}`

/** Runs one query of D1 within the limit of such queries; throws when the caller must wait. */
export type BoundedQuery = (query: () => Promise<boolean>) => Promise<boolean>

/** The endpoint of a job API call, from the cache if it was called before; null when it is not the caller's (API-5). */
export async function ownQueue(
  env: Env,
  { teamId }: Pick<RequestOwner, 'teamId'>,
  endpointId: string,
  nowMs: number,
  bounded: BoundedQuery = (query) => query(),
): Promise<Owned<'endpoint', null> | null> {
  if (!ENDPOINT_ID.test(endpointId)) return null
  const key = keyOf(teamId, endpointId)
  if (own.get(key, nowMs)) return Owned.prove('endpoint', endpointId, null)
  if (refused.get(key, nowMs)) return null
  const isOwn = await bounded(() => ownsEndpoint(openDatabase(env.DB), teamId, endpointId))
  ;(isOwn ? own : refused).set(key, true, nowMs)
  return isOwn ? Owned.prove('endpoint', endpointId, null) : null
}

/** Removes a team's endpoint from the cache, after its deletion. */
export function dropQueue(teamId: string, endpointId: string): void {
  own.delete(keyOf(teamId, endpointId))
}
