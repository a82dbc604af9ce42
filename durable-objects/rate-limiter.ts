import { emptyCounts, isAllowed, RATE_WINDOWS, type RateOutcome, type RateWindowName, spendOne } from '../src/domain/rate-limit.ts'
import type { Env } from '../src/env.ts'
import type { RateLimiterRpc } from '../src/objects/rate-limiter.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

const SCHEMA = ['CREATE TABLE windows (name TEXT PRIMARY KEY, start_ms INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID']

/** What an object that ends at once may forget. */
const WRITE_WITHIN_MS = 1_000

/**
 * Counts the REST requests of one user, exactly: every request of the user meets the same object (RATE-1, RATE-5). Counts are in memory and
 * written within a second, because a write for each request would cost more than most requests (RATE-9).
 */
export class RateLimiterObject extends PlaneObject implements RateLimiterRpc {
  private readonly counts = emptyCounts()
  private isWriting = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, SCHEMA)
    this.load()
  }

  take(minute: number, hour: number, day: number, nowMs = Date.now()): RateOutcome {
    const outcome = spendOne(this.counts, { minute, hour, day }, nowMs)
    // What was refused has changed no count: a flood of it writes nothing.
    if (isAllowed(outcome)) this.keep()
    return outcome
  }

  async probe(): Promise<void> {
    await this.ctx.storage.put('probe', 1)
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
    const rows = this.ctx.storage.sql.exec<{ name: RateWindowName; start_ms: number; count: number }>('SELECT * FROM windows')
    for (const row of rows) this.counts[row.name] = { startMs: row.start_ms, count: row.count }
  }

  private save(): void {
    this.ctx.storage.transactionSync(() => {
      for (const { name } of RATE_WINDOWS) {
        const { startMs, count } = this.counts[name]
        this.ctx.storage.sql.exec('INSERT OR REPLACE INTO windows (name, start_ms, count) VALUES (?, ?, ?)', name, startMs, count)
      }
    })
  }
}
