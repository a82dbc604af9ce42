/** Lets one at a time do something under a name; others wait, or leave when their signal fires. */
export class Locks {
  private readonly held = new Map<string, Promise<void>>()

  async with<T>(name: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    for (let before = this.held.get(name); before !== undefined; before = this.held.get(name)) await orAborted(before, signal)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held.set(name, promise)
    try {
      return await act()
    } finally {
      this.held.delete(name)
      resolve()
    }
  }
}

function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    void promise.then(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    })
  })
}
