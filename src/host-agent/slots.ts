/** A semaphore for each name: no name waits for places of another (HOST-76). Callers get places in their order of arrival. */
export class Slots {
  private readonly share: () => number
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Map<string, (() => void)[]>()

  /** `share`: returns the number of places of one name at present. */
  constructor(share: () => number) {
    this.share = share
  }

  /** Runs `act` in a place. Rejects with the reason of the signal when that aborts before there is a place. */
  async with<T>(name: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const leave = await this.enter(name, signal)
    if (leave === undefined) throw signal.reason
    try {
      return await act()
    } finally {
      leave()
    }
  }

  /** Resolves with a function that releases the place; undefined when the signal aborts first. */
  async enter(name: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const taken = this.taken.get(name) ?? 0
    if (taken < this.share()) this.taken.set(name, taken + 1)
    else if (!(await this.turn(name, signal))) return undefined
    let isHeld = true
    return () => {
      if (isHeld) this.leave(name)
      isHeld = false
    }
  }

  /** Resolves to true when a place is handed over, false when the signal aborts. */
  private turn(name: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false)
      const queue = this.waiting.get(name) ?? []
      this.waiting.set(name, queue)
      const take = () => {
        signal.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(take), 1)
        if (queue.length === 0) this.waiting.delete(name)
        resolve(false)
      }
      queue.push(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  private leave(name: string): void {
    const taken = this.taken.get(name) ?? 1
    const queue = this.waiting.get(name)
    // The share may have become smaller.
    const next = taken > this.share() ? undefined : queue?.shift()
    if (queue?.length === 0) this.waiting.delete(name)
    if (next !== undefined) next()
    else if (taken > 1) this.taken.set(name, taken - 1)
    else this.taken.delete(name)
  }
}
