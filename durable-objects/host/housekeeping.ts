import { deleteOldAudit } from '../../src/db/audit-reads.ts'
import { deleteOldUsage } from '../../src/db/billing/usage-removal.ts'
import { openDatabase } from '../../src/db/client.ts'
import { deleteExpiredKeys } from '../../src/db/idempotency.ts'
import { dropUnusedOverlays } from '../../src/db/overlays/account-overlay.ts'
import { deleteTerminatedPods } from '../../src/db/pods/terminated-pods.ts'
import { moveUsage } from '../../src/effects/billing/move-usage.ts'
import { applyOverdueDeadlines } from '../../src/effects/pods/deadlines.ts'
import { watchSpend } from '../../src/effects/pods/watch-spend.ts'
import { type Env, readSettings } from '../../src/env.ts'
import { tryLogged } from '../../src/platform/log.ts'
import type { Alarms } from '../alarms.ts'
import type { WorkloadStore } from './workload-store.ts'

/** Interval of cleanup by each host's object; any of them may do it. */
const EVERY_MS = 3_600_000
const MINUTE_MS = 60_000
/** Delay when more rows may be left to delete. */
const AGAIN_AFTER_MS = 10_000
const MAX_DELETED = 500

/** Timer of the host object for deleting rows past their retention time. */
export const HOUSEKEEPING_TIMER = 'housekeeping'
/** Timer of the host object for tasks that cannot wait an hour. */
export const MINUTE_TIMER = 'minute'

export interface HousekeepingDeps {
  env: Env
  store: WorkloadStore
  alarms: Alarms
  now(): number
}

/**
 * Deletes rows past their retention time: terminated pods (POD-76), idempotency records (IDEM-3), the audit log (AUD-10) and usage
 * (BIL-42), and moves usage of closed months to the bucket (BIL-43). Host objects do it because their alarms are the timers that a plane has wherever it runs, and without a host there is no pod.
 */
export class Housekeeping {
  private readonly deps: HousekeepingDeps

  constructor(deps: HousekeepingDeps) {
    this.deps = deps
  }

  async begin(): Promise<void> {
    await this.deps.alarms.setBy(HOUSEKEEPING_TIMER, this.deps.now() + EVERY_MS)
    await this.deps.alarms.setBy(MINUTE_TIMER, this.deps.now() + MINUTE_MS)
  }

  /** Applies deadlines that other objects have missed (POD-62), and checks the spending of accounts (BIL-27, BIL-28). */
  async runEachMinute(): Promise<void> {
    const { env, store, alarms, now } = this.deps
    if (store.revoked() !== null) return
    await applyOverdueDeadlines(env, now())
    await watchSpend(env, now())
    await alarms.set(MINUTE_TIMER, now() + MINUTE_MS)
  }

  async run(): Promise<void> {
    const { env, store, alarms, now } = this.deps
    // A removed host does nothing.
    if (store.revoked() !== null) return
    const db = openDatabase(env.DB)
    const deleted = [
      await deleteTerminatedPods(db, now() - readSettings(env).terminatedPodsKeptMs, MAX_DELETED),
      await deleteExpiredKeys(db, now(), MAX_DELETED),
      await deleteOldAudit(db, now() - readSettings(env).auditKeptMs, MAX_DELETED),
      await deleteOldUsage(db, now() - readSettings(env).usageKeptMs, MAX_DELETED),
    ]
    await dropUnusedOverlays(db, now())
    let isMore = deleted.includes(MAX_DELETED)
    // A bucket that is away must not delay the deletions.
    await tryLogged('error', 'usage could not be moved to the bucket', {}, async () => {
      isMore = (await moveUsage(env, readSettings(env).usageKeptMs, now())) || isMore
    })
    await alarms.set(HOUSEKEEPING_TIMER, now() + (isMore ? AGAIN_AFTER_MS : EVERY_MS))
  }
}
