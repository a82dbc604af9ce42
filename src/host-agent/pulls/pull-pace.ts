import { PullError } from './pull-error.ts'

/** The minimum speed of a registry. */
export interface LeastSpeed {
  bytesPerMinute: number
  /** Length of the measured window in ms. */
  windowMs: number
}

/** Slower than any connection worth a GPU: 50 GB would take a month. */
export const LEAST_SPEED: LeastSpeed = { bytesPerMinute: 2 ** 20, windowMs: 180_000 }

const SAMPLES_PER_WINDOW = 6
const MINUTE_MS = 60_000

/**
 * Ends a pull whose registry is slower than the minimum (SHR-36). Only time in which something is fetched counts, not waiting for a turn or
 * for the engine.
 */
export class PullPace {
  private readonly host: string
  private readonly speed: LeastSpeed
  private readonly stopping = new AbortController()
  /** Bytes received in each of the last intervals of a window, the current one last. */
  private readonly parts: number[] = [0]
  private fetching = 0
  private timer: NodeJS.Timeout | undefined

  /** `host`: the registry as the tenant named it. */
  constructor(host: string, speed: LeastSpeed) {
    this.host = host
    this.speed = speed
  }

  /** Aborts with a `PullError` when the registry is too slow. */
  get signal(): AbortSignal {
    return this.stopping.signal
  }

  /** Counts received bytes. */
  take(bytes: number): void {
    this.parts.push((this.parts.pop() ?? 0) + bytes)
  }

  /** Runs `fetch` and measures the speed meanwhile. Rejects with the reason of `signal` when the registry was too slow. */
  async during<T>(fetch: () => Promise<T>): Promise<T> {
    this.fetching += 1
    if (this.speed.bytesPerMinute > 0) this.timer ??= setInterval(() => this.sample(), this.speed.windowMs / SAMPLES_PER_WINDOW)
    try {
      return await fetch()
    } catch (error) {
      // An aborted fetch fails with an arbitrary error; the reason of the abort replaces it.
      throw this.signal.aborted ? this.signal.reason : error
    } finally {
      this.fetching -= 1
      if (this.fetching === 0) {
        clearInterval(this.timer)
        this.timer = undefined
      }
    }
  }

  private sample(): void {
    const { bytesPerMinute, windowMs } = this.speed
    if (this.parts.length === SAMPLES_PER_WINDOW) {
      const bytes = this.parts.reduce((sum, part) => sum + part, 0)
      if (bytes < (bytesPerMinute * windowMs) / MINUTE_MS) this.stopping.abort(stalled(this.host, bytes, this.speed))
      this.parts.shift()
    }
    this.parts.push(0)
  }
}

function stalled(host: string, bytes: number, { bytesPerMinute, windowMs }: LeastSpeed): PullError {
  const minutes = windowMs / 60_000
  const numbers = `: of ${host} came ${(bytes / minutes / 2 ** 20).toFixed(2)} MiB a minute, and ${(bytesPerMinute / 2 ** 20).toFixed(2)} are the least on this host`
  return new PullError('tooSlow', `${host} sent ${bytes} bytes in ${minutes} minutes`, numbers)
}
