interface Planned {
  atMs: number
  /** Order among events of one instant. */
  n: number
  run: () => void
  isCancelled: boolean
}

/** The events of a simulation, by time; events of one instant run in the order in which they were planned. */
export class Scheduler {
  nowMs: number
  steps = 0
  private planned = 0
  private readonly heap: Planned[] = []

  constructor(startMs: number) {
    this.nowMs = startMs
  }

  /** Plans an event in so many milliseconds. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const event = { atMs: this.nowMs + Math.max(0, ms), n: this.planned++, run, isCancelled: false }
    this.push(event)
    return () => {
      event.isCancelled = true
    }
  }

  /** Runs the next event that is planned until `untilMs`. False: there is none, and the time is `untilMs`. */
  step(untilMs: number): boolean {
    for (let next = this.heap[0]; next && next.atMs <= untilMs; next = this.heap[0]) {
      this.pop()
      if (next.isCancelled) continue
      this.nowMs = next.atMs
      this.steps++
      next.run()
      return true
    }
    this.nowMs = Math.max(this.nowMs, Number.isFinite(untilMs) ? untilMs : this.nowMs)
    return false
  }

  private push(event: Planned): void {
    let at = this.heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(this.heap[parent] as Planned, event)) break
      this.heap[at] = this.heap[parent] as Planned
      at = parent
    }
    this.heap[at] = event
  }

  private pop(): void {
    const last = this.heap.pop()
    if (this.heap.length === 0 || last === undefined) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const right = this.heap[child + 1]
      if (right && isBefore(right, this.heap[child] as Planned)) child++
      const smaller = this.heap[child]
      if (!smaller || isBefore(last, smaller)) break
      this.heap[at] = smaller
      at = child
    }
    this.heap[at] = last
  }
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.n < b.n)
}
