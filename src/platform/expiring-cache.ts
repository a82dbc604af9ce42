/** Largest clock skew, milliseconds: requests do not arrive here in the order in which they read the clock. */
const SKEW_MS = 1_000

/**
 * A bounded map whose entries expire: it caches reads of D1 in an isolate, so that a warm request needs no query. When it is full, the
 * oldest entry is evicted. Entries are plain values; promises are not shared, because one request must not wait on another's I/O.
 */
export class ExpiringCache<Value> {
  private readonly entries = new Map<string, { value: Value; untilMs: number }>()
  private readonly ttlMs: number
  /** Maximum number of entries. */
  private readonly capacity: number

  constructor(ttlMs: number, capacity: number) {
    this.ttlMs = ttlMs
    this.capacity = capacity
  }

  /** Returns the value of a key if it has not expired at `nowMs`. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.entries.get(key)
    if (!entry) return undefined
    // An entry from the future was stored before the clock was set back, so its age is unknown (CLK-6).
    if (nowMs < entry.untilMs && entry.untilMs - nowMs <= this.ttlMs + SKEW_MS) return entry.value
    this.entries.delete(key)
    return undefined
  }

  /** Stores a value that expires `ttlMs` after `nowMs`. */
  set(key: string, value: Value, nowMs: number): void {
    if (this.entries.size >= this.capacity && !this.entries.has(key)) {
      const oldest = this.entries.keys().next()
      if (!oldest.done) this.entries.delete(oldest.value)
    }
    this.entries.set(key, { value, untilMs: nowMs + this.ttlMs })
  }

  /** Returns the value of a key; a missing one is read. The age counts from before the read, which misses changes made while it runs. */
  async load(key: string, nowMs: number, read: () => Promise<Value>): Promise<Value> {
    const known = this.get(key, nowMs)
    if (known !== undefined) return known
    const value = await read()
    this.set(key, value, nowMs)
    return value
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
