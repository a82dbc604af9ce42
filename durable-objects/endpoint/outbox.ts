import type { JobTimeline } from '../../src/contract/jobs/timeline.ts'
import { formatTime } from '../../src/contract/timestamps.ts'
import { believable } from '../../src/domain/clock/step.ts'
import type { Job } from '../../src/domain/job/job.ts'
import type { Env } from '../../src/env.ts'
import { type HandOver, handOverHeaders } from '../../src/objects/hand-over.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { webhookSenderStub } from '../../src/objects/stubs.ts'
import { mapAtOnce } from '../../src/platform/at-once.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Tx } from '../../src/queue/tx.ts'
import type { LoggedDelivery } from '../../src/rpc/webhook-sender.ts'
import type { OutboxRow } from './store/outbox-store.ts'
import type { SqlState } from './store/sql-state.ts'

/** Notifications handed over in parallel. */
const BATCH = 8
/** Delay before an unfinished hand-over is checked again: the object may have been evicted in the middle of it. */
const GUARD_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** Largest number of notifications shown per job: one for each time that it ended. */
const MAX_SHOWN = 20

interface OutboxDeps {
  env: Env
  state: Pick<SqlState, 'outbox' | 'meta'>
  now: () => number
  transact: <T>(run: (tx: Tx) => T) => Promise<T>
}

/** Hands notifications of ended jobs over to the team's webhook sender. */
export class Outbox {
  private readonly deps: OutboxDeps
  private draining = false
  private failures = 0
  private notBeforeMs = 0

  constructor(deps: OutboxDeps) {
    this.deps = deps
  }

  /** Next time to call `drain` even without new rows, in milliseconds since the epoch; null when the outbox is empty. */
  dueAtMs(nowMs: number): number | null {
    if (this.deps.state.outbox.size === 0) return null
    const notBeforeMs = believable(this.notBeforeMs, nowMs, LONGEST_RETRY_MS)
    return notBeforeMs > nowMs ? notBeforeMs : nowMs + GUARD_MS
  }

  /** Hands over pending notifications, unless a drain is running or in backoff. Never throws. */
  async drain(): Promise<void> {
    if (this.deps.state.outbox.size === 0 || this.draining || this.isToWait()) return
    this.draining = true
    try {
      while (await this.drainBatch());
    } catch (error) {
      logEvent('error', 'webhook outbox failed', { error })
    } finally {
      this.draining = false
    }
  }

  /** Hands one notification over to the team's sender; true once it is durable there. */
  async handOver(row: OutboxRow): Promise<boolean> {
    const { env, state } = this.deps
    const config = state.meta.config()
    if (!config) return false
    const delivery: HandOver = { id: row.deliveryId, endpointId: config.id, jobId: row.jobId, url: row.url, bytes: row.bytes }
    const response = await webhookSenderStub(env, asPlane('team', config.teamId, 'sends a notification')).fetch(
      'https://webhook-sender/deliveries',
      {
        method: 'POST',
        headers: handOverHeaders(delivery),
        body: state.outbox.body(row),
      },
    )
    return response.ok
  }

  /** Notifications of a job, newest first (JOB-43); null when they cannot be read. */
  async deliveriesOf({ id, webhook }: Job): Promise<JobTimeline['webhooks']> {
    const { env, state } = this.deps
    const config = state.meta.config()
    if (webhook === null || !config) return []
    const sender = webhookSenderStub(env, asPlane('team', config.teamId, 'shows notifications of a job'))
    try {
      const found = await sender.deliveries({ endpointId: config.id, jobId: id, after: null, limit: MAX_SHOWN })
      return found.map(deliveryView)
    } catch (error) {
      logEvent('warn', 'deliveries of a job could not be read', { error })
      return null
    }
  }

  private isToWait(): boolean {
    const nowMs = this.deps.now()
    return nowMs < believable(this.notBeforeMs, nowMs, LONGEST_RETRY_MS)
  }

  /** False when nothing is left, or when the sender did not accept the whole batch. */
  private async drainBatch(): Promise<boolean> {
    const { state, now, transact } = this.deps
    const batch = state.outbox.first(BATCH)
    const taken = await mapAtOnce(batch, (row) => this.handOver(row).catch((error) => this.noteFailure(error)))
    const done = batch.filter((_, index) => taken[index])
    this.failures = done.length === batch.length ? 0 : this.failures + 1
    this.notBeforeMs = this.failures === 0 ? 0 : now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1))
    // Also when there is nothing to remove, because the commit sets the alarm for the next try.
    await transact(() => state.outbox.remove(done))
    return this.failures === 0 && state.outbox.size > 0
  }

  private noteFailure(error: unknown): false {
    logEvent('warn', 'webhook hand-over failed', { error })
    return false
  }
}

function deliveryView({ id, url, createdAtMs, state }: LoggedDelivery) {
  const attempts = state.attempts.map(({ atMs, ...attempt }) => ({ at: formatTime(atMs), ...attempt }))
  return { id, url, status: state.status, attempts, createdAt: new Date(createdAtMs).toISOString() }
}
