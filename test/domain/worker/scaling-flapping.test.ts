import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideScaling, REQUEST_COUNT_IDLE_MS, type ScalingInputs } from '../../../src/domain/worker/scaling.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'
import { nextWorker, type WorkerEvent } from '../../../src/queue/worker-life.ts'
import { workerIn } from '../../support/queue/workers.ts'

const IDLE_MS = 5_000
const MAX = 4

/** One tick of load: how much time passes, then how many jobs come, are cancelled and finish. */
const step = fc.record({
  ms: fc.integer({ min: 1, max: 4_000 }),
  submit: fc.integer({ min: 0, max: 3 }),
  cancel: fc.integer({ min: 0, max: 3 }),
  finish: fc.integer({ min: 0, max: 3 }),
  place: fc.boolean(),
  boot: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** An endpoint as the scaler sees it, with workers that come and jobs that go as the steps say. */
class Endpoint {
  nowMs = 1_000_000
  workers: Worker[] = []
  waitingSinceMs: number[] = []
  readonly held = new Map<string, number>()
  /** Moments at which a worker was started, and how long each stopped one had been without a job. */
  readonly starts: number[] = []
  readonly idleAtStopMs: number[] = []
  private made = 0
  private readonly policy: ScalingInputs['policy']
  private readonly min: number

  constructor(policy: ScalingInputs['policy'], min: number) {
    this.policy = policy
    this.min = min
  }

  apply({ ms, submit, cancel, finish, place, boot }: Step): void {
    this.nowMs += ms
    for (const [id] of [...this.held].slice(0, finish)) {
      this.held.delete(id)
      this.tell(id, { kind: 'idle', polls: false })
    }
    this.waitingSinceMs.splice(0, cancel)
    for (let i = 0; i < submit; i++) this.waitingSinceMs.push(this.nowMs)
    for (const worker of this.workers) {
      if (worker.phase === 'STARTING' && boot) this.tell(worker.id, { kind: 'take' })
      if (worker.phase === 'PLACING' && place)
        this.tell(worker.id, { kind: 'placed', hostId: 'h', gpuTypeId: null, dataCenterId: 'LOCAL-1' })
    }
    this.dispatch()
    this.decide()
  }

  private dispatch(): void {
    for (const worker of this.workers) {
      if (worker.phase !== 'READY' || this.held.has(worker.id) || this.waitingSinceMs.length === 0) continue
      this.waitingSinceMs.shift()
      this.held.set(worker.id, 1)
      this.tell(worker.id, { kind: 'busy' })
    }
  }

  private decide(): void {
    const { policy, min, nowMs, workers, held, waitingSinceMs } = this
    const bounds = { min, max: MAX, idleTimeoutMs: IDLE_MS, version: 1, launchNotBeforeMs: 0, nowMs }
    const decision = decideScaling({ policy, queued: waitingSinceMs.length, waitingSinceMs, workers, held, heldNormal: held, ...bounds })
    for (const id of decision.stop) {
      const worker = workers.find((w) => w.id === id)
      this.idleAtStopMs.push(nowMs - ((worker?.phase === 'READY' ? worker.idleSinceMs : null) ?? worker?.createdAtMs ?? nowMs))
    }
    this.workers = workers.filter((w) => !decision.stop.includes(w.id))
    for (let i = 0; i < decision.start; i++) {
      this.workers.push(workerIn('PLACING', `w${this.made++}`, { createdAtMs: nowMs, hostId: null }))
      this.starts.push(nowMs)
    }
  }

  private tell(id: string, event: WorkerEvent): void {
    this.workers = this.workers.flatMap((w) => (w.id === id ? (nextWorker(w, event, this.nowMs) ?? []) : w))
  }
}

const policies: [string, ScalingInputs['policy'], number][] = [
  ['QUEUE_DELAY', { type: 'QUEUE_DELAY', queueDelay: 0.5 }, IDLE_MS],
  ['REQUEST_COUNT', { type: 'REQUEST_COUNT', requestCount: 1 }, REQUEST_COUNT_IDLE_MS],
]

describe.each(policies)('any load under %s', (_name, policy, idleMs) => {
  test('[SCALE-5, SCALE-12] no worker is stopped before it was idle for the idle period, and min and max hold', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 2 }), (steps, min) => {
        const endpoint = new Endpoint(policy, min)
        for (const one of steps) {
          endpoint.apply(one)
          expect(endpoint.workers.length).toBeLessThanOrEqual(MAX)
          expect(endpoint.workers.length).toBeGreaterThanOrEqual(min)
        }
        for (const idle of endpoint.idleAtStopMs) expect(idle).toBeGreaterThanOrEqual(idleMs)
        // So what starts within one idle period is still there at its end.
        for (const from of endpoint.starts) {
          expect(endpoint.starts.filter((at) => at >= from && at < from + idleMs).length).toBeLessThanOrEqual(MAX)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('[SCALE-2, SCALE-3] a job that waits is served in the end', () => {
    const endpoint = new Endpoint(policy, 0)
    endpoint.apply({ ms: 1, submit: 9, cancel: 0, finish: 0, place: true, boot: true })
    const idleStep = { ms: 600, submit: 0, cancel: 0, finish: 3, place: true, boot: true }
    for (let i = 0; i < 20 && endpoint.waitingSinceMs.length > 0; i++) endpoint.apply(idleStep)
    expect(endpoint.waitingSinceMs).toEqual([])
    for (let i = 0; i < 30; i++) endpoint.apply(idleStep)
    expect(endpoint.workers).toEqual([])
  })
})
