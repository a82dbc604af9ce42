/** Bounds of a set of turns; times in milliseconds. */
export interface TurnBounds {
  /** Largest number of turns at a time. */
  atOnce: number
  /** Time after which a turn counts no more: a call whose caller has gone away may never report its end. */
  turnMaxMs: number
  /** Longest time that a call waits for its turn. */
  waitMaxMs: number
}

/** Clock and timer; tests replace them. */
interface Time {
  now(): number
  wait(ms: number): Promise<void>
}

const PAUSE_MIN_MS = 100
const PAUSE_MAX_MS = 300
/** Largest clock skew, milliseconds: requests do not arrive here in the order in which they read the clock. */
const SKEW_MS = 1_000

const realTime: Time = { now: () => Date.now(), wait: (ms) => scheduler.wait(ms) }

/** Runs a bounded number of calls at a time in this isolate, one for each key; the others wait, in no order. */
export class Turns {
  private readonly bounds: TurnBounds
  private readonly time: Time
  private readonly underWay = new Map<string, { untilMs: number }>()

  constructor(bounds: TurnBounds, time: Time = realTime) {
    this.bounds = bounds
    this.time = time
  }

  /**
   * Runs `call` when none with this key and fewer than `atOnce` others run. Throws what `tooBusy` returns if that takes longer than
   * `waitMaxMs`.
   */
  async run<T>(key: string, call: () => Promise<T>, tooBusy: () => Error): Promise<T> {
    const startedMs = this.time.now()
    // Each call polls: a request of the runtime cannot be woken by another one. On a busy machine a pause is longer than asked for, and after
    // a clock step the elapsed time is unknown: the larger of both counts.
    for (let pausedMs = 0; this.isFull(key); ) {
      if (Math.max(pausedMs, this.time.now() - startedMs) >= this.bounds.waitMaxMs) throw tooBusy()
      const pauseMs = PAUSE_MIN_MS + Math.random() * (PAUSE_MAX_MS - PAUSE_MIN_MS)
      await this.time.wait(pauseMs)
      pausedMs += pauseMs
    }
    const turn = { untilMs: this.time.now() + this.bounds.turnMaxMs }
    this.underWay.set(key, turn)
    try {
      return await call()
    } finally {
      // After its time another call may have the key.
      if (this.underWay.get(key) === turn) this.underWay.delete(key)
    }
  }

  private isFull(key: string): boolean {
    const nowMs = this.time.now()
    for (const [name, { untilMs }] of this.underWay) if (this.isOver(untilMs, nowMs)) this.underWay.delete(name)
    return this.underWay.has(key) || this.underWay.size >= this.bounds.atOnce
  }

  /** A turn from the future began before the clock was set back, so its age is unknown (CLK-6). */
  private isOver(untilMs: number, nowMs: number): boolean {
    return untilMs <= nowMs || untilMs - nowMs > this.bounds.turnMaxMs + SKEW_MS
  }
}
