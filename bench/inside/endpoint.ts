import { INPUT, OUTPUT } from '../../durable-objects/endpoint/store/payload-store.ts'
import { EndpointObject } from '../../durable-objects/endpoint.ts'
import { formatJobId } from '../../src/domain/job/id.ts'
import { finishJob, submitJob } from '../../src/domain/job/job.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import { dispatch } from '../../src/queue/dispatch.ts'
import type { Effects } from '../../src/queue/effects.ts'
import { applyJob } from '../../src/queue/transitions.ts'

const DAY_MS = 24 * 60 * 60_000
const ID_RANDOM_BYTES = 10
const RESULT = '{"ok":true}'

/** The endpoint object with its steps callable one by one, as often as a measurement needs. */
export class OpenEndpointObject extends EndpointObject {
  /** A commit without any operation. */
  async nothing(): Promise<void> {
    await this.core.transact(() => undefined)
  }

  /** Queues jobs the quick way, all in one operation. */
  async fill(count: number, input: string): Promise<void> {
    await this.core.transact(() => {
      for (let i = 0; i < count; i++) this.insertJob(input)
    })
  }

  /** Inserts of requests that arrived together: one commit, a savepoint each. */
  async insert(count: number, input: string): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.core.transact(() => this.insertJob(input))))
  }

  /** One worker takes a job and posts its result, again and again, in one commit. */
  async takeAndFinish(count: number): Promise<void> {
    const worker = await this.core.transact(() => this.enlistWorker())
    await Promise.all(Array.from({ length: count }, () => this.core.transact((effects) => this.cycle(worker, effects))))
  }

  /** Makes the queue shorter again. */
  async trim(count: number): Promise<void> {
    await this.core.transact(() => {
      for (const job of this.core.jobs.queued(count)) {
        this.core.jobs.remove(job)
        this.core.payloads.clearJob(job.seq)
      }
    })
  }

  /** Bytes of the object's database. */
  async size(): Promise<number> {
    return this.ctx.storage.sql.databaseSize
  }

  private insertJob(input: string): void {
    const nowMs = this.core.now()
    const seq = this.core.jobs.nextSequence()
    const random = crypto.getRandomValues(new Uint8Array(ID_RANDOM_BYTES))
    const times = { createdAtMs: nowMs, ttlAtMs: nowMs + DAY_MS, executionTimeoutMs: DAY_MS, retentionMs: DAY_MS }
    const id = formatJobId(seq, false, this.core.meta.idMask(), random)
    this.core.jobs.insert(submitJob({ seq, id, lowPriority: false, webhook: null, hasS3Config: false, ...times }))
    this.core.payloads.insert(seq, INPUT, input)
  }

  private cycle(worker: Worker, effects: Effects): void {
    const { core } = this
    const nowMs = core.now()
    core.workers.asked(worker.id, nowMs)
    const take = { workerId: worker.id, boot: worker.boot, capacity: 1, batch: false, parkedAtMs: nowMs, answer: () => undefined }
    core.parking.parkTake(take)
    const jobId = dispatch(core, effects)[0]?.jobs[0]?.jobId
    core.parking.dropTake(take)
    const job = jobId === undefined ? null : core.currentJob(jobId, effects)
    if (!job) throw new Error('the take got no job')
    applyJob(core, job, finishJob(job, 'COMPLETED', nowMs), effects)
    core.payloads.put(job.seq, OUTPUT, RESULT)
  }

  // The one worker that the plane wants here has no host to start on: it is said to run.
  private enlistWorker(): Worker {
    const [planned] = this.core.workers.all()
    if (!planned) throw new Error('the endpoint wants no worker')
    const nowMs = this.core.now()
    const worker: Worker = { ...planned, phase: 'READY', startedAtMs: nowMs, lastSeenAtMs: nowMs, lastTakeAtMs: nowMs }
    this.core.workers.save(worker)
    return worker
  }
}
