import type { Timers } from '../../clock/timers.ts'

/** Callers that wait for a change of a pod. In memory only. */
export class PodWaiters {
  private readonly waiting = new Map<string, Set<() => void>>()
  private readonly timers: Pick<Timers, 'after'>

  constructor(timers: Pick<Timers, 'after'>) {
    this.timers = timers
  }

  /** Resolves at the next `wake` of this pod, at the latest after `timeoutMs`. */
  wait(podId: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.waiting.get(podId) ?? new Set()
      this.waiting.set(podId, waiters)
      const done = () => {
        cancel()
        waiters.delete(done)
        if (waiters.size === 0 && this.waiting.get(podId) === waiters) this.waiting.delete(podId)
        resolve()
      }
      const cancel = this.timers.after(timeoutMs, done)
      waiters.add(done)
    })
  }

  wake(podId: string): void {
    for (const done of [...(this.waiting.get(podId) ?? [])]) done()
  }
}
