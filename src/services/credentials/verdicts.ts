import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { forgetMisses } from './lookups.ts'

/** How long a verdict may outlive its revocation. */
export const VERDICT_TTL_MS = 60_000
/** How often somebody who asks for what his verdict does not know makes another look. */
const YOUNG_MS = 1_000
/** How long what was refused is refused without a look (PP-200). */
const REFUSED_TTL_MS = 5_000
/** How long a look for an open stream may take before another is made. */
const LOOK_MS = 5_000
/** Most credentials of a kind that an isolate remembers. */
export const MAX_VERDICTS = 10_000

/** Every `Verdicts` of this isolate. */
const everyKind: { clear(): void }[] = []

/** What an isolate remembers of one kind of credential, so that a warm request asks nothing. In memory only. */
export class Verdicts<Good, Bad> {
  private readonly good = new ExpiringCache<Good>(VERDICT_TTL_MS, MAX_VERDICTS)
  /** Ids are random, so nobody has asked for a new credential before it was made. */
  private readonly bad = new ExpiringCache<Bad>(REFUSED_TTL_MS, MAX_VERDICTS)
  /** What is being looked up for open streams. Nobody waits for another's look, and one that is never answered is forgotten. */
  private readonly looking = new ExpiringCache<true>(LOOK_MS, MAX_VERDICTS)
  /** How often something was forgotten. */
  private forgotten = 0

  constructor() {
    everyKind.push(this)
  }

  /** Taken before a look: what was forgotten meanwhile may have been read before it changed, so it is not kept. */
  mark(): number {
    return this.forgotten
  }

  goodOf(id: string, nowMs: number): Good | undefined {
    return this.good.get(id, nowMs)
  }

  /** The same if it was made within the last second: for what it does not know, an older one is looked up anew. */
  youngOf(id: string, nowMs: number): Good | undefined {
    return this.good.get(id, nowMs + VERDICT_TTL_MS - YOUNG_MS)
  }

  badOf(id: string, nowMs: number): Bad | undefined {
    return this.bad.get(id, nowMs)
  }

  keepGood(id: string, verdict: Good, nowMs: number, mark: number): void {
    if (mark === this.forgotten) this.good.set(id, verdict, nowMs)
  }

  keepBad(id: string, verdict: Bad, nowMs: number, mark: number): void {
    if (mark === this.forgotten) this.bad.set(id, verdict, nowMs)
  }

  /**
   * Whether a credential is still good, by a look that is at most `maxAgeMs` old, whoever needed it (PP-215): a thousand streams of one
   * credential cost one look. While that is under way the others go by what they knew, and come again.
   */
  async isStillGood(
    id: string,
    nowMs: number,
    maxAgeMs: number,
    holds: (known: Good) => boolean,
    look: () => Promise<boolean>,
  ): Promise<boolean> {
    if (this.bad.get(id, nowMs) !== undefined) return false
    const known = this.good.get(id, nowMs + Math.max(0, VERDICT_TTL_MS - maxAgeMs))
    if (known !== undefined) return holds(known)
    if (this.looking.get(id, nowMs)) return true
    this.looking.set(id, true, nowMs)
    const isGood = await look()
    this.looking.delete(id)
    return isGood
  }

  forget(id: string): void {
    this.forgotten += 1
    this.good.delete(id)
  }

  clear(): void {
    this.forgotten += 1
    this.good.clear()
    this.bad.clear()
    this.looking.clear()
  }

  get size(): number {
    return this.good.size + this.bad.size
  }
}

/** Drops every cached decision of this isolate: a revocation made here, or a role that was changed here, takes effect here at once. */
export function forgetVerdicts(): void {
  for (const kind of everyKind) kind.clear()
  forgetMisses()
}
