import { Problem } from '../../contract/problems.ts'
import type { BoundedQuery } from '../../objects/ownership/own-queue.ts'
import type { Principal } from '../../services/context.ts'
import { lookUpFor } from '../../services/credentials/lookups.ts'

/**
 * Returns a lookup that throws 429 after too many unknown endpoints of one key (KEY-10). Endpoints that the key has called before need no
 * lookup, so calls to them go on.
 */
export function boundedFor({ via, credentialId }: Principal): BoundedQuery {
  return async (query) => {
    const lookup = await lookUpFor(`endpoints of ${via} ${credentialId}`, Date.now(), async () => ((await query()) ? true : null))
    if (!('waitSeconds' in lookup)) return lookup.found !== null
    const detail = `this key requested too many unknown endpoints; retry in ${lookup.waitSeconds} seconds`
    throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(lookup.waitSeconds) } })
  }
}
