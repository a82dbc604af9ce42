import type { Why } from '../../contract/why/why.ts'
import type { listHolders } from '../../db/hosts/holders.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import type { Means } from '../../domain/why/means.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

/** What an isolate remembers for explanations: whoever polls one costs the database no more than this allows (WHY-9). */

/** How old it may be. */
const WHY_TTL_MS = 2_000
/** Answers, and accounts. */
const MAX_ENTRIES = 1_000

/** What hosts have, as explanations look at it. */
export interface Snapshot {
  hosts: readonly PlacementHost[]
  /** When it was read. */
  atMs: number
}

export const knownHosts = new ExpiringCache<Snapshot>(WHY_TTL_MS, 1)
export const knownMeans = new ExpiringCache<Means>(WHY_TTL_MS, MAX_ENTRIES)
export const knownHolders = new ExpiringCache<Awaited<ReturnType<typeof listHolders>>>(WHY_TTL_MS, MAX_ENTRIES)
const answers = new ExpiringCache<Why>(WHY_TTL_MS, MAX_ENTRIES)

/** The answer about one version of one thing, worked out once in so much time, however often it is asked for. */
export async function rememberWhy(key: string, explain: () => Promise<Why>): Promise<Why> {
  const remembered = answers.get(key, Date.now())
  if (remembered) return remembered
  const atMs = Date.now()
  const answer = await explain()
  answers.set(key, answer, atMs)
  return answer
}

/** Forgets all of it. */
export function forgetWhy(): void {
  knownHosts.clear()
  knownMeans.clear()
  knownHolders.clear()
  answers.clear()
}
