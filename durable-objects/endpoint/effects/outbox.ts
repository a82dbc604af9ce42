import type { Job } from '../../../src/domain/job/job.ts'
import { finishJob, isTerminal } from '../../../src/domain/job/job.ts'
import { notificationTexts } from '../../../src/domain/job/record.ts'
import { DELIVERY_HEADER, type HandOver } from '../../../src/objects/hand-over.ts'
import { webhookSenderStub } from '../../../src/objects/stubs.ts'
import { logEvent } from '../../../src/platform/log.ts'
import { encodePieces, PieceStore } from '../../piece-store.ts'
import type { EndpointCore } from '../core.ts'
import { INPUT } from '../store/payload-store.ts'

/** Handed over at a time. */
const BATCH = 8
/** When a hand-over that nobody finished is looked at again: the object may have gone away in the middle. */
const GUARD_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** Reached only when the sender takes nothing for a long time: it never refuses, whatever the receivers do. */
const MAX_ROWS = 100_000
const MAX_BYTES = 2 * 2 ** 30
/** An operation that ends many jobs stops for a while once it has written this much, so that it holds nobody up. */
const MAX_BYTES_PER_OPERATION = 32 * 2 ** 20

interface OutboxRow extends HandOver {
  n: number
}

/**
 * Notifications of jobs that are over. A row is written in the transaction of the terminal state and removed once the team's sender has it,
 * so a crash in between repeats the hand-over, which the sender knows by the delivery's id.
 */
export class Outbox {
  private readonly core: EndpointCore
  private readonly pieces: PieceStore
  private rows = 0
  private bytes = 0
  private draining = false
  private failures = 0
  private notBeforeMs = 0

  constructor(core: EndpointCore) {
    this.core = core
    this.pieces = new PieceStore(core.ctx.storage.sql, 'outbox_pieces')
    this.reload()
  }

  /** After a transaction that was rolled back. */
  reload(): void {
    const row = this.sql.exec('SELECT COUNT(*) AS n, COALESCE(SUM(bytes), 0) AS bytes FROM outbox').one()
    this.rows = Number(row.n)
    this.bytes = Number(row.bytes)
  }

  /** For an operation that ends many jobs: tells, when asked later, whether enough has been written for one commit. */
  meter(): () => boolean {
    const before = this.bytes
    return () => this.bytes - before >= MAX_BYTES_PER_OPERATION
  }

  /** When to look again although nothing happens; null when nothing waits. */
  dueAtMs(nowMs: number): number | null {
    if (this.rows === 0) return null
    return this.notBeforeMs > nowMs ? this.notBeforeMs : nowMs + GUARD_MS
  }

  /** Inside a transaction: adds the notification of a job that is over. */
  add(job: Job, url: string, texts: readonly string[]): void {
    if (this.rows >= MAX_ROWS || this.bytes >= MAX_BYTES) {
      logEvent('error', 'webhook dropped: the outbox is full', { jobId: job.id, rows: this.rows, bytes: this.bytes })
      return
    }
    const id = `msg_${crypto.randomUUID().replaceAll('-', '')}`
    const row = this.sql.exec('INSERT INTO outbox (delivery_id, job_id, url, bytes) VALUES (?, ?, ?, 0) RETURNING n', id, job.id, url).one()
    const n = Number(row.n)
    let bytes = 0
    let part = 0
    for (const piece of encodePieces(texts)) {
      this.pieces.insert(n, part++, piece)
      bytes += piece.length
    }
    this.sql.exec('UPDATE outbox SET bytes = ? WHERE n = ?', bytes, n)
    this.rows += 1
    this.bytes += bytes
  }

  /** Hands over what waits, unless that is under way or was refused a moment ago. Never throws. */
  async drain(): Promise<void> {
    if (this.rows === 0 || this.draining || this.core.now() < this.notBeforeMs) return
    this.draining = true
    try {
      while (await this.drainBatch());
    } catch (error) {
      logEvent('error', 'webhook outbox failed', { error })
    } finally {
      this.draining = false
    }
  }

  /** Gives one notification to the team's sender; true once it is durable there. */
  async handOver(row: OutboxRow): Promise<boolean> {
    const teamId = this.core.meta.config()?.teamId
    if (teamId === undefined) return false
    const { n, ...delivery } = row
    const response = await webhookSenderStub(this.core.env, teamId).fetch('https://webhook-sender/deliveries', {
      method: 'POST',
      headers: { [DELIVERY_HEADER]: encodeURIComponent(JSON.stringify(delivery)) },
      body: this.pieces.stream(n, delivery.bytes),
    })
    return response.ok
  }

  /** False when nothing is left, or when the sender did not take everything. */
  private async drainBatch(): Promise<boolean> {
    const batch = this.first(BATCH)
    const taken = await Promise.all(batch.map((row) => this.handOver(row).catch((error) => this.noteFailure(error))))
    const done = batch.filter((_, index) => taken[index])
    this.failures = done.length === batch.length ? 0 : this.failures + 1
    this.notBeforeMs = this.failures === 0 ? 0 : this.core.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1))
    // Also when there is nothing to remove: the commit sets the alarm for the next try.
    await this.core.transact(() => this.remove(done))
    return this.failures === 0 && this.rows > 0
  }

  private noteFailure(error: unknown): false {
    logEvent('warn', 'webhook hand-over failed', { error })
    return false
  }

  private first(limit: number): OutboxRow[] {
    const rows = this.sql.exec('SELECT n, delivery_id, job_id, url, bytes FROM outbox ORDER BY n LIMIT ?', limit).toArray()
    const endpointId = this.core.meta.config()?.id ?? ''
    return rows.map((row) => ({
      n: Number(row.n),
      bytes: Number(row.bytes),
      id: String(row.delivery_id),
      endpointId,
      jobId: String(row.job_id),
      url: String(row.url),
    }))
  }

  private remove(rows: readonly OutboxRow[]): void {
    for (const row of rows) {
      this.sql.exec('DELETE FROM outbox WHERE n = ?', row.n)
      this.pieces.remove(row.n)
      this.rows -= 1
      this.bytes -= row.bytes
    }
  }

  private get sql(): SqlStorage {
    return this.core.ctx.storage.sql
  }
}

/** Inside a transaction, while the input of a job that is now over is still there: writes its notification (HOOK-3). */
export function notifyEnd(core: EndpointCore, job: Job, output?: string): void {
  if (job.webhook === null) return
  core.outbox.add(job, job.webhook, notificationTexts(job, job.webhook, core.payloads.get(job.seq, INPUT) ?? '{}', output))
}

/** JOB-9: a live job that is deleted by its ttl is notified as TIMED_OUT, before its payloads go. */
export function notifyExpired(core: EndpointCore, job: Job): void {
  if (!isTerminal(job.state)) notifyEnd(core, finishJob(job, 'TIMED_OUT', core.now()))
}
