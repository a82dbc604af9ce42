/** A semaphore for each workload: no workload waits for places of another (HOST-76). */
export class WorkloadSlots {
  private readonly share: () => number
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Map<string, (() => void)[]>()

  /** `share`: returns the number of places of one workload at present. */
  constructor(share: () => number) {
    this.share = share
  }

  /** Resolves with a function that releases the place; undefined when the signal aborts first. */
  async enter(caller: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const taken = this.taken.get(caller) ?? 0
    if (taken < this.share()) this.taken.set(caller, taken + 1)
    else if (!(await this.turn(caller, signal))) return undefined
    let isHeld = true
    return () => {
      if (isHeld) this.leave(caller)
      isHeld = false
    }
  }

  /** Resolves to true when a place is handed over, false when the signal aborts. */
  private turn(caller: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false)
      const queue = this.waiting.get(caller) ?? []
      this.waiting.set(caller, queue)
      const take = () => {
        signal.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(take), 1)
        if (queue.length === 0) this.waiting.delete(caller)
        resolve(false)
      }
      queue.push(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  private leave(caller: string): void {
    const taken = this.taken.get(caller) ?? 1
    const queue = this.waiting.get(caller)
    // The share may have become smaller.
    const next = taken > this.share() ? undefined : queue?.shift()
    if (queue?.length === 0) this.waiting.delete(caller)
    if (next !== undefined) next()
    else if (taken > 1) this.taken.set(caller, taken - 1)
    else this.taken.delete(caller)
  }
}
