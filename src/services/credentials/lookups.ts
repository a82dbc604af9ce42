import { countMiss, MISS_WINDOW_MS, type Misses, secondsUntilLookup } from '../../domain/misses.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

const MAX_SOURCES = 10_000

/** The result of a lookup, or the seconds that its source must wait because too many of its lookups found nothing. */
export type Lookup<Found> = { found: Found | null } | { waitSeconds: number }

/** A window is retained until the end of the next one. */
const misses = new ExpiringCache<Misses>(2 * MISS_WINDOW_MS, MAX_SOURCES)

/**
 * Runs a lookup for a source, unless too many of its lookups found nothing (KEY-10). Only misses count: a client that sends two hundred
 * valid calls at once, after a minute of silence or to a fresh isolate, is no flood.
 */
export async function lookUpFor<Found>(source: string, nowMs: number, find: () => Promise<Found | null>): Promise<Lookup<Found>> {
  const waitSeconds = secondsUntilLookup(misses.get(source, nowMs), nowMs)
  if (waitSeconds !== null) return { waitSeconds }
  const found = await find()
  if (found === null) misses.set(source, countMiss(misses.get(source, nowMs), nowMs), nowMs)
  return { found }
}

/** Drops all counted misses of this isolate. */
export function dropMisses(): void {
  misses.clear()
}
