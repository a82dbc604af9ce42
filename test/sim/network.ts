import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** Faults of the network: probabilities per message. */
export interface NetworkFaults {
  drop: number
  duplicate: number
  /** A message that takes seconds instead of milliseconds, so that later ones overtake it. */
  slow: number
}

export const QUIET_NETWORK: NetworkFaults = { drop: 0, duplicate: 0, slow: 0 }

/** Carries messages between the plane and the parties outside it. */
export class Network {
  faults: NetworkFaults = QUIET_NETWORK
  /** Parties whose messages all get lost at present. */
  readonly cut = new Set<string>()
  readonly counts = { sent: 0, dropped: 0, duplicated: 0, slow: 0, cut: 0 }
  private readonly scheduler: Scheduler
  private readonly random: Random

  constructor(scheduler: Scheduler, random: Random) {
    this.scheduler = scheduler
    this.random = random
  }

  /** Sends a message of or to a party. `deliver` runs once; under faults never, twice or late. */
  send(party: string, deliver: () => void): void {
    this.counts.sent++
    if (this.cut.has(party)) {
      this.counts.cut++
      return
    }
    if (this.random.chance(this.faults.drop)) {
      this.counts.dropped++
      return
    }
    this.deliverLater(party, deliver)
    if (!this.random.chance(this.faults.duplicate)) return
    this.counts.duplicated++
    this.deliverLater(party, deliver)
  }

  /**
   * A request of a party and its answer, which `handle` may give later. `done` runs exactly once: with the answer, or with null after
   * `timeoutMs`, when the party cannot know whether the request has arrived.
   */
  call<T>(party: string, timeoutMs: number, handle: (answer: (value: T) => void) => void, done: (value: T | null) => void): void {
    let isOver = false
    const end = (value: T | null) => {
      if (isOver) return
      isOver = true
      cancel()
      done(value)
    }
    const cancel = this.scheduler.after(timeoutMs, () => end(null))
    this.send(party, () => handle((value) => this.send(party, () => end(value))))
  }

  private deliverLater(party: string, deliver: () => void): void {
    const isSlow = this.random.chance(this.faults.slow)
    if (isSlow) this.counts.slow++
    const ms = isSlow ? this.random.between(500, 20_000) : this.random.between(1, 30)
    this.scheduler.after(ms, () => {
      // A cut ends what is on its way, too.
      if (this.cut.has(party)) this.counts.cut++
      else deliver()
    })
  }
}
