import type { Holder } from '../../src/domain/job/job.ts'
import { nameOf } from './checks.ts'
import type { Relay } from './relay.ts'
import type { World } from './world.ts'

const PING_EVERY_MS = 10_000
const STOPS_EVERY_MS = 5_000
const RETRY_MS = 2_000

export interface SimWorkerDeps {
  relay: Relay
  endpoint: string
  holder: Holder
  /** The clock of its machine. */
  now: () => number
  exited: (code: number) => void
}

/** The worker of an SDK in a container: takes one job at a time, pings, and obeys stop orders. */
export class SimWorker {
  job: string | null = null
  /** When it got the job, by the clock of its machine. */
  jobSinceMs = 0
  private readonly world: World
  private readonly deps: SimWorkerDeps
  private readonly name: string
  private isOver = false
  private isTerminating = false
  private isFrozen = false
  private isUnanswered = false
  private runs = 0

  constructor(world: World, deps: SimWorkerDeps) {
    this.world = world
    this.deps = deps
    this.name = `${deps.endpoint}.${deps.holder.workerId}`
    world.after(world.random.between(10, 3_000), () => this.take())
    this.pingLater()
    this.askForStopsLater()
  }

  /** SIGTERM: the job in progress is finished. */
  terminate(): void {
    this.isTerminating = true
    if (this.job === null) this.exit(0)
  }

  /** The container has ended with its machine, or was killed. */
  vanish(): void {
    if (this.isOver) return
    this.isOver = true
    this.forget()
  }

  private take(): void {
    if (this.isOver) return
    if (this.isTerminating) {
      this.exit(0)
      return
    }
    const { relay, endpoint, holder } = this.deps
    relay.take(endpoint, holder, this.job === null, this.isUnanswered, (answer) => {
      if (this.isOver) return
      this.isUnanswered = answer === null
      const job = answer?.jobs?.[0]
      if (job) this.run(job.id)
      else this.world.after(answer?.jobs ? 10 : RETRY_MS, () => this.take())
    })
  }

  private run(job: string): void {
    const { random, faults } = this.world
    this.job = job
    this.jobSinceMs = this.deps.now()
    this.runs++
    const run = this.runs
    this.world.say(`${this.name} runs ${job}`)
    this.world.checks.begins(nameOf(this.deps.endpoint, job), this.name)
    if (random.chance(faults.workerFreeze)) this.freeze()
    const willExit = random.chance(faults.workerExit)
    this.world.after(random.chance(0.1) ? random.between(30_000, 200_000) : random.between(50, 20_000), () => {
      if (this.isOver || this.job !== job || run !== this.runs) return
      if (willExit) this.exit(1)
      else this.finish(job, `${this.name} run ${run}`)
    })
  }

  private finish(job: string, output: string): void {
    const { relay, endpoint, holder } = this.deps
    const isError = this.world.random.chance(0.1)
    this.world.checks.result(nameOf(endpoint, job), JSON.stringify(output))
    const body = JSON.stringify(isError ? { error: 'it failed' } : { output })
    if (!relay.post(endpoint, holder, job, body)) {
      // The SDK repeats a post that the relay did not accept.
      this.world.after(RETRY_MS, () => {
        if (!this.isOver && this.job === job) this.finish(job, output)
      })
      return
    }
    this.forget()
    this.take()
  }

  private freeze(): void {
    this.isFrozen = true
    this.world.checks.note('a worker is silent for a while')
    this.world.after(this.world.random.between(20_000, 120_000), () => {
      this.isFrozen = false
    })
  }

  private pingLater(): void {
    this.world.after(PING_EVERY_MS, () => {
      if (this.isOver) return
      const { relay, endpoint, holder } = this.deps
      if (!this.isFrozen) relay.ping(endpoint, holder, this.job === null ? [] : [this.job])
      this.pingLater()
    })
  }

  private askForStopsLater(): void {
    this.world.after(STOPS_EVERY_MS, () => {
      if (this.isOver) return
      const { relay, endpoint, holder } = this.deps
      if (!this.isFrozen)
        relay.stops(endpoint, holder, (jobIds) => {
          if (this.isOver || this.job === null || !jobIds?.includes(this.job)) return
          this.world.checks.note('a worker stops a job')
          this.forget()
          this.take()
        })
      this.askForStopsLater()
    })
  }

  private exit(code: number): void {
    if (this.isOver) return
    this.vanish()
    this.deps.exited(code)
  }

  private forget(): void {
    if (this.job !== null) this.world.checks.stops(nameOf(this.deps.endpoint, this.job), this.name)
    this.job = null
    this.runs++
  }
}
