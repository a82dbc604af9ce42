import { Clients } from './clients.ts'
import { EndpointNode } from './endpoint-node.ts'
import { Fleet } from './fleet.ts'
import { Machine } from './machine.ts'
import { QUIET_NETWORK } from './network.ts'
import { NO_FAULTS, World } from './world.ts'

/** Steps between whole scans. */
const SCAN_EVERY = 500
/** After the end of all faults everything comes to rest within this time and the one for each job that waits; retention included. */
const REST_MS = 2 * 3_600_000
const REST_PER_JOB_MS = 30_000
/** The same in steps: an object that wakes again and again for nothing takes more. */
const REST_STEPS = 100_000
const REST_STEPS_PER_JOB = 500
const BECKON_EVERY_MS = 300_000
/** The longest history, in simulated time, however few steps it has. */
const NEVER_MS = Number.MAX_SAFE_INTEGER

/** All kinds of faults. */
export const FAULTS = ['drop', 'duplicate', 'slow', 'crash', 'database', 'workerExit', 'workerFreeze', 'cut', 'agent', 'reboot'] as const
export type Fault = (typeof FAULTS)[number]

/** The result of a simulation that violated nothing. */
export interface Outcome {
  seed: number
  steps: number
  simulatedMs: number
  jobs: number
  ends: Record<string, number>
  reached: Record<string, number>
  network: Record<string, number>
  trace: string
}

/**
 * Plays one history of so many steps under faults, then heals them and waits for rest. The production engine, placement, presence and agent
 * reconciler run over a simulated clock, network and storage. `without`: kinds of faults that do not happen. Throws a `Violation`.
 */
export function simulate(seed: number, steps: number, without: readonly Fault[] = []): Outcome {
  const simulation = new Simulation(seed, new Set(without))
  simulation.play(steps)
  simulation.heal()
  return simulation.outcome(seed)
}

class Simulation {
  readonly world: World
  private readonly fleet: Fleet
  private readonly endpoints: EndpointNode[]
  private readonly machines: Machine[]
  private readonly clients: Clients
  private readonly without: ReadonlySet<Fault>
  private isHealed = false

  constructor(seed: number, without: ReadonlySet<Fault>) {
    this.without = without
    this.world = new World(seed)
    const { random } = this.world
    this.fleet = new Fleet(this.world)
    this.endpoints = Array.from({ length: random.between(1, 4) }, (_, i) => {
      return new EndpointNode(this.world, this.fleet, `e${i}`, random.between(1, 4))
    })
    this.machines = Array.from({ length: random.between(1, 4) }, () => {
      return new Machine(this.world, this.fleet.addHost(random.between(1, 4)))
    })
    for (const { relay } of this.machines) for (const endpoint of this.endpoints) relay.endpoints.set(endpoint.id, endpoint)
    this.clients = new Clients(this.world)
    this.setFaults()
    this.submitLater()
    this.disturbLater()
  }

  play(steps: number): void {
    const { scheduler } = this.world
    while (scheduler.steps < steps && scheduler.step(NEVER_MS)) if (scheduler.steps % SCAN_EVERY === 0) this.scan()
  }

  /** Liveness: without faults and new work, every job ends, and nothing is left that would wake an object. */
  heal(): void {
    const { world } = this
    this.isHealed = true
    world.say('all faults end')
    world.faults = NO_FAULTS
    world.network.faults = QUIET_NETWORK
    world.network.cut.clear()
    const restMs = REST_MS + world.checks.unfinished().length * REST_PER_JOB_MS
    const untilMs = world.nowMs + restMs
    this.beckonLater()
    const most = REST_STEPS + world.checks.unfinished().length * REST_STEPS_PER_JOB
    for (let steps = 1; this.restless().length > 0 && world.scheduler.step(untilMs); steps++) {
      if (steps % SCAN_EVERY === 0) this.scan()
      if (steps > most) world.checks.fail(`${most} steps after the last fault there is no rest: ${this.restless().slice(0, 10).join(', ')}`)
    }
    this.scan()
    world.checks.scanBegun()
    world.checks.scanNotified()
    const left = this.restless()
    if (left.length > 0) world.checks.fail(`${restMs} ms after the last fault there is no rest: ${left.slice(0, 10).join(', ')}`)
  }

  /** SCALE-4: jobs of low priority alone start no worker. */
  private beckonLater(): void {
    this.world.after(BECKON_EVERY_MS, () => {
      const waiting = this.endpoints.filter((endpoint) => endpoint.hasOnlyLowPriority())
      for (const endpoint of waiting) this.clients.submit(endpoint, false)
      if (this.restless().length > 0) this.beckonLater()
    })
  }

  outcome(seed: number): Outcome {
    const { world } = this
    const { checks, network, scheduler, trace } = world
    const reached = Object.fromEntries([...checks.reached].sort(([a], [b]) => (a < b ? -1 : 1)))
    const counts = { jobs: checks.jobs, ends: checks.ends, reached, network: { ...network.counts } }
    return { seed, steps: scheduler.steps, simulatedMs: world.nowMs, ...counts, trace: trace.hash() }
  }

  private restless(): string[] {
    const unfinished = this.world.checks.unfinished()
    const open = this.clients.open === 0 ? [] : [`${this.clients.open} open submits`]
    // Cheapest first: only the last look needs them all.
    if (unfinished.length > 0) return [...unfinished, ...open]
    return [
      ...open,
      ...this.endpoints.flatMap((one) => one.restless()),
      ...this.fleet.restless(),
      ...this.machines.flatMap((one) => one.restless()),
    ]
  }

  private scan(): void {
    for (const endpoint of this.endpoints) endpoint.scan()
    this.fleet.check()
    this.world.checks.scanRuns((worker) => this.fleet.find(worker)?.host.isSteady() ?? false)
  }

  /** Some histories are calm, so that others' faults are not the only thing that is tested. */
  private setFaults(): void {
    const { random, network } = this.world
    const level = random.pick([0, 0.3, 1, 3]) ?? 0
    const share = (fault: Fault, base: number) => (this.without.has(fault) ? 0 : base * level)
    network.faults = { drop: share('drop', 0.02), duplicate: share('duplicate', 0.02), slow: share('slow', 0.02) }
    const [crash, database] = [share('crash', 0.002), share('database', 0.05)]
    this.world.faults = { crash, database, workerExit: share('workerExit', 0.02), workerFreeze: share('workerFreeze', 0.02) }
  }

  private submitLater(): void {
    const { random } = this.world
    // Bursts and pauses: queues fill, and workers are scaled to zero.
    const pauseMs = random.chance(0.02) ? random.between(60_000, 900_000) : random.between(1, 4_000)
    this.world.after(pauseMs, () => {
      if (this.isHealed) return
      const endpoint = random.pick(this.endpoints)
      for (let i = random.chance(0.1) ? random.between(2, 8) : 1; i > 0 && endpoint; i--) this.clients.submit(endpoint)
      this.submitLater()
    })
  }

  private disturbLater(): void {
    const { random, network, checks } = this.world
    this.world.after(random.between(10_000, 120_000), () => {
      if (this.isHealed) return
      const machine = random.pick(this.machines)
      const host = this.fleet.hosts[machine ? this.machines.indexOf(machine) : 0]
      const what = random.between(0, 3)
      if (what === 0 && host && !this.without.has('cut')) {
        this.world.say(`${host.id} is cut off`)
        checks.note('a host is cut off')
        network.cut.add(host.id)
        this.world.after(random.pick([3_000, 20_000, 60_000, 400_000, 900_000]) ?? 0, () => network.cut.delete(host.id))
      }
      if (what === 1 && !this.without.has('agent')) machine?.crashAgent()
      if (what === 2 && random.chance(0.3) && !this.without.has('reboot')) machine?.reboot()
      if (what === 3) this.setFaults()
      this.disturbLater()
    })
  }
}
