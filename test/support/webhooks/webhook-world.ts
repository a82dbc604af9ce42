import { ATTEMPT_TIMEOUT_MS, type DeliveryState, endAttempt, newDelivery, startAttempt } from '../../../src/domain/webhook/delivery.ts'
import { LANES, type Lane, openings, type UnderWay } from '../../../src/domain/webhook/slots.ts'

/** A path of a receiver: the time until its answer, or that it hangs until the timeout. */
export interface Receiver {
  receiver: string
  path: string
  answerMs: number | 'hangs'
}

interface Delivery extends Receiver {
  cameAtMs: number
  bytes: number
  state: DeliveryState
}

/** A sender on a clock that jumps from event to event: the pure rules with a list instead of tables. */
export class WebhookWorld {
  readonly deliveries: Delivery[] = []
  /** The largest number of concurrent attempts to one receiver. */
  mostAtOnce = 0
  private nowMs = 0
  private readonly perReceiver: number
  private readonly failing = new Set<string>()
  private readonly running = new Map<Delivery, UnderWay & { endsAtMs: number }>()

  constructor(perReceiver: number) {
    this.perReceiver = perReceiver
  }

  add(cameAtMs: number, receiver: Receiver, bytes = 100): void {
    this.deliveries.push({ ...receiver, cameAtMs, bytes, state: newDelivery(cameAtMs) })
  }

  /** Runs until every delivery is over. */
  run(): void {
    for (;;) {
      for (const [delivery, { endsAtMs }] of this.running) if (endsAtMs <= this.nowMs) this.end(delivery)
      for (const lane of LANES) for (let next = this.next(lane); next; next = this.next(lane)) this.start(next, lane)
      const times = [
        ...[...this.running.values()].map(({ endsAtMs }) => endsAtMs),
        ...this.deliveries.map(({ state }) => (state.startedAtMs === null ? (state.nextAtMs ?? 0) : 0)),
      ].filter((atMs) => atMs > this.nowMs)
      if (times.length === 0) return
      this.nowMs = Math.min(...times)
    }
  }

  /** The time that each delivery of a path waited for its first attempt, milliseconds. */
  firstWaitsMs(path: string): number[] {
    return this.of(path).map(({ cameAtMs, state }) => (state.attempts[0]?.atMs ?? Number.NaN) - cameAtMs)
  }

  /** Time between the end of each attempt and the start of the one after it. */
  gapsMs(path: string): number[] {
    return this.of(path).flatMap(({ state: { attempts } }) =>
      attempts.slice(1).map(({ atMs }, index) => atMs - (attempts[index]?.atMs ?? 0) - (attempts[index]?.durationMs ?? 0)),
    )
  }

  private of(path: string): Delivery[] {
    return this.deliveries.filter((delivery) => delivery.path === path)
  }

  private next(lane: Lane): Delivery | undefined {
    const open = openings(lane, [...this.running.values()], this.failing, this.perReceiver)
    const due = (delivery: Delivery) => delivery.state.nextAtMs ?? Number.POSITIVE_INFINITY
    return this.deliveries
      .filter((delivery) => delivery.state.startedAtMs === null && due(delivery) <= this.nowMs)
      .filter(({ state }) => (state.failures === 0) === (lane === 'first'))
      .filter((it) => open && !open.closedReceivers.includes(it.receiver) && !open.closedTargets.includes(it.receiver + it.path))
      .filter(({ bytes }) => bytes <= (open?.maxBytes ?? 0))
      .sort((one, other) => due(one) - due(other))[0]
  }

  private start(delivery: Delivery, lane: Lane): void {
    const { receiver, path, bytes, answerMs } = delivery
    delivery.state = startAttempt(delivery.state, this.nowMs)
    const endsAtMs = this.nowMs + (answerMs === 'hangs' ? ATTEMPT_TIMEOUT_MS : answerMs)
    this.running.set(delivery, { lane, receiver, target: receiver + path, bytes, endsAtMs })
    const held = [...this.running.values()].filter((attempt) => attempt.receiver === receiver).length
    this.mostAtOnce = Math.max(this.mostAtOnce, held)
  }

  private end(delivery: Delivery): void {
    const target = delivery.receiver + delivery.path
    this.running.delete(delivery)
    if (delivery.answerMs === 'hangs') this.failing.add(target)
    else this.failing.delete(target)
    const outcome = delivery.answerMs === 'hangs' ? { error: 'no answer' } : { status: 200 }
    delivery.state = endAttempt(delivery.state, outcome, this.nowMs)
  }
}
