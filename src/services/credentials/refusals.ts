import { MISS_WINDOW_MS } from '../../domain/misses.ts'
import { countRefusal, type Refusals, refusalWaitMs } from '../../domain/refusals.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

const MAX_SOURCES = 10_000

const refusals = new ExpiringCache<Refusals>(2 * MISS_WINDOW_MS, MAX_SOURCES)
let waiting = 0

/** Delays a refusal to a source that has received many (RATE-30). */
export async function holdRefusal(source: string, nowMs: number): Promise<void> {
  const counted = countRefusal(refusals.get(source, nowMs), nowMs)
  refusals.set(source, counted, nowMs)
  const waitMs = refusalWaitMs(counted, waiting)
  if (waitMs === 0) return
  waiting += 1
  try {
    await scheduler.wait(waitMs)
  } finally {
    waiting -= 1
  }
}

/** Drops all counted refusals of this isolate. */
export function dropRefusals(): void {
  refusals.clear()
}
