/** Limits concurrency for each name: up to `atATime` calls run, the others wait, or reject when their signal aborts. */
export class Turns {
  private readonly atATime: number
  private readonly taken = new Map<string, number>()
  private readonly waiting = new Map<string, Set<() => void>>()

  constructor(atATime: number) {
    this.atATime = atATime
  }

  async with<T>(name: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    while ((this.taken.get(name) ?? 0) >= this.atATime) await this.wait(name, signal)
    this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
    try {
      return await act()
    } finally {
      const left = (this.taken.get(name) ?? 1) - 1
      if (left > 0) this.taken.set(name, left)
      else this.taken.delete(name)
      for (const wake of this.waiting.get(name) ?? []) wake()
    }
  }

  private wait(name: string, signal: AbortSignal): Promise<void> {
    const waiting = this.waiting.get(name) ?? new Set()
    this.waiting.set(name, waiting)
    return new Promise((resolve, reject) => {
      const leave = () => end(() => reject(signal.reason))
      const wake = () => end(resolve)
      const end = (then: () => void) => {
        waiting.delete(wake)
        if (waiting.size === 0) this.waiting.delete(name)
        signal.removeEventListener('abort', leave)
        then()
      }
      waiting.add(wake)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
    })
  }
}
