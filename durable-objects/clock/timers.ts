import { LATE_MS } from '../../src/domain/clock/step.ts'

/** Longest single sleep, which bounds how late a sleeping object detects a clock step. */
const MAX_SLEEP_MS = 5_000
/** Reads that return the same millisecond before the wall clock is checked for having been set back. */
const MAX_SAME = 8
/** Shorter gaps between clock reads are not reported to `onPassed`. */
const MOMENT_MS = 1_000

/** Time source of `Timers`. All times in milliseconds since the epoch. */
export interface TimeSource {
  /**
   * Cheap and monotonic: after a step back it stands still until the wall clock has caught up. This is the clock that the runtime shows an
   * object.
   */
  dateMs(): number
  /** The wall clock. */
  wallMs(): number
  /** Runs `run` in a later turn of the event loop. */
  soon(run: () => void): void
  /** Sleeps in real time, independent of clock steps, until the time is over or the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}

interface Pending {
  run(): void
  /** Due time, in steady milliseconds (`steadyMs`). */
  atMs: number
}

/**
 * The clock and the timers of one object (CLK-2); the object must use no others. The runtime's `setTimeout` follows the object's wall
 * clock: after a step back it waits until the clock has caught up, and after a step forward new timers queue behind the one that was set
 * before.
 */
export class Timers {
  private readonly source: TimeSource
  private readonly pending = new Set<Pending>()
  /** Running sleeps, keyed by the steady time at which they end. */
  private readonly sleeps = new Map<number, AbortController>()
  private isFallingAsleep = false
  private steps = 0
  private dateMs = 0
  private same = 0
  private seenMs: number | null = null
  private passedMs = 0
  /** Called on each clock read that differs from the previous one by `MOMENT_MS` or more, with both wall-clock times. */
  onPassed: (beforeMs: number, nowMs: number) => void = () => {}

  constructor(source: TimeSource) {
    this.source = source
  }

  /** Runs `run` once after `ms` of real time; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const timer = { run, atMs: this.steadyMs() + Math.max(0, ms) }
    this.pending.add(timer)
    this.fallAsleep()
    return () => {
      if (this.pending.delete(timer)) this.wakeIfIdle()
    }
  }

  /** Whether no timer is pending: a pending one keeps the object in memory. */
  get isIdle(): boolean {
    return this.pending.size === 0
  }

  /** Runs `run` every `ms`; returns a function that stops it. */
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

  /** Milliseconds of elapsed time, without clock steps, for waits in several pieces. The origin is arbitrary. */
  steadyMs(): number {
    this.readClock()
    return this.passedMs
  }

  /** Reads the wall clock, in milliseconds since the epoch. */
  readClock(): number {
    const nowMs = this.now()
    const beforeMs = this.seenMs ?? nowMs
    this.seenMs = nowMs
    const passedMs = nowMs - beforeMs
    if (passedMs >= 0 && passedMs <= this.nextSleepMs() + LATE_MS) this.passedMs += passedMs
    else this.sleepAnew()
    if (Math.abs(passedMs) >= MOMENT_MS) this.onPassed(beforeMs, nowMs)
    return nowMs
  }

  // The wall clock costs more to read, and differs from the date only while the date stands still.
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

  // Without a running sleep the object may have been idle for any time, so no gap forward counts as a step.
  private nextSleepMs(): number {
    return this.sleeps.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...this.sleeps.keys()) - this.passedMs
  }

  // Deferred to a later turn, because most timers are cancelled at once and need no sleep.
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

  // After a clock step the elapsed part of running sleeps is unknown, and no timer may fire early.
  private sleepAnew(): void {
    this.steps += 1
    this.endSleeps()
    if (this.pending.size > 0) this.fallAsleep()
  }

  // A sleep without a pending timer would keep the object in memory for nothing.
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
    this.readClock()
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
