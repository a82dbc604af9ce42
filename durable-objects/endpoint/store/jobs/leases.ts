import { dueAtMs, type Job, type RunningJob } from '../../../../src/domain/job/job.ts'
import type { Undo } from '../undo.ts'

/**
 * The running jobs, in memory: their rows lack the latest lease renewal (LSE-24). Bounded by the jobs that the workers of one endpoint
 * hold.
 */
export class Leases {
  private readonly bySeq = new Map<number, RunningJob>()
  private readonly byWorker = new Map<string, Map<number, RunningJob>>()
  private readonly undo: Undo
  private known: ReadonlyMap<string, number> | null = null

  constructor(undo: Undo, jobs: readonly RunningJob[]) {
    this.undo = undo
    for (const job of jobs) this.write(job.seq, job)
  }

  get size(): number {
    return this.bySeq.size
  }

  get(seq: number): RunningJob | undefined {
    return this.bySeq.get(seq)
  }

  all(): RunningJob[] {
    return [...this.bySeq.values()]
  }

  /** Jobs leased to a worker, in order of submission. */
  heldBy(workerId: string): RunningJob[] {
    return [...(this.byWorker.get(workerId)?.values() ?? [])].sort((a, b) => a.seq - b.seq)
  }

  /** Number of leases by worker id. */
  counts(): ReadonlyMap<string, number> {
    this.known ??= new Map(Array.from(this.byWorker, ([id, jobs]) => [id, jobs.size]))
    return this.known
  }

  /** Number of leases of normal-priority jobs by worker id. */
  normalCounts(): ReadonlyMap<string, number> {
    const counts = Array.from(this.byWorker, ([id, jobs]): [string, number] => [
      id,
      [...jobs.values()].filter((job) => !job.lowPriority).length,
    ])
    return new Map(counts.filter(([, count]) => count > 0))
  }

  /** Jobs whose deadline has passed, with the deadline. */
  due(nowMs: number): { seq: number; atMs: number }[] {
    return this.all()
      .map((job) => ({ seq: job.seq, atMs: dueAtMs(job) }))
      .filter(({ atMs }) => atMs <= nowMs)
  }

  /** Earliest deadline of the running jobs; `dueOf`: that of one. */
  nextDueAtMs(dueOf: (job: RunningJob) => number): number | null {
    let next: number | null = null
    for (const job of this.bySeq.values()) next = Math.min(next ?? Number.POSITIVE_INFINITY, dueOf(job))
    return next
  }

  /** Stores the job if it is running, else removes it. */
  keep(job: Job): void {
    if (job.state === 'IN_PROGRESS') this.change(job.seq, job)
    else this.discard(job.seq)
  }

  discard(seq: number): void {
    if (this.bySeq.has(seq)) this.change(seq, undefined)
  }

  private change(seq: number, job: RunningJob | undefined): void {
    const before = this.bySeq.get(seq)
    this.undo.note(() => this.write(seq, before))
    this.write(seq, job)
  }

  private write(seq: number, job: RunningJob | undefined): void {
    const before = this.bySeq.get(seq)
    if (before?.holder.workerId !== job?.holder.workerId) this.known = null
    if (before) this.drop(before.holder.workerId, seq)
    if (job) this.bySeq.set(seq, job)
    else this.bySeq.delete(seq)
    if (!job) return
    const { workerId } = job.holder
    this.byWorker.set(workerId, (this.byWorker.get(workerId) ?? new Map<number, RunningJob>()).set(seq, job))
  }

  private drop(workerId: string, seq: number): void {
    const jobs = this.byWorker.get(workerId)
    jobs?.delete(seq)
    if (jobs?.size === 0) this.byWorker.delete(workerId)
  }
}
