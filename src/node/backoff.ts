/** Exponential backoff with jitter: returns between half and all of `baseMs * 2^attempt`, limited to `maxMs`. */
export function backoffMs(attempt: number, baseMs: number, maxMs: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30))
  return Math.round(ceiling * (0.5 + random() * 0.5))
}

/** Waits, or returns early (without an error) when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** Waits for a result for at most `ms`; undefined when it is late. */
export async function within<T>(ms: number, result: Promise<T>): Promise<T | undefined> {
  const enough = new AbortController()
  try {
    return await Promise.race([result, sleep(ms, enough.signal).then(() => undefined)])
  } finally {
    enough.abort()
  }
}
