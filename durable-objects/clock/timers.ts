import { LATE_MS } from '../../src/domain/clock/step.ts'

/** The longest that is slept at a time: an object that is asleep finds out so soon that the clock was set. */
const MAX_SLEEP_MS = 5_000
/** Looks within one millisecond, after which it is asked whether the clock stands. */
const MAX_SAME = 8
/** Nobody needs to know that less has passed. */
const MOMENT_MS = 1_000

/** Where timers get time from. All milliseconds since the epoch. */
export interface TimeSource {
  /** Cheap, and never goes back: after a step back it stands until the wall clock has caught up. That is how the runtime shows it to an object. */
  dateMs(): number
  /** The wall clock itself. */
  wallMs(): number
  /** Goes on in a later turn of the event loop. */
  soon(run: () => void): void
  /** Sleeps in real time, whatever becomes of the clock, until the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}

interface Pending {
  run(): void
  /** When it is due, in steady time. */
  atMs: number
}

/**
 * The clock and the timers of one object (CLK-2), and the only ones that it may have. The runtime's own `setTimeout` is due by the wall clock
 * of an object: after a step back each waits until the clock has caught up, after a step forward behind the one that was set before.
 */
export class Timers {
  private readonly source: TimeSource
  private readonly pending = new Set<Pending>()
  /** Sleeps under way, by when they end in steady time. */
  private readonly sleeps = new Map<number, AbortController>()
  private isFallingAsleep = false
  private steps = 0
  private dateMs = 0
  private same = 0
  private seenMs: number | null = null
  private passedMs = 0
  /** Is told of every look that is not a mere moment behind the one before: when that was, and this one, by the wall clock. */
  onPassed: (beforeMs: number, nowMs: number) => void = () => {}

  constructor(source: TimeSource) {
    this.source = source
  }

  /** Runs `run` once, after so many milliseconds of real time; returns what takes that back. */
  after(ms: number, run: () => void): () => void {
    const timer = { run, atMs: this.steadyMs() + Math.max(0, ms) }
    this.pending.add(timer)
    this.fallAsleep()
    return () => {
      if (this.pending.delete(timer)) this.wakeIfIdle()
    }
  }

  /** Runs `run` again and again, every so many milliseconds; returns what ends it. */
  every(ms: number, run: () => void): () => void {
    let stop = () => {}
    const next = () => {
      stop = this.after(ms, () => {
        next()
        run()
      })
    }
    next()
    return () => stop()
  }

  /** Milliseconds that have passed, for waits in several pieces. Steps of the clock do not count; since when they are counted says nothing. */
  steadyMs(): number {
    this.look()
    return this.passedMs
  }

  /** The wall clock, milliseconds since the epoch. */
  look(): number {
    const nowMs = this.now()
    const beforeMs = this.seenMs ?? nowMs
    this.seenMs = nowMs
    const passedMs = nowMs - beforeMs
    if (passedMs >= 0 && passedMs <= this.nextSleepMs() + LATE_MS) this.passedMs += passedMs
    else this.sleepAnew()
    if (Math.abs(passedMs) >= MOMENT_MS) this.onPassed(beforeMs, nowMs)
    return nowMs
  }

  // The wall clock costs more to read, and differs only while the date stands.
  private now(): number {
    const dateMs = this.source.dateMs()
    if (dateMs !== this.dateMs) {
      this.dateMs = dateMs
      this.same = 0
      return dateMs
    }
    this.same += 1
    const stands = this.seenMs !== null && this.seenMs < dateMs
    return stands || this.same >= MAX_SAME ? this.source.wallMs() : dateMs
  }

  // Without one nothing says how long an object may have been quiet.
  private nextSleepMs(): number {
    return this.sleeps.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...this.sleeps.keys()) - this.passedMs
  }

  // Most timers are taken back at once, and cost no sleep.
  private fallAsleep(): void {
    if (this.isFallingAsleep) return
    this.isFallingAsleep = true
    this.source.soon(() => {
      this.isFallingAsleep = false
      if (this.pending.size > 0) this.sleepUntil(Math.min(...[...this.pending].map(({ atMs }) => atMs)))
    })
  }

  private sleepUntil(atMs: number): void {
    const untilMs = Math.max(this.passedMs, Math.min(atMs, this.passedMs + MAX_SLEEP_MS))
    for (const sleepMs of this.sleeps.keys()) if (sleepMs <= untilMs) return
    const waking = new AbortController()
    this.sleeps.set(untilMs, waking)
    void this.source.sleep(untilMs - this.passedMs, waking.signal).then(() => waking.signal.aborted || this.slept(untilMs))
  }

  // The clock was set: how much of the sleeps that are under way has passed is not known, and no timer may be early.
  private sleepAnew(): void {
    this.steps += 1
    this.endSleeps()
    if (this.pending.size > 0) this.fallAsleep()
  }

  // A sleep would keep the object busy for nothing.
  private wakeIfIdle(): void {
    if (this.pending.size === 0) this.endSleeps()
  }

  private endSleeps(): void {
    for (const waking of this.sleeps.values()) waking.abort()
    this.sleeps.clear()
  }

  private slept(untilMs: number): void {
    this.sleeps.delete(untilMs)
    this.same = MAX_SAME
    const { steps } = this
    this.look()
    if (this.steps !== steps) return
    this.passedMs = Math.max(this.passedMs, untilMs)
    for (const timer of [...this.pending]) {
      if (timer.atMs > this.passedMs || !this.pending.delete(timer)) continue
      timer.run()
    }
    if (this.pending.size > 0) this.fallAsleep()
    else this.wakeIfIdle()
  }
}
