import type { Why } from '../../contract/explain/explain.ts'
import type { listHolders } from '../../db/hosts/holders.ts'
import type { Means } from '../../domain/explain/means.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

/** Caches of an isolate for explanations: polling an explanation causes no more database reads than these allow (WHY-9). */

/** Maximum age of an entry. */
const EXPLANATION_TTL_MS = 2_000
/** Maximum number of entries, for answers and accounts each. */
const MAX_ENTRIES = 1_000

/** The capacity of all hosts, as read for explanations. */
export interface Snapshot {
  hosts: readonly PlacementHost[]
  /** Instant of the request that read them, in milliseconds. */
  atMs: number
}

export const knownHosts = new ExpiringCache<Snapshot>(EXPLANATION_TTL_MS, 1)
export const knownMeans = new ExpiringCache<Means>(EXPLANATION_TTL_MS, MAX_ENTRIES)
export const knownHolders = new ExpiringCache<Awaited<ReturnType<typeof listHolders>>>(EXPLANATION_TTL_MS, MAX_ENTRIES)
const answers = new ExpiringCache<Why>(EXPLANATION_TTL_MS, MAX_ENTRIES)

/** Returns the explanation of one version of one resource, computed at most once per `EXPLANATION_TTL_MS`. */
export function cachedExplanation(key: string, nowMs: number, explain: () => Promise<Why>): Promise<Why> {
  return answers.load(key, nowMs, explain)
}

/** Drops all cached explanations and their inputs. */
export function dropExplanations(): void {
  knownHosts.clear()
  knownMeans.clear()
  knownHolders.clear()
  answers.clear()
}
