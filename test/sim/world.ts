import { Checks } from './checks.ts'
import { Network } from './network.ts'
import { Random } from './random.ts'
import { Scheduler } from './scheduler.ts'
import { Trace } from './trace.ts'

/** Any instant that is no round number. */
const START_MS = 1_000_003

/** Probabilities of faults outside the network. */
export interface Faults {
  /** An endpoint object ends in a commit: half of the times before it is durable, half of the times after. */
  crash: number
  /** A call to the database fails. */
  database: number
  /** A job makes its worker exit, and one makes it silent for a while. */
  workerExit: number
  workerFreeze: number
}

export const NO_FAULTS: Faults = { crash: 0, database: 0, workerExit: 0, workerFreeze: 0 }

/** The common parts of a simulation: clock, randomness, network, trace and checks. */
export class World {
  readonly random: Random
  readonly scheduler = new Scheduler(START_MS)
  readonly network: Network
  readonly trace = new Trace()
  readonly checks: Checks
  faults: Faults = NO_FAULTS

  constructor(seed: number) {
    this.random = new Random(seed)
    this.network = new Network(this.scheduler, this.random)
    this.checks = new Checks(this)
  }

  get nowMs(): number {
    return this.scheduler.nowMs
  }

  say(text: string): void {
    this.trace.say(`${this.nowMs} ${text}`)
  }

  after(ms: number, run: () => void): () => void {
    return this.scheduler.after(ms, run)
  }
}
