import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { dropMisses } from './lookups.ts'

/** How long a cached decision may outlive the revocation of its credential. */
export const DECISION_TTL_MS = 60_000
/** Minimum interval between lookups that bypass a cached decision. */
const YOUNG_MS = 1_000
/** How long a refusal is reused without a lookup (KEY-10). */
const REFUSED_TTL_MS = 5_000
/** How long a lookup for an open stream may take before another one starts. */
const CHECK_MS = 5_000
/** Maximum number of cached credentials per kind and isolate. */
export const MAX_CACHED_DECISIONS = 10_000

/** All instances of `CachedDecisions` in this isolate. */
const everyKind: { clear(): void }[] = []

/** Cached decisions of an isolate about one kind of credential, so that a warm request needs no query. In memory only. */
export class CachedDecisions<Good, Bad> {
  private readonly good = new ExpiringCache<Good>(DECISION_TTL_MS, MAX_CACHED_DECISIONS)
  /** Ids are random, so no request can have used a new credential before it was created. */
  private readonly bad = new ExpiringCache<Bad>(REFUSED_TTL_MS, MAX_CACHED_DECISIONS)
  /** Lookups in progress for open streams. No stream waits for another's lookup, and a lookup that never ends expires. */
  private readonly checking = new ExpiringCache<true>(CHECK_MS, MAX_CACHED_DECISIONS)
  /** Number of invalidations so far. */
  private generation = 0

  constructor() {
    everyKind.push(this)
  }

  /**
   * Returns a mark to take before a lookup: a decision is not cached when an invalidation came after the mark, because it may rest on older
   * data.
   */
  mark(): number {
    return this.generation
  }

  goodOf(id: string, nowMs: number): Good | undefined {
    return this.good.get(id, nowMs)
  }

  /** Returns a cached decision less than a second old. A request that needs data missing from an older decision causes a new lookup. */
  youngOf(id: string, nowMs: number): Good | undefined {
    return this.good.get(id, nowMs + DECISION_TTL_MS - YOUNG_MS)
  }

  badOf(id: string, nowMs: number): Bad | undefined {
    return this.bad.get(id, nowMs)
  }

  keepGood(id: string, verdict: Good, nowMs: number, mark: number): void {
    if (mark === this.generation) this.good.set(id, verdict, nowMs)
  }

  keepBad(id: string, verdict: Bad, nowMs: number, mark: number): void {
    if (mark === this.generation) this.bad.set(id, verdict, nowMs)
  }

  /**
   * Whether a credential is still valid, by a lookup at most `maxAgeMs` old that all streams of the credential share (DER-42): a thousand
   * streams of one credential cost one lookup. While it runs, the other streams continue on their previous decision and check again later.
   */
  async isStillGood(
    id: string,
    nowMs: number,
    maxAgeMs: number,
    holds: (known: Good) => boolean,
    verify: () => Promise<boolean>,
  ): Promise<boolean> {
    if (this.bad.get(id, nowMs) !== undefined) return false
    const known = this.good.get(id, nowMs + Math.max(0, DECISION_TTL_MS - maxAgeMs))
    if (known !== undefined) return holds(known)
    if (this.checking.get(id, nowMs)) return true
    this.checking.set(id, true, nowMs)
    const isGood = await verify()
    this.checking.delete(id)
    return isGood
  }

  discard(id: string): void {
    this.generation += 1
    this.good.delete(id)
  }

  clear(): void {
    this.generation += 1
    this.good.clear()
    this.bad.clear()
    this.checking.clear()
  }

  get size(): number {
    return this.good.size + this.bad.size
  }
}

/** Drops all cached decisions of this isolate, so that a revocation or a changed role applies here at once. */
export function dropCachedDecisions(): void {
  for (const kind of everyKind) kind.clear()
  dropMisses()
}
