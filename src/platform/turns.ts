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

const realTime: Time = { now: () => Date.now(), wait: (ms) => scheduler.wait(ms) }

/** Runs a bounded number of calls at a time in this isolate; the others wait, in no order. */
export class Turns {
  private readonly bounds: TurnBounds
  private readonly time: Time
  private readonly underWay = new Set<{ untilMs: number }>()

  constructor(bounds: TurnBounds, time: Time = realTime) {
    this.bounds = bounds
    this.time = time
  }

  /** Runs `call` when fewer than `atOnce` others run. Throws what `tooBusy` returns if that takes longer than `waitMaxMs`. */
  async run<T>(call: () => Promise<T>, tooBusy: () => Error): Promise<T> {
    // Each call polls: a request of the runtime cannot be woken by another one.
    for (let waitedMs = 0; this.isFull(); ) {
      if (waitedMs >= this.bounds.waitMaxMs) throw tooBusy()
      const pauseMs = PAUSE_MIN_MS + Math.random() * (PAUSE_MAX_MS - PAUSE_MIN_MS)
      await this.time.wait(pauseMs)
      waitedMs += pauseMs
    }
    const turn = { untilMs: this.time.now() + this.bounds.turnMaxMs }
    this.underWay.add(turn)
    try {
      return await call()
    } finally {
      this.underWay.delete(turn)
    }
  }

  private isFull(): boolean {
    const nowMs = this.time.now()
    for (const turn of this.underWay) if (turn.untilMs <= nowMs) this.underWay.delete(turn)
    return this.underWay.size >= this.bounds.atOnce
  }
}
