import type { EndpointNode } from './endpoint-node.ts'
import type { World } from './world.ts'

const ANSWER_MS = 5_000
const CANCELLED = 0.05

/** Clients that submit jobs with an idempotency key, repeat a submit that got no answer, and cancel some jobs. */
export class Clients {
  /** Submits that have not been answered. */
  open = 0
  private keys = 0
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  submit(endpoint: EndpointNode, isLow = this.world.random.chance(0.2)): void {
    const { random } = this.world
    const key = `key ${++this.keys}`
    const timeoutMs = random.pick([600_000, 600_000, 60_000, 15_000]) ?? 600_000
    this.open++
    this.attempt(endpoint, key, isLow, timeoutMs)
  }

  private attempt(endpoint: EndpointNode, key: string, isLow: boolean, timeoutMs: number): void {
    const { random, network, checks } = this.world
    network.call<{ id: string; seq: number }>(
      'client',
      ANSWER_MS,
      (answer) => endpoint.submit(key, isLow, timeoutMs, (job) => job && answer(job)),
      (job) => {
        if (job === null) {
          checks.note('a submit is repeated')
          this.world.after(random.between(100, 3_000), () => this.attempt(endpoint, key, isLow, timeoutMs))
          return
        }
        this.open--
        checks.acknowledged(endpoint.id, key, job.id, job.seq)
        this.world.say(`${key} is ${job.id}`)
        if (!random.chance(CANCELLED)) return
        this.world.after(random.between(10, 60_000), () => network.send('client', () => endpoint.cancel(job.id)))
      },
    )
  }
}
