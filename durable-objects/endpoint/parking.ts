import type { Job } from '../../src/domain/job/job.ts'
import type { OpenTake } from '../../src/queue/state.ts'
import type { Timers } from '../clock/timers.ts'

/**
 * Requests that wait: takes, stop polls and clients that wait for a job. A cache of rows and nothing more: when the object restarts, the
 * connections are gone and their callers ask again.
 */

export interface ParkedTake extends OpenTake {
  /** job-take-batch answers an array (WRK-11). */
  batch: boolean
  /** Ends the request: with jobs as JSON text, or null for "nothing" (204). */
  answer: (body: string | null) => void
}

/** Why a stop poll looks again, or gives up. */
export type StopPollOutcome = 'woken' | 'displaced'

export class Parking {
  private readonly takes = new Map<string, ParkedTake>()
  private readonly stopPolls = new Map<string, (outcome: StopPollOutcome) => void>()
  private readonly jobWaiters = new Map<number, Set<(expired: Job | null) => void>>()
  private readonly timers: Pick<Timers, 'after'>

  constructor(timers: Pick<Timers, 'after'>) {
    this.timers = timers
  }

  openTakes(): ParkedTake[] {
    return [...this.takes.values()]
  }

  /** A worker has one take open at a time; a second one means that the first connection is dead. */
  parkTake(take: ParkedTake): void {
    this.releaseTake(take.workerId)
    this.takes.set(take.workerId, take)
  }

  /** Removes a take without answering it, if it is still the open one. */
  dropTake(take: ParkedTake): void {
    if (this.takes.get(take.workerId) === take) this.takes.delete(take.workerId)
  }

  /** Removes a take to answer it; null when it is no longer the open one. */
  claimTake(open: OpenTake): ParkedTake | null {
    const take = this.takes.get(open.workerId)
    if (take !== open) return null
    this.takes.delete(open.workerId)
    return take
  }

  /** Answers a worker's open take with "nothing". */
  releaseTake(workerId: string): void {
    const take = this.takes.get(workerId)
    this.takes.delete(workerId)
    take?.answer(null)
  }

  /** Waits until the worker has something to stop, until the time is over, or until a newer poll displaces this one. */
  waitForStop(workerId: string, waitMs: number, signal: AbortSignal): Promise<StopPollOutcome> {
    this.stopPolls.get(workerId)?.('displaced')
    return new Promise((resolve) => {
      const finish = (outcome: StopPollOutcome) => {
        cancel()
        signal.removeEventListener('abort', wake)
        if (this.stopPolls.get(workerId) === finish) this.stopPolls.delete(workerId)
        resolve(outcome)
      }
      const wake = () => finish('woken')
      const cancel = this.timers.after(waitMs, wake)
      signal.addEventListener('abort', wake)
      this.stopPolls.set(workerId, finish)
    })
  }

  wakeStopPoll(workerId: string): void {
    this.stopPolls.get(workerId)?.('woken')
  }

  /** Resolves when something about the job changed, after `waitMs`, or when the client left: with the job when its ttl has deleted it. */
  waitForJob(seq: number, waitMs: number, signal: AbortSignal | null): Promise<Job | null> {
    return new Promise((resolve) => {
      const waiters = this.jobWaiters.get(seq) ?? new Set()
      this.jobWaiters.set(seq, waiters)
      const done = (expired: Job | null) => {
        cancel()
        signal?.removeEventListener('abort', giveUp)
        waiters.delete(done)
        if (waiters.size === 0 && this.jobWaiters.get(seq) === waiters) this.jobWaiters.delete(seq)
        resolve(expired)
      }
      const giveUp = () => done(null)
      const cancel = this.timers.after(waitMs, giveUp)
      signal?.addEventListener('abort', giveUp)
      waiters.add(done)
    })
  }

  /** Jobs that somebody waits for. */
  get waitingJobs(): number {
    return this.jobWaiters.size
  }

  notifyJob(seq: number, expired: Job | null): void {
    const waiters = this.jobWaiters.get(seq)
    if (!waiters) return
    this.jobWaiters.delete(seq)
    for (const wake of [...waiters]) wake(expired)
  }
}
