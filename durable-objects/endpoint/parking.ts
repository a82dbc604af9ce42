/**
 * Requests that wait: takes, stop polls and clients that wait for a job. A cache of rows and nothing more: when the object restarts, the
 * connections are gone and their callers ask again.
 */

export interface ParkedTake {
  workerId: string
  boot: string
  capacity: number
  /** job-take-batch answers an array (WRK-11). */
  batch: boolean
  parkedAtMs: number
  /** Ends the request: with jobs as JSON text, or null for "nothing" (204). */
  answer: (body: string | null) => void
}

export class Parking {
  private readonly takes = new Map<string, ParkedTake>()
  private readonly stopPolls = new Map<string, () => void>()
  private readonly jobWaiters = new Map<number, Set<() => void>>()

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

  /** Answers a worker's open take with "nothing". */
  releaseTake(workerId: string): void {
    const take = this.takes.get(workerId)
    this.takes.delete(workerId)
    take?.answer(null)
  }

  parkStopPoll(workerId: string, wake: () => void): void {
    this.wakeStopPoll(workerId)
    this.stopPolls.set(workerId, wake)
  }

  dropStopPoll(workerId: string, wake: () => void): void {
    if (this.stopPolls.get(workerId) === wake) this.stopPolls.delete(workerId)
  }

  wakeStopPoll(workerId: string): void {
    const wake = this.stopPolls.get(workerId)
    this.stopPolls.delete(workerId)
    wake?.()
  }

  /** Resolves when something about the job changed, at `untilMs`, or when the client left. */
  waitForJob(seq: number, waitMs: number, signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.jobWaiters.get(seq) ?? new Set()
      this.jobWaiters.set(seq, waiters)
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        waiters.delete(done)
        if (waiters.size === 0 && this.jobWaiters.get(seq) === waiters) this.jobWaiters.delete(seq)
        resolve()
      }
      const timer = setTimeout(done, Math.max(0, waitMs))
      signal?.addEventListener('abort', done)
      waiters.add(done)
    })
  }

  notifyJob(seq: number): void {
    const waiters = this.jobWaiters.get(seq)
    if (!waiters) return
    this.jobWaiters.delete(seq)
    for (const wake of [...waiters]) wake()
  }
}
