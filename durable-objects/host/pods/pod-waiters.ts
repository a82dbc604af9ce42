/** Callers that wait for a change of a pod: a cache of waiting connections, nothing else. */
export class PodWaiters {
  private readonly waiting = new Map<string, Set<() => void>>()

  /** Resolves at the next `wake` of this pod, at the latest after `timeoutMs`. */
  wait(podId: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.waiting.get(podId) ?? new Set()
      this.waiting.set(podId, waiters)
      const done = () => {
        clearTimeout(timer)
        waiters.delete(done)
        if (waiters.size === 0 && this.waiting.get(podId) === waiters) this.waiting.delete(podId)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      waiters.add(done)
    })
  }

  wake(podId: string): void {
    for (const done of [...(this.waiting.get(podId) ?? [])]) done()
  }
}
