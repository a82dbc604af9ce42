import type { Job } from '../../src/domain/job/job.ts'
import type { OpenTake, OpenTakes } from '../../src/queue/state.ts'
import type { Timers } from '../clock/timers.ts'

/**
 * Waiting requests: takes, stop polls and clients that wait for a job. In memory only: when the object restarts, the connections are gone
 * and the callers repeat the request.
 */

/** A take that waits for a job, with the end of its request. */
export interface ParkedTake extends OpenTake {
  /** job-take-batch answers an array (WRK-11). */
  batch: boolean
  /** Ends the request: with jobs as JSON text, or with null for "nothing" (204). */
  answer: (body: string | null) => void
}

/** Why a stop poll ends: to read the stop requests again, or because a newer poll replaced it. */
export type StopPollOutcome = 'woken' | 'displaced'

/** Requests that wait in memory: takes for a job, polls for a stop order, and clients for the end of a job. */
export class Parking implements OpenTakes {
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

  isPolling(workerId: string): boolean {
    return this.takes.has(workerId)
  }

  /**
   * Parks a worker's take. A worker has one open take at a time; a second one means that the first connection is dead, so the first is
   * answered.
   */
  parkTake(take: ParkedTake): void {
    this.releaseTake(take.workerId)
    this.takes.set(take.workerId, take)
  }

  /** Removes a take without an answer, if it is still the open one. */
  dropTake(take: ParkedTake): void {
    if (this.takes.get(take.workerId) === take) this.takes.delete(take.workerId)
  }

  /** Removes a take in order to answer it; null when it is not the open one any more. */
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

  /** Waits until the worker has a job to stop, the time is over (null: it is never), or a newer poll displaces this one. */
  waitForStop(workerId: string, waitMs: number | null, signal: AbortSignal): Promise<StopPollOutcome> {
    this.stopPolls.get(workerId)?.('displaced')
    return new Promise((resolve) => {
      const finish = (outcome: StopPollOutcome) => {
        cancel()
        signal.removeEventListener('abort', wake)
        if (this.stopPolls.get(workerId) === finish) this.stopPolls.delete(workerId)
        resolve(outcome)
      }
      const wake = () => finish('woken')
      const cancel = waitMs === null ? () => {} : this.timers.after(waitMs, wake)
      signal.addEventListener('abort', wake)
      this.stopPolls.set(workerId, finish)
    })
  }

  wakeStopPoll(workerId: string): void {
    this.stopPolls.get(workerId)?.('woken')
  }

  /**
   * Resolves when the job changes, after `waitMs`, or when the client disconnects; with the job if its ttl has deleted it, else with null.
   */
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

  /** Number of jobs that requests wait for. */
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
