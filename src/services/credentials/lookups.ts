import { countMiss, MISS_WINDOW_MS, type Misses, secondsUntilLookup } from '../../domain/misses.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

const MAX_SOURCES = 10_000

/** What a look-up found, or how long its source has to wait because too many of its look-ups found nothing. */
export type Lookup<Found> = { found: Found | null } | { waitSeconds: number }

/** A window is remembered in the next one. */
const misses = new ExpiringCache<Misses>(2 * MISS_WINDOW_MS, MAX_SOURCES)

/**
 * Looks something up for a source, unless too many of its look-ups found nothing (PP-200). Only what has found nothing counts: a client that
 * comes with two hundred good calls at once, after a minute of silence or at a fresh isolate, is no flood.
 */
export async function lookUpFor<Found>(source: string, nowMs: number, find: () => Promise<Found | null>): Promise<Lookup<Found>> {
  const waitSeconds = secondsUntilLookup(misses.get(source, nowMs), nowMs)
  if (waitSeconds !== null) return { waitSeconds }
  const found = await find()
  if (found === null) misses.set(source, countMiss(misses.get(source, nowMs), nowMs), nowMs)
  return { found }
}

/** Forgets every miss of this isolate. */
export function forgetMisses(): void {
  misses.clear()
}
