/** Requests do not read the clock in the order in which they come here. */
const SKEW_MS = 1_000

/**
 * A bounded map whose entries grow old: what an isolate remembers of D1 so that a warm request asks nothing. The oldest entry goes
 * when it is full. Entries are plain values; promises are not shared, because one request may not wait on another's I/O.
 */
export class ExpiringCache<Value> {
  private readonly entries = new Map<string, { value: Value; untilMs: number }>()
  private readonly ttlMs: number
  private readonly capacity: number

  constructor(ttlMs: number, capacity: number) {
    this.ttlMs = ttlMs
    this.capacity = capacity
  }

  /** The value of a key that is not too old at `nowMs`. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.entries.get(key)
    if (!entry) return undefined
    // An entry from the future was stored before the clock went back, so its age is unknown (CLK-6).
    if (nowMs < entry.untilMs && entry.untilMs - nowMs <= this.ttlMs + SKEW_MS) return entry.value
    this.entries.delete(key)
    return undefined
  }

  /** Remembers a value from `nowMs` on. */
  set(key: string, value: Value, nowMs: number): void {
    if (this.entries.size >= this.capacity && !this.entries.has(key)) {
      const oldest = this.entries.keys().next()
      if (!oldest.done) this.entries.delete(oldest.value)
    }
    this.entries.set(key, { value, untilMs: nowMs + this.ttlMs })
  }

  get size(): number {
    return this.entries.size
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  clear(): void {
    this.entries.clear()
  }
}
