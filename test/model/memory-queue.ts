import { Alarm } from '../../durable-objects/endpoint/engine/alarm.ts'
import { type ParkedTake, Parking } from '../../durable-objects/endpoint/parking.ts'
import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../src/domain/endpoint/config.ts'
import { canRetry } from '../../src/domain/job/job.ts'
import { jobRecordJson } from '../../src/domain/job/record.ts'
import { plainSubmission } from '../../src/domain/job/submit.ts'
import { readChunk, readWorkerPost } from '../../src/domain/job/worker-post.ts'
import type { WorkloadReport } from '../../src/host-protocol/messages.ts'
import { acceptJob } from '../../src/queue/accept.ts'
import { beginCommit, endCommit } from '../../src/queue/commit.ts'
import { applyDeadlines, earliest, nextDueAtMs } from '../../src/queue/deadlines.ts'
import { cancelBatch, takeConfig } from '../../src/queue/endpoint-life.ts'
import { cancelJob, requeueJob } from '../../src/queue/jobs.ts'
import { takePing } from '../../src/queue/pings.ts'
import { askForWork } from '../../src/queue/polls.ts'
import { takeChunk, takeResult } from '../../src/queue/posts.ts'
import { OUTPUT } from '../../src/queue/state.ts'
import { currentJob } from '../../src/queue/transitions.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { applyHostEvent } from '../../src/queue/workers/host-events.ts'
import { applyWorkloadReport } from '../../src/queue/workers/host-reports.ts'
import { applyPlacement, applyRemoval, dueCalls } from '../../src/queue/workers/outside-calls.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import type { Boot } from './facts.ts'
import type { BootView, PostBody, QueueUnderTest, Reply, SubmitOptions } from './queue-under-test.ts'

const START_MS = 1_000_000
const SILENCE_MAX_MS = 600_000
const NO_CALLS: ReadonlySet<string> = new Set()
const WELL = { sdkVersion: null, unhealthy: null }

/** The production engine over maps, with a played host: a history takes milliseconds. */
export class MemoryQueue implements QueueUnderTest {
  readonly scales: boolean
  private nowMs = START_MS
  private parking = new Parking({ after: () => () => undefined })
  private state = new MemoryState(this.parking)
  private alarm = this.newAlarm()
  private planned = false
  private scaleAtMs: number | null = null
  private readonly boot = new Map<string, Boot>()
  private readonly ended = new Set<string>()
  private readonly toStop = new Set<string>()
  private readonly open = new Map<Boot, ParkedTake>()
  private answered: { boot: Boot; jobs: string[] }[] = []

  /** A queue that does not scale always has three workers, so that its history does not depend on scaling. */
  constructor({ scales }: { scales: boolean }) {
    this.scales = scales
    const workers = scales ? { min: 0, max: 3, idleTimeout: 20 } : { min: 3, max: 3, idleTimeout: 3_600 }
    const made = createEndpointConfig(
      SEED_CATALOG,
      { name: 'n', image: 'i', gpu: { pools: ['ADA_24'] }, workers },
      { id: 'e', teamId: 't' },
      0,
    )
    if (!made.ok) throw new Error(made.problem.detail)
    this.commit((tx) => takeConfig(tx, made.config))
  }

  now(): number {
    return this.nowMs
  }

  async moveTo(atMs: number): Promise<void> {
    for (const id of [...this.toStop]) this.end(id, 0)
    // The host may have caused an earlier alarm, which does not wait for `atMs`.
    for (let due = this.state.meta.alarmAtMs(); due !== null && due <= atMs; due = this.state.meta.alarmAtMs()) {
      this.nowMs = Math.max(this.nowMs, due)
      this.commit((tx) => {
        this.alarm.fired()
        applyDeadlines(tx)
      })
    }
    this.nowMs = atMs
  }

  async alarmAtMs(): Promise<number | null> {
    return this.state.meta.alarmAtMs()
  }

  async restart(): Promise<void> {
    this.parking = new Parking({ after: () => () => undefined })
    this.open.clear()
    this.state = this.state.restarted(this.parking)
    this.alarm = this.newAlarm()
    this.planned = false
    this.scaleAtMs = null
    this.commit(() => undefined)
  }

  async submit({ low, sync, ttlMs, executionMs }: SubmitOptions): Promise<string> {
    const submission = { ...plainSubmission('{}'), lowPriority: low, ttlMs, executionTimeoutMs: executionMs }
    const accepted = this.commit((tx) => acceptJob(tx, { submission, sync, waitMs: 0, sealS3Config: null }))
    if (!('job' in accepted)) throw new Error(accepted.refused.detail)
    return accepted.job.id
  }

  async cancel(id: string): Promise<Reply> {
    this.commit((tx) => {
      const job = currentJob(tx, id)
      if (job) cancelJob(tx, job)
    })
    return this.record(id)
  }

  async retry(id: string): Promise<Reply> {
    const status = this.commit((tx) => {
      const job = currentJob(tx, id)
      if (!job) return 404
      if (!canRetry(job)) return 400
      requeueJob(tx, job)
      return 200
    })
    return { status, body: {} }
  }

  async purge(): Promise<number> {
    let removed = 0
    for (;;) {
      const { cancelled, more } = this.commit(cancelBatch)
      removed += cancelled
      if (!more) return removed
    }
  }

  async record(id: string): Promise<Reply> {
    const job = this.commit((tx) => currentJob(tx, id))
    return job ? { status: 200, body: JSON.parse(jobRecordJson(job, this.state.payloads.get(job.seq, OUTPUT))) } : { status: 404, body: {} }
  }

  async counts(): Promise<Record<string, number>> {
    const { superseded: _, ...totals } = this.state.meta.totals()
    const { jobs } = this.state
    return { ...totals, inQueue: jobs.queuedNormal + jobs.queuedLow, inProgress: jobs.running().length }
  }

  async newBoots(): Promise<Boot[]> {
    const fresh = this.state.workers.all().filter((worker) => worker.phase === 'STARTING' && !this.boot.has(worker.id))
    for (const { id, boot } of fresh) {
      this.boot.set(id, `${id}/${boot}`)
      this.report(id, { state: 'running' })
    }
    return fresh.map(({ id, boot }) => `${id}/${boot}`)
  }

  async boots(): Promise<BootView[]> {
    return [...this.boot].map(([id, boot]) => {
      const worker = this.state.workers.get(id)
      const phase = !worker ? 'removed' : worker.phase === 'FAILED' ? 'failed' : worker.phase === 'DRAINING' ? 'draining' : 'accepting'
      return { boot, phase, reason: worker?.reason ?? 'gone' }
    })
  }

  async take(boot: Boot, capacity: number, idle: boolean): Promise<void> {
    const take: ParkedTake = {
      ...holderOf(boot),
      capacity,
      batch: true,
      parkedAtMs: this.nowMs,
      // A later take of the same boot displaces an earlier one, whose answer is dropped.
      answer: (body) => {
        if (this.open.get(boot) !== take) return
        this.open.delete(boot)
        this.answered.push({ boot, jobs: body === null ? [] : JSON.parse(body).map(({ id }: { id: string }) => id) })
      },
    }
    this.commit((tx) => {
      if (askForWork(tx, holderOf(boot), { idle, again: false }) !== 'waits') return
      this.open.set(boot, take)
      this.parking.parkTake(take)
    })
  }

  async deliveries(): Promise<{ boot: Boot; jobs: string[] }[]> {
    const { answered } = this
    this.answered = []
    return answered
  }

  async ping(boot: Boot, listed: readonly string[]): Promise<void> {
    this.commit((tx) => takePing(tx, holderOf(boot), { listed: new Set(listed), ...WELL }))
  }

  async done(boot: Boot, job: string, body: PostBody): Promise<void> {
    this.post(boot, job, body)
  }

  async progress(boot: Boot, job: string, output: unknown): Promise<void> {
    this.post(boot, job, { status: 'IN_PROGRESS', output })
  }

  async chunk(boot: Boot, job: string): Promise<void> {
    this.commit((tx) => takeChunk(tx, job, { ...holderOf(boot), delivery: null }, () => ({ json: readChunk('{"output":"chunk"}') })))
  }

  async crash(boot: Boot, byHost: boolean): Promise<void> {
    this.end(holderOf(boot).workerId, 137, byHost)
  }

  async hostSilent(boot: Boot, sinceMs: number): Promise<void> {
    this.commit((tx) => applyHostEvent(tx, [holderOf(boot).workerId], { kind: 'silent', sinceMs, waitMaxMs: SILENCE_MAX_MS }))
  }

  async hostHeard(boot: Boot): Promise<void> {
    this.commit((tx) => applyHostEvent(tx, [holderOf(boot).workerId], { kind: 'heard' }))
  }

  private post(boot: Boot, job: string, body: Record<string, unknown> | PostBody): void {
    const post = readWorkerPost(JSON.stringify(body))
    this.commit((tx) => takeResult(tx, job, { ...holderOf(boot), delivery: null }, () => post))
  }

  private end(id: string, exitCode: number, endedByHost = false): void {
    if (this.ended.has(id)) return
    this.ended.add(id)
    this.toStop.delete(id)
    this.report(id, { state: 'exited', exitCode, endedByHost })
    this.report(id, { state: 'gone' })
  }

  private report(workloadId: string, change: Pick<WorkloadReport, 'state'> & Partial<WorkloadReport>): void {
    const report = { workloadId, exitCode: null, reason: null, ...change } as WorkloadReport
    this.commit((tx) => applyWorkloadReport(tx, report))
  }

  /** One operation and all its consequences, calls to the played host included. */
  private commit<T>(run: (tx: Tx) => T): T {
    const effects = new Effects()
    const tx: Tx = { state: this.state, nowMs: this.nowMs, effects }
    beginCommit(tx, !this.planned)
    const value = run(tx)
    const { taken, scaleAtMs } = endCommit(tx, !this.planned)
    this.planned = true
    if (scaleAtMs !== undefined) this.scaleAtMs = scaleAtMs
    this.alarm.arm(earliest([nextDueAtMs(this.state, this.nowMs, NO_CALLS), this.scaleAtMs]), this.nowMs)
    for (const { take, jobs } of taken) this.parking.claimTake(take)?.answer(`[${jobs.map(({ text }) => `${text}}`).join(',')}]`)
    for (const id of effects.releasedTakes) this.parking.releaseTake(id)
    if (effects.scale) this.callOutside()
    return value
  }

  // A host accepts every worker, and ends the workers to be stopped when time moves on.
  private callOutside(): void {
    for (const { kind, worker } of dueCalls(this.state, this.nowMs, NO_CALLS)) {
      if (kind === 'place') {
        const placed = { ok: true, hostId: 'host', gpuTypeId: null, dataCenterId: 'LOCAL-1' } as const
        this.commit((tx) => applyPlacement(tx, worker.id, placed, false))
        continue
      }
      const isThere = this.boot.has(worker.id) && !this.ended.has(worker.id)
      if (isThere) this.toStop.add(worker.id)
      this.commit((tx) => applyRemoval(tx, worker.id, isThere ? 'requested' : 'none'))
    }
  }

  private newAlarm(): Alarm {
    const nowhere = { setAlarm: async () => undefined, deleteAlarm: async () => undefined }
    return new Alarm(nowhere, this.state.meta, this.state.pingIntervalMs)
  }
}

function holderOf(boot: Boot): { workerId: string; boot: string } {
  const [workerId = '', nonce = ''] = boot.split('/')
  return { workerId, boot: nonce }
}
