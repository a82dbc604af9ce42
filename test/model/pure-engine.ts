import { assignJobs } from '../../src/domain/job/dispatch.ts'
import {
  applyTime,
  dueAtMs,
  endLease,
  finishJob,
  type Holder,
  type Job,
  LEASE_INTERVALS,
  leaseJob,
  mayHold,
  sameHolder,
} from '../../src/domain/job/job.ts'
import { noTakeDueAtMs, silentAtMs, type Worker, workerDueAtMs } from '../../src/domain/worker/worker.ts'
import type { Boot } from './facts.ts'

export const TIMES = { pingIntervalMs: 10_000 }
const LOST_AFTER_MS = LEASE_INTERVALS * TIMES.pingIntervalMs
const STOP_GRACE_MS = 30_000

interface State {
  jobs: Job[]
  outputs: Record<string, string>
  workers: Worker[]
  stops: { workerId: string; jobId: string; killAtMs: number }[]
  totals: { completed: number; failed: number; retried: number }
  keys: number
}

/** Rows in memory and what has to follow from a change of one; every decision is that of the pure rules. */
export class PureEngine {
  protected nowMs = 1_000_000
  protected state: State = { jobs: [], outputs: {}, workers: [], stops: [], totals: { completed: 0, failed: 0, retried: 0 }, keys: 0 }
  protected takes: { from: Holder; capacity: number; parkedAtMs: number }[] = []
  protected answered: { boot: Boot; jobs: string[] }[] = []

  /** What the object does around every commit: time first, then work for those who wait. */
  protected turn(): void {
    for (const { id } of [...this.state.jobs]) this.settle(id)
    for (const worker of [...this.state.workers]) this.settleWorker(worker)
    this.dispatch()
  }

  protected settle(id: string): void {
    const job = this.job(id)
    if (!job) return
    const due = applyTime(job, this.nowMs)
    if (due.kind === 'none') return
    if (due.kind === 'delete') this.state.jobs = this.state.jobs.filter((other) => other !== job)
    else this.change(job, due.job)
    if (due.kind !== 'delete' || due.wasRunning) this.orderStop(job)
    if (due.kind === 'delete') this.markIdle(job)
    const worker = job.holder && this.worker(job.holder)
    if (due.kind !== 'lease-ended' || worker?.phase !== 'READY') return
    if (this.isSilent(worker)) this.fail(worker, 'no ping')
    else this.drain(worker, `lost job ${job.id}`)
  }

  protected settleWorker(worker: Worker): void {
    const now = this.workerNow(worker)
    if (now.phase === 'DRAINING' && this.isSilent(now))
      for (const job of this.heldBy(now.id)) this.change(job, endLease(job, 'no ping', this.nowMs))
    if (now.phase !== 'READY') return
    if (this.isSilent(now)) this.fail(now, 'no ping')
    else if (now.idleSinceMs !== null && this.nowMs >= noTakeDueAtMs(now)) this.fail(now, 'stopped asking for work')
  }

  /** When something has to look again although nothing happens. */
  protected nextDueAtMs(): number | null {
    const dues = this.state.workers.map((worker) => this.dueAtMs(worker)).filter((due) => due !== null)
    const known = [...this.state.jobs.map(dueAtMs), ...dues]
    return known.length === 0 ? null : Math.max(this.nowMs + 1, Math.min(...known))
  }

  protected dueAtMs(worker: Worker): number | null {
    const finishing = worker.phase === 'DRAINING' && this.heldBy(worker.id).length > 0
    return finishing ? silentAtMs(worker, LOST_AFTER_MS) : workerDueAtMs(worker, LOST_AFTER_MS)
  }

  protected isSilent(worker: Worker): boolean {
    return this.nowMs >= silentAtMs(worker, LOST_AFTER_MS)
  }

  protected dispatch(): void {
    const takers = this.takes.map((take) => ({ ...take.from, ...take, held: this.heldBy(take.from.workerId).length }))
    const queued = this.state.jobs
      .filter((job) => job.state === 'IN_QUEUE')
      .sort((a, b) => Number(a.lowPriority) - Number(b.lowPriority) || a.orderKey - b.orderKey)
    const answers = new Map<Boot, string[]>()
    for (const { takerIndex, job } of assignJobs(queued, takers)) {
      const taker = takers[takerIndex]
      if (!taker) throw new Error('assigned to nobody')
      this.save(leaseJob(job, taker.from, this.nowMs, TIMES))
      const worker = this.worker(taker.from)
      if (worker) this.saveWorker({ ...worker, idleSinceMs: null })
      answers.set(bootOf(taker.from), [...(answers.get(bootOf(taker.from)) ?? []), job.id])
    }
    for (const [boot, jobs] of answers) this.answer(boot, jobs)
    this.makeRoom()
  }

  /** PP-15. */
  protected makeRoom(): void {
    const ready = this.state.workers.filter((worker) => worker.phase === 'READY' || worker.phase === 'STARTING')
    const stuck = this.state.jobs.some(
      (job) => job.state === 'IN_QUEUE' && !ready.some((worker) => mayHold(job, { workerId: worker.id, boot: worker.boot })),
    )
    const idle = this.takes.find((take) => this.heldBy(take.from.workerId).length === 0)
    const worker = stuck && idle && this.worker(idle.from)
    if (worker) this.drain(worker, 'makes room')
  }

  protected enforceStops(worker: Worker, listed: readonly string[]): void {
    const overdue = this.state.stops.filter((stop) => stop.workerId === worker.id && this.nowMs >= stop.killAtMs)
    this.state.stops = this.state.stops.filter((stop) => !overdue.includes(stop))
    if (overdue.some((stop) => listed.includes(stop.jobId))) this.fail(worker, 'did not stop a job', () => false)
  }

  protected orderStop(job: Job): void {
    const workerId = job.holder?.workerId
    if (!workerId || this.state.stops.some((stop) => stop.workerId === workerId && stop.jobId === job.id)) return
    this.state.stops.push({ workerId, jobId: job.id, killAtMs: this.nowMs + STOP_GRACE_MS })
  }

  protected cancelJob(job: Job): void {
    this.change(job, finishJob(job, 'CANCELLED', this.nowMs))
    if (job.state === 'IN_PROGRESS') this.orderStop(job)
  }

  protected drain(worker: Worker, reason: string): void {
    const now = this.workerNow(worker)
    if (now.phase === 'DRAINING' || now.phase === 'FAILED') return
    this.saveWorker({ ...now, phase: 'DRAINING', reason, nextAttemptAtMs: Number.MAX_SAFE_INTEGER })
    this.release(now)
  }

  protected fail(worker: Worker, reason: string, counted: (job: Job) => boolean = () => true): void {
    this.saveWorker({ ...this.workerNow(worker), phase: 'FAILED', reason, released: true, forgetAtMs: Number.MAX_SAFE_INTEGER })
    // What time has done to a job comes before what its worker does.
    for (const job of this.heldBy(worker.id)) this.settle(job.id)
    for (const job of this.heldBy(worker.id)) this.change(job, endLease(job, reason, this.nowMs, counted(job)))
    this.release(worker)
  }

  protected release(worker: Worker): void {
    const open = this.takes.find((take) => take.from.workerId === worker.id)
    if (open) this.answer(bootOf(open.from), [])
  }

  protected answer(boot: Boot, jobs: string[]): void {
    this.answered.push({ boot, jobs })
    this.takes = this.takes.filter((take) => bootOf(take.from) !== boot)
  }

  protected change(before: Job, after: Job): void {
    this.save(after)
    const { totals } = this.state
    if (after.state !== before.state) delete this.state.outputs[after.id]
    if (before.state === 'IN_PROGRESS') this.markIdle(before)
    if (before.state === 'IN_PROGRESS' && after.state === 'IN_QUEUE') totals.retried++
    if (after.state === 'COMPLETED') totals.completed++
    if (after.state === 'FAILED') totals.failed++
  }

  protected markIdle(job: Job): void {
    const worker = job.holder && this.worker(job.holder)
    if (worker && this.heldBy(worker.id).length === 0) this.saveWorker({ ...worker, idleSinceMs: this.nowMs })
  }

  protected job(id: string): Job | undefined {
    return this.state.jobs.find((job) => job.id === id)
  }

  protected heldBy(workerId: string): Job[] {
    return this.state.jobs.filter((job) => job.state === 'IN_PROGRESS' && job.holder?.workerId === workerId)
  }

  protected save(job: Job): void {
    this.state.jobs = this.state.jobs.map((other) => (other.id === job.id ? job : other))
  }

  protected worker(from: Holder): Worker | undefined {
    return this.state.workers.find((worker) => sameHolder({ workerId: worker.id, boot: worker.boot }, from))
  }

  protected workerNow(worker: Worker): Worker {
    return this.state.workers.find((other) => other.id === worker.id) ?? worker
  }

  protected saveWorker(worker: Worker): void {
    this.state.workers = this.state.workers.map((other) => (other.id === worker.id ? worker : other))
  }
}

/** A holder as the model writes it. */
export function bootOf(holder: Holder): Boot {
  return `${holder.workerId}/${holder.boot}`
}

/** A boot as the rules write it. */
export function holderOf(boot: Boot): Holder {
  const [workerId = '', nonce = ''] = boot.split('/')
  return { workerId, boot: nonce }
}
