import { newestBookmark } from '../src/db/client.ts'
import { isSettled, type NewestWrite, wroteAt } from '../src/domain/newest-write.ts'
import {
  emptyCounts,
  isAllowed,
  quotaOfPods,
  type RateCounts,
  type RateOutcome,
  type RateQuota,
  spendAll,
  spendOne,
} from '../src/domain/rate-limit.ts'
import type { Env } from '../src/env.ts'
import { logEvent } from '../src/platform/log.ts'
import type { RateLimiterRpc } from '../src/rpc/rate-limiter.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

const SCHEMA = ['CREATE TABLE windows (name TEXT PRIMARY KEY, start_ms INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID']

/** Delay of writing counts, which is what a crash of the object may lose. */
const WRITE_WITHIN_MS = 1_000
/** Number of pods above which those without a request today are removed. */
const SWEEP_ABOVE = 1_000

/**
 * Counts the REST requests of one user, or of all pods of one paying account, exactly: all their requests reach the same object (RATE-1,
 * RATE-5, CAP-2). Counts are in memory and written within a second, because a write per request would cost more than most requests
 * (RATE-9). The share of each pod, and of each key and session in the reserve (SHR-44), is only in memory: after a restart the object knows
 * only their total.
 *
 * It also knows which state of the database contains the user's writes (RATE-34), because every request visits it. A new instance does not
 * know of writes that were counted before, and so begins as if one had just been.
 */
export class RateLimiterObject extends PlaneObject implements RateLimiterRpc {
  private readonly counts = emptyCounts()
  private readonly pods = new Map<string, RateCounts>()
  private readonly reserves = new Map<string, number>()
  private isWriting = false
  private newest: NewestWrite = wroteAt(Date.now())
  private isLearning = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, SCHEMA)
    this.load()
  }

  take(
    minute: number,
    hour: number,
    day: number,
    nowMs = Date.now(),
    ends = false,
    podId = '',
    credential = '',
    ofPayer: RateQuota = { minute, hour, day },
  ): RateOutcome {
    const quota = { minute, hour, day }
    const together = { counts: this.counts, quota: quotaOfPods(ofPayer) }
    const outcome =
      podId === ''
        ? spendOne(this.counts, quota, nowMs, ends, { credential, used: this.reserves })
        : spendAll([{ counts: this.countsOf(podId, nowMs), quota }, together], nowMs, ends)
    // A refused request changes no count, so a flood of them writes nothing.
    if (isAllowed(outcome)) {
      this.keep()
      this.newest = wroteAt(nowMs)
    }
    return outcome
  }

  takeRead(minute: number, hour: number, day: number, nowMs = Date.now()): { outcome: RateOutcome; bookmark: string | null } {
    const outcome = spendOne(this.counts, { minute, hour, day }, nowMs)
    if (isAllowed(outcome)) this.keep()
    const { bookmark } = this.newest
    if (bookmark === null && isSettled(this.newest, nowMs)) void this.learn()
    return { outcome, bookmark }
  }

  wrote(): void {
    this.newest = wroteAt(Date.now())
  }

  async probe(): Promise<void> {
    await this.ctx.storage.put('probe', 1)
  }

  /** Asks the primary for a bookmark: after a burst of writes once, and only when the user reads. */
  private async learn(): Promise<void> {
    if (this.isLearning) return
    this.isLearning = true
    const { newest } = this
    try {
      const bookmark = await newestBookmark(this.env.DB)
      // A write that was counted meanwhile may not be in that state.
      if (this.newest === newest) this.newest = { ...newest, bookmark }
    } catch (error) {
      logEvent('warn', 'the newest state of the database is not known: lists are read from the primary', { error })
    } finally {
      this.isLearning = false
    }
  }

  private countsOf(podId: string, nowMs: number): RateCounts {
    const known = this.pods.get(podId)
    if (known) return known
    if (this.pods.size >= SWEEP_ABOVE) {
      for (const [id, { day }] of this.pods) if (day.startMs <= nowMs - 86_400_000) this.pods.delete(id)
    }
    const counts = emptyCounts()
    this.pods.set(podId, counts)
    return counts
  }

  private keep(): void {
    if (this.isWriting) return
    this.isWriting = true
    this.timers.after(WRITE_WITHIN_MS, () => {
      this.isWriting = false
      this.save()
    })
  }

  private load(): void {
    const rows = this.ctx.storage.sql.exec<{ name: keyof RateCounts; start_ms: number; count: number }>('SELECT * FROM windows')
    for (const row of rows) this.counts[row.name] = { startMs: row.start_ms, count: row.count }
  }

  private save(): void {
    this.ctx.storage.transactionSync(() => {
      for (const [name, { startMs, count }] of Object.entries(this.counts)) {
        // Most users never use the reserve.
        if (name === 'reserve' && count === 0) continue
        this.ctx.storage.sql.exec('INSERT OR REPLACE INTO windows (name, start_ms, count) VALUES (?, ?, ?)', name, startMs, count)
      }
    })
  }
}
