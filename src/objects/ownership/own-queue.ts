import { openDatabase } from '../../db/client.ts'
import { ownsEndpoint } from '../../db/endpoints/endpoints.ts'
import type { Env } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { Owned } from '../owned.ts'
import type { Asker } from './own.ts'

/** How long an isolate lets a team call an endpoint that it had. */
export const OWN_TTL_MS = 60_000
/** How long it refuses without asking D1 again. An endpoint's id is known to nobody before the endpoint is there. */
export const REFUSED_TTL_MS = 5_000
const CAPACITY = 10_000
/** Anything else was never the id of an endpoint, and must not fill the memory of the isolate. */
const ENDPOINT_ID = /^[A-Za-z0-9_-]{1,64}$/

// By team and endpoint, so that one team's calls warm nothing for another: an id that is another's takes the same way, and the same time, as
// one that is nobody's (PP-192). Apart from each other, so that refusals push out no owner.
const own = new ExpiringCache<true>(OWN_TTL_MS, CAPACITY)
const refused = new ExpiringCache<true>(REFUSED_TTL_MS, CAPACITY)
const keyOf = (teamId: string, endpointId: string) => `${teamId}/${endpointId}`

/** Asks D1 once, unless who asks has to wait; throws then. */
export type BoundedLook = (look: () => Promise<boolean>) => Promise<boolean>

/** An endpoint that a call of the job API names, from memory when it was called before; null for one that is not the asker's (API-5). */
export async function ownQueue(
  env: Env,
  { teamId }: Pick<Asker, 'teamId'>,
  endpointId: string,
  nowMs: number,
  bounded: BoundedLook = (look) => look(),
): Promise<Owned<'endpoint', null> | null> {
  if (!ENDPOINT_ID.test(endpointId)) return null
  const key = keyOf(teamId, endpointId)
  if (own.get(key, nowMs)) return Owned.prove('endpoint', endpointId, null)
  if (refused.get(key, nowMs)) return null
  const isOwn = await bounded(() => ownsEndpoint(openDatabase(env.DB), teamId, endpointId))
  ;(isOwn ? own : refused).set(key, true, nowMs)
  return isOwn ? Owned.prove('endpoint', endpointId, null) : null
}

/** Forgets that a team has an endpoint, after its deletion. */
export function forgetQueue(teamId: string, endpointId: string): void {
  own.delete(keyOf(teamId, endpointId))
}
