import { nameOf } from './checks.ts'
import type { EndpointNode, SimSubmit } from './endpoint-node.ts'
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
    const submit = {
      key: `key ${++this.keys}`,
      lowPriority: isLow,
      executionTimeoutMs: random.pick([600_000, 600_000, 60_000, 15_000]) ?? 600_000,
      webhook: random.chance(0.5) ? 'https://hooks.example' : null,
    }
    this.open++
    this.attempt(endpoint, submit)
  }

  private attempt(endpoint: EndpointNode, submit: SimSubmit): void {
    const { key, webhook } = submit
    const { random, network, checks } = this.world
    network.call<{ id: string; seq: number }>(
      'client',
      ANSWER_MS,
      (answer) => endpoint.submit(submit, (job) => job && answer(job)),
      (job) => {
        if (job === null) {
          checks.note('a submit is repeated')
          this.world.after(random.between(100, 3_000), () => this.attempt(endpoint, submit))
          return
        }
        this.open--
        const id = nameOf(endpoint.id, job.id)
        checks.acknowledged({ endpoint: endpoint.id, key, id, seq: job.seq, hasWebhook: webhook !== null })
        this.world.say(`${key} is ${id}`)
        if (!random.chance(CANCELLED)) return
        this.world.after(random.between(10, 60_000), () => network.send('client', () => endpoint.cancel(job.id)))
      },
    )
  }
}
