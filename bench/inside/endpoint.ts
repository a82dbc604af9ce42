import { EndpointObject } from '../../durable-objects/endpoint.ts'
import { formatJobId } from '../../src/domain/job/id.ts'
import { submitJob } from '../../src/domain/job/job.ts'
import type { ReadyWorker } from '../../src/domain/worker/worker.ts'
import { dispatch } from '../../src/queue/dispatch.ts'
import { askForWork } from '../../src/queue/polls.ts'
import { takeResult } from '../../src/queue/posts.ts'
import type { Tx } from '../../src/queue/tx.ts'

const DAY_MS = 24 * 60 * 60_000
const ID_RANDOM_BYTES = 10
const RESULT = { kind: 'result', output: '{"ok":true}', error: null, stopWorker: false } as const

/** The endpoint object with steps that a measurement can call repeatedly. */
export class OpenEndpointObject extends EndpointObject {
  /** A commit without any operation. */
  async nothing(): Promise<void> {
    await this.core.transact(() => undefined)
  }

  /** Inserts jobs fast, all in one operation. */
  async fill(count: number, input: string): Promise<void> {
    await this.core.transact(() => {
      for (let i = 0; i < count; i++) this.insertJob(input)
    })
  }

  /** Inserts of concurrent requests: one commit, one savepoint each. */
  async insert(count: number, input: string): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.core.transact(() => this.insertJob(input))))
  }

  /** One worker takes a job and posts its result, `count` times, in one commit. */
  async takeAndFinish(count: number): Promise<void> {
    const worker = await this.core.transact(() => this.enlistWorker())
    await Promise.all(Array.from({ length: count }, () => this.core.transact((tx) => this.cycle(worker, tx))))
  }

  /** Removes jobs from the queue. */
  async trim(count: number): Promise<void> {
    await this.core.transact(() => {
      for (const job of this.core.state.jobs.queued(count)) {
        this.core.state.jobs.remove(job)
        this.core.state.payloads.clearJob(job.seq)
      }
    })
  }

  /** Bytes of the object's database. */
  async size(): Promise<number> {
    return this.ctx.storage.sql.databaseSize
  }

  private insertJob(input: string): void {
    const nowMs = this.core.now()
    const seq = this.core.state.jobs.nextSequence()
    const random = crypto.getRandomValues(new Uint8Array(ID_RANDOM_BYTES))
    const times = { createdAtMs: nowMs, ttlAtMs: nowMs + DAY_MS, executionTimeoutMs: DAY_MS, retentionMs: DAY_MS }
    const id = formatJobId(seq, false, this.core.state.meta.idMask(), random)
    this.core.state.jobs.insert(submitJob({ seq, id, lowPriority: false, webhook: null, hasS3Config: false, ...times }), input)
  }

  private cycle(worker: ReadyWorker, tx: Tx): void {
    const { parking } = this.core
    const from = { workerId: worker.id, boot: worker.boot }
    askForWork(tx, from, { idle: true, again: false })
    const take = { ...from, capacity: 1, batch: false, parkedAtMs: tx.nowMs, answer: () => undefined }
    parking.parkTake(take)
    const jobId = dispatch(tx)[0]?.jobs[0]?.jobId
    parking.dropTake(take)
    if (jobId === undefined) throw new Error('the take got no job')
    takeResult(tx, jobId, { ...from, delivery: null }, () => RESULT)
  }

  // The one worker that the plane wants has no host to start on, so it is marked as running.
  private enlistWorker(): ReadyWorker {
    const [planned] = this.core.state.workers.all()
    if (!planned) throw new Error('the endpoint wants no worker')
    const nowMs = this.core.now()
    const times = {
      startedAtMs: nowMs,
      lastSeenAtMs: nowMs,
      lastTakeAtMs: nowMs,
      idleSinceMs: nowMs,
      excusedUntilMs: null,
      loadedAtMs: null,
      watchedUntilMs: null,
    }
    const worker: ReadyWorker = { ...planned, ...times, phase: 'READY' }
    this.core.state.workers.save(worker)
    return worker
  }
}
