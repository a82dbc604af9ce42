import {
  canRetry,
  finishJob,
  isTerminal,
  type Job,
  judgePost,
  missPing,
  renewLease,
  retryJob,
  showIdle,
  submitJob,
} from '../../src/domain/job/job.ts'
import { jobRecordJson } from '../../src/domain/job/record.ts'
import { readWorkerPost } from '../../src/domain/job/worker-post.ts'
import type { Worker } from '../../src/domain/worker/worker.ts'
import type { Boot } from './facts.ts'
import { bootOf, holderOf, PureEngine, TIMES } from './pure-engine.ts'
import type { BootView, PostBody, QueueUnderTest, Reply, SubmitOptions } from './queue-under-test.ts'

const MAX_WORKERS = 3

/** The least queue that the pure rules make, for histories that take milliseconds. */
export class PureQueue extends PureEngine implements QueueUnderTest {
  readonly scales = false

  now(): number {
    return this.nowMs
  }

  async moveTo(atMs: number): Promise<void> {
    this.nowMs = atMs
    this.turn()
  }

  async alarmAtMs(): Promise<number | null> {
    return this.nextDueAtMs()
  }

  async restart(): Promise<void> {
    this.state = JSON.parse(JSON.stringify(this.state)) as typeof this.state
    this.takes = []
  }

  async submit({ low, sync, ttlMs, executionMs }: SubmitOptions): Promise<string> {
    const seq = ++this.state.keys
    const job = submitJob({
      seq,
      id: `job-${seq}`,
      lowPriority: low,
      createdAtMs: this.nowMs,
      ttlAtMs: this.nowMs + ttlMs,
      executionTimeoutMs: executionMs,
      retentionMs: sync ? 60_000 : 1_800_000,
      webhook: null,
      hasS3Config: false,
    })
    this.state.jobs.push(job)
    this.turn()
    return job.id
  }

  async cancel(id: string): Promise<Reply> {
    const job = this.job(id)
    if (!job) return { status: 404, body: {} }
    if (!isTerminal(job.state)) this.cancelJob(job)
    const reply = await this.record(id)
    this.turn()
    return reply
  }

  async retry(id: string): Promise<Reply> {
    const job = this.job(id)
    if (!job) return { status: 404, body: {} }
    if (!canRetry(job.state)) return { status: 400, body: {} }
    this.change(job, retryJob(job, ++this.state.keys))
    this.turn()
    return { status: 200, body: { id, status: 'IN_QUEUE' } }
  }

  async purge(): Promise<number> {
    const queued = this.state.jobs.filter((job) => job.state === 'IN_QUEUE')
    for (const job of queued) this.cancelJob(job)
    this.turn()
    return queued.length
  }

  async record(id: string): Promise<Reply> {
    const job = this.job(id)
    return job ? { status: 200, body: JSON.parse(jobRecordJson(job, this.state.outputs[id])) } : { status: 404, body: {} }
  }

  async counts(): Promise<Record<string, number>> {
    const count = (state: Job['state']) => this.state.jobs.filter((job) => job.state === state).length
    return { ...this.state.totals, inQueue: count('IN_QUEUE'), inProgress: count('IN_PROGRESS') }
  }

  async newBoots(): Promise<Boot[]> {
    const live = this.state.workers.filter((worker) => worker.phase === 'STARTING' || worker.phase === 'READY')
    if (live.length >= MAX_WORKERS) return []
    const worker = newWorker(`worker-${++this.state.keys}`, this.nowMs)
    this.state.workers.push(worker)
    return [bootOf({ workerId: worker.id, boot: worker.boot })]
  }

  async boots(): Promise<BootView[]> {
    const phases = { READY: 'accepting', STARTING: 'accepting', PLACING: 'accepting', DRAINING: 'draining', FAILED: 'failed' } as const
    return this.state.workers.map((worker) => ({
      boot: `${worker.id}/${worker.boot}`,
      phase: phases[worker.phase],
      reason: worker.reason ?? '',
    }))
  }

  async take(boot: Boot, capacity: number, idle: boolean): Promise<void> {
    const from = holderOf(boot)
    const worker = this.worker(from)
    if (!worker || worker.phase === 'FAILED') return
    if (idle) for (const job of this.heldBy(from.workerId)) this.save(showIdle(job, this.nowMs))
    if (worker.phase === 'DRAINING') return this.turn()
    if (worker.phase === 'STARTING') this.saveWorker({ ...worker, phase: 'READY', lastSeenAtMs: this.nowMs, idleSinceMs: this.nowMs })
    this.saveWorker({ ...this.workerNow(worker), lastTakeAtMs: this.nowMs })
    this.takes = [...this.takes.filter((take) => bootOf(take.from) !== boot), { from, capacity, parkedAtMs: this.nowMs }]
    this.turn()
  }

  async deliveries(): Promise<{ boot: Boot; jobs: string[] }[]> {
    const answered = this.answered
    this.answered = []
    return answered
  }

  async ping(boot: Boot, listed: readonly string[]): Promise<void> {
    const from = holderOf(boot)
    const worker = this.worker(from)
    if (!worker) return
    this.saveWorker({ ...worker, lastSeenAtMs: this.nowMs })
    for (const job of this.heldBy(from.workerId))
      this.save(listed.includes(job.id) ? renewLease(job, this.nowMs, TIMES) : missPing(job, this.nowMs))
    this.enforceStops(worker, listed)
    this.turn()
  }

  async done(boot: Boot, id: string, body: PostBody): Promise<void> {
    const post = readWorkerPost(JSON.stringify(body))
    const job = this.job(id)
    const verdict = job && judgePost(job, holderOf(boot), post.kind === 'result')
    if (job && post.kind === 'result' && (verdict === 'accept' || verdict === 'accept-late')) {
      this.change(job, finishJob(job, post.error === null ? 'COMPLETED' : 'FAILED', this.nowMs, post.error))
      if (post.output !== undefined) this.state.outputs[id] = post.output
    }
    const worker = this.worker(holderOf(boot))
    if (worker && post.kind === 'result' && post.stopWorker) this.drain(worker, 'the worker asked to be stopped')
    this.turn()
  }

  async progress(boot: Boot, id: string, output: unknown): Promise<void> {
    const job = this.job(id)
    if (job && judgePost(job, holderOf(boot), false) === 'accept') {
      this.state.outputs[id] = JSON.stringify(output)
      this.save(renewLease(job, this.nowMs, TIMES))
    }
    this.turn()
  }

  async chunk(boot: Boot, id: string): Promise<void> {
    const job = this.job(id)
    if (job && judgePost(job, holderOf(boot), false) === 'accept') this.save(renewLease(job, this.nowMs, TIMES))
    this.turn()
  }

  async crash(boot: Boot): Promise<void> {
    const worker = this.worker(holderOf(boot))
    if (worker) this.fail(worker, 'the container ended', (job) => worker.phase !== 'DRAINING' || job.acked)
    this.turn()
  }
}

function newWorker(id: string, nowMs: number): Worker {
  return {
    id,
    boot: 'b1',
    version: 1,
    phase: 'STARTING',
    hostId: 'host',
    gpuTypeId: null,
    dataCenterId: null,
    createdAtMs: nowMs,
    startedAtMs: null,
    lastSeenAtMs: null,
    idleSinceMs: null,
    reason: null,
    nextAttemptAtMs: nowMs,
    attempts: 0,
    forgetAtMs: null,
    released: false,
    lastTakeAtMs: null,
    excusedUntilMs: null,
    image: 'image',
    gpuCount: 0,
  }
}
