import {
  emptyCounts,
  RATE_WINDOWS,
  type RateCounts,
  type RateQuota,
  type RateVerdict,
  type RateWindowName,
  takeRequest,
} from '../src/domain/rate-limit.ts'
import type { Env } from '../src/env.ts'
import type { RateLimiterRpc } from '../src/objects/rate-limiter.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

const SCHEMA = ['CREATE TABLE windows (name TEXT PRIMARY KEY, start_ms INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID']

/** Counts the REST requests of one user, exactly: every request of the user meets the same object (RATE-1, RATE-5). */
export class RateLimiterObject extends PlaneObject implements RateLimiterRpc {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, SCHEMA)
  }

  take(quota: RateQuota, nowMs = Date.now()): RateVerdict {
    return this.ctx.storage.transactionSync(() => {
      const verdict = takeRequest(this.load(), quota, nowMs)
      if (verdict.allowed) this.save(verdict.counts)
      return verdict
    })
  }

  private load(): RateCounts {
    const counts = emptyCounts()
    const rows = this.ctx.storage.sql.exec<{ name: RateWindowName; start_ms: number; count: number }>('SELECT * FROM windows')
    for (const row of rows) counts[row.name] = { startMs: row.start_ms, count: row.count }
    return counts
  }

  private save(counts: RateCounts): void {
    for (const { name } of RATE_WINDOWS) {
      const { startMs, count } = counts[name]
      this.ctx.storage.sql.exec('INSERT OR REPLACE INTO windows (name, start_ms, count) VALUES (?, ?, ?)', name, startMs, count)
    }
  }
}
