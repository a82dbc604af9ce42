import { isEnded, type Job } from '../../src/domain/job/job.ts'
import type { QueueState } from '../../src/queue/state.ts'

/** A worker that runs a job of another live worker for longer has not been stopped by the plane. */
const OVERLAP_LIMIT_MS = 180_000

/** The clock and the trace of a simulation. */
export interface Watched {
  readonly nowMs: number
  readonly trace: { tail(): string }
}

/** A violated invariant, with the end of its history. */
export class Violation extends Error {}

/** The name of a job in a simulation: two endpoints may have jobs with one id. */
export function nameOf(endpoint: string, jobId: string): string {
  return `${endpoint}/${jobId}`
}

/** A job that a client was given; `id` is its name. */
export interface Acknowledged {
  endpoint: string
  key: string
  id: string
  seq: number
  hasWebhook: boolean
}

interface Accepted extends Acknowledged {
  /** The end of the job, once seen: it never changes again. */
  end: string | null
}

interface Run {
  worker: string
  sinceMs: number
}

/** Invariants of the plane, checked after every commit and by whole scans. */
export class Checks {
  private readonly world: Watched
  private readonly accepted = new Map<string, Accepted>()
  private readonly jobOfKey = new Map<string, string>()
  private readonly posted = new Set<string>()
  private readonly runs = new Map<string, Run[]>()
  private readonly begun = new Set<string>()
  private readonly notifications = new Set<string>()
  /** Rare states that a history has reached, with their numbers. */
  readonly reached = new Map<string, number>()
  readonly ends = { COMPLETED: 0, FAILED: 0, CANCELLED: 0, TIMED_OUT: 0 } as Record<string, number>

  constructor(world: Watched) {
    this.world = world
  }

  get jobs(): number {
    return this.accepted.size
  }

  note(state: string): void {
    this.reached.set(state, (this.reached.get(state) ?? 0) + 1)
  }

  fail(problem: string): never {
    throw new Violation(`${problem}\nafter:\n${this.world.trace.tail()}`)
  }

  /** A client has received this as its job, which must not be lost from now on. One key has one job. */
  acknowledged(job: Acknowledged): void {
    const { key, id } = job
    const known = this.jobOfKey.get(key)
    if (known !== undefined && known !== id) this.fail(`the key ${key} has two jobs, ${known} and ${id}`)
    this.jobOfKey.set(key, id)
    if (!this.accepted.has(id)) this.accepted.set(id, { ...job, end: null })
  }

  /** A worker has posted this result of a job. */
  result(job: string, output: string): void {
    this.posted.add(`${job} ${output}`)
  }

  /** A worker begins to run a job. */
  begins(job: string, worker: string): void {
    this.begun.add(job)
    const runs = this.runs.get(job) ?? []
    if (runs.length > 0) this.note('a job runs twice for a while')
    this.runs.set(job, [...runs, { worker, sinceMs: this.world.nowMs }])
  }

  /** A worker does not run the job any more, whatever the reason. */
  stops(job: string, worker: string): void {
    const left = (this.runs.get(job) ?? []).filter((run) => run.worker !== worker)
    if (left.length === 0) this.runs.delete(job)
    else this.runs.set(job, left)
  }

  /** Compares a job with what was known of it. Null: it has no row any more. */
  saw(id: string, job: Job | null, output: string | undefined): void {
    const known = this.accepted.get(id)
    if (known === undefined) return
    if (job === null) {
      if (known.end === null) this.fail(`job ${id} is lost: it was accepted, has not ended and has no row`)
      return
    }
    if (!isEnded(job)) {
      if (known.end !== null) this.fail(`job ${id} ended as ${known.end} and is ${job.state} now`)
      return
    }
    const end = `${job.state} at ${job.finishedAtMs} with ${output ?? 'nothing'}`
    if (known.end !== null && known.end !== end) this.fail(`job ${id} ended as ${known.end} and then as ${end}`)
    if (known.end !== null) return
    known.end = end
    this.ends[job.state] = (this.ends[job.state] ?? 0) + 1
    if (job.state !== 'COMPLETED') return
    if (!this.posted.has(`${id} ${output}`)) this.fail(`no worker has posted the result of ${id}: ${output}`)
    const holder = `${known.endpoint}.${job.holder?.workerId}`
    if (!output?.startsWith(`"${holder} `)) this.fail(`the result of ${id} is not of ${holder}, which held it last: ${output}`)
  }

  /** Among jobs that no worker has held, the oldest of a priority is leased first. */
  dispatched(job: Job, waiting: readonly Job[]): void {
    if (job.attempt !== 1) return
    const older = waiting.find((one) => one.attempt === 0 && one.lowPriority === job.lowPriority && one.orderKey < job.orderKey)
    if (older) this.fail(`job ${job.id} was leased before the older ${older.id}`)
  }

  /** A whole scan of an endpoint. */
  scan(endpoint: string, state: QueueState, outputOf: (seq: number) => string | undefined): void {
    for (const known of this.accepted.values())
      if (known.endpoint === endpoint) this.saw(known.id, state.jobs.bySeq(known.seq), outputOf(known.seq))
    const running = state.jobs.running()
    for (const job of running)
      if (state.workers.get(job.holder.workerId) === null) this.fail(`job ${job.id} is leased to ${job.holder.workerId}, which has no row`)
    if (new Set(running.map(({ seq }) => seq)).size !== running.length) this.fail('a job has two leases')
  }

  /** `isLinked`: whether the machine of a worker has been connected for long, so that the plane can stop the worker. */
  scanRuns(isLinked: (worker: string) => boolean): void {
    for (const [job, runs] of this.runs) {
      const [first, second] = runs
      if (!first || !second || this.world.nowMs - second.sinceMs <= OVERLAP_LIMIT_MS) continue
      if (runs.every(({ worker }) => isLinked(worker)))
        this.fail(`job ${job} runs in ${first.worker} and in ${second.worker} since ${this.world.nowMs - second.sinceMs} ms`)
    }
  }

  /** The receiver of a job's webhook has got the notification of its end. A second one has the same id, so it is no other end. */
  notified(job: string): void {
    if (this.notifications.has(job)) this.note('a notification is repeated')
    this.notifications.add(job)
    const known = this.accepted.get(job)
    if (known?.end === null) this.fail(`the end of job ${job} was notified, and it has not ended`)
    if (known?.hasWebhook === false) this.fail(`job ${job} has no webhook, and was notified`)
  }

  /** At rest: each ended job with a webhook was notified. */
  scanNotified(): void {
    for (const { id, hasWebhook, end } of this.accepted.values())
      if (hasWebhook && end !== null && !this.notifications.has(id)) this.fail(`the end of job ${id} was never notified`)
  }

  /** Once every submit was answered: no job has run that belongs to no submit. */
  scanBegun(): void {
    for (const job of this.begun) if (!this.accepted.has(job)) this.fail(`job ${job} ran, and no client was told of it`)
  }

  /** Accepted jobs that have not been seen to end. */
  unfinished(): string[] {
    return [...this.accepted.values()].filter(({ end }) => end === null).map(({ id }) => id)
  }
}
