import { Alarm } from '../../durable-objects/endpoint/engine/alarm.ts'
import { type ParkedTake, Parking } from '../../durable-objects/endpoint/parking.ts'
import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../src/domain/endpoint/config.ts'
import type { HostEvent } from '../../src/domain/host/event.ts'
import type { Holder } from '../../src/domain/job/job.ts'
import { plainSubmission } from '../../src/domain/job/submit.ts'
import { readWorkerPost } from '../../src/domain/job/worker-post.ts'
import type { Delivery } from '../../src/host-protocol/delivery.ts'
import type { WorkloadReport } from '../../src/host-protocol/messages.ts'
import { acceptOnce } from '../../src/queue/accept.ts'
import { beginCommit, endCommit } from '../../src/queue/commit.ts'
import { applyDeadlines, earliest, nextDueAtMs } from '../../src/queue/deadlines.ts'
import { takeConfig } from '../../src/queue/endpoint-life.ts'
import { cancelJob } from '../../src/queue/jobs.ts'
import { takePing } from '../../src/queue/pings.ts'
import { askForWork, collectStops } from '../../src/queue/polls.ts'
import { takeResult } from '../../src/queue/posts.ts'
import { OUTPUT } from '../../src/queue/state.ts'
import { currentJob } from '../../src/queue/transitions.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { applyHostEvent } from '../../src/queue/workers/host-events.ts'
import { applyWorkloadReport } from '../../src/queue/workers/host-reports.ts'
import { applyPlacement, applyRemoval, dueCalls, type OutsideCall } from '../../src/queue/workers/outside-calls.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { nameOf } from './checks.ts'
import type { Fleet } from './fleet.ts'
import type { World } from './world.ts'

const HOLD_MS = 25_000
const DRAINING_HOLD_MS = 1_000
/** How much more often an object ends after a call outside than in a commit. */
const CRASH_AFTER_CALL = 15
const NOTIFY_AGAIN_MS = 5_000
const WELL = { sdkVersion: null, unhealthy: null }

/** Thrown to a caller whose endpoint object is not there, or ends during the call: it gets no answer. */
class Down extends Error {}

/** A submit of a client. */
export interface SimSubmit {
  key: string
  lowPriority: boolean
  executionTimeoutMs: number
  webhook: string | null
}

/** Jobs for a worker; null: the worker does not belong to the endpoint. */
export type TakeAnswer = { id: string }[] | null

/** An endpoint object: the production engine over state that survives its crashes, and parked takes that do not. */
export class EndpointNode {
  readonly id: string
  private readonly world: World
  private readonly fleet: Fleet
  private parking = this.newParking()
  private state = new MemoryState(this.parking)
  private alarm = this.newAlarm()
  private readonly inFlight = new Set<string>()
  private readonly notifying = new Set<string>()
  private isPlanned = false
  private scaleAtMs: number | null = null
  private cancelAlarm: () => void = () => undefined
  private isDown = false
  private incarnation = 0

  constructor(world: World, fleet: Fleet, id: string, maxWorkers: number) {
    this.world = world
    this.fleet = fleet
    this.id = id
    const workers = { min: 0, max: maxWorkers, idleTimeout: 20 }
    const body = { name: id, image: 'i', gpu: { pools: ['ADA_24' as const] }, workers }
    const made = createEndpointConfig(SEED_CATALOG, body, { id, teamId: `team of ${id}` }, 0)
    if (!made.ok) throw new Error(made.problem.detail)
    this.commit((tx) => takeConfig(tx, made.config))
  }

  submit({ key, ...policy }: SimSubmit, answer: (job: { id: string; seq: number } | null) => void): void {
    this.serve(() => {
      const submission = { ...plainSubmission('{}'), ...policy }
      const request = { submission, sync: false, waitMs: 0, sealS3Config: null }
      const found = this.commit((tx) => {
        const outcome = acceptOnce(tx, request, { userId: 'u', key, fingerprint: key })
        if ('repeatOf' in outcome) return currentJob(tx, outcome.repeatOf)
        return 'job' in outcome ? outcome.job : null
      })
      answer(found === null ? null : { id: found.id, seq: found.seq })
    })
  }

  cancel(jobId: string): void {
    this.serve(() =>
      this.commit((tx) => {
        const job = currentJob(tx, jobId)
        if (job) cancelJob(tx, job)
      }),
    )
  }

  take(from: Holder, isIdle: boolean, isAgain: boolean, answer: (jobs: TakeAnswer) => void): void {
    this.serve(() => {
      const take: ParkedTake = {
        ...from,
        ...{ capacity: 1, batch: true, parkedAtMs: this.world.nowMs },
        answer: (body) => answer(body === null ? [] : (JSON.parse(body) as { id: string }[])),
      }
      const parking = this.parking
      const verdict = this.commit((tx) => {
        const asked = askForWork(tx, from, { idle: isIdle, again: isAgain })
        if (asked === 'waits') parking.parkTake(take)
        return asked
      })
      if (verdict === 'refused') {
        answer(null)
        return
      }
      this.world.after(verdict === 'draining' ? DRAINING_HOLD_MS : HOLD_MS, () => {
        if (parking !== this.parking) return
        parking.dropTake(take)
        answer([])
      })
    })
  }

  ping(from: Holder, listed: readonly string[]): void {
    this.serve(() => this.commit((tx) => takePing(tx, from, { listed: new Set(listed), ...WELL })))
  }

  stops(from: Holder, answer: (jobIds: string[]) => void): void {
    this.serve(() => answer(this.commit((tx) => collectStops(tx, from)).jobIds))
  }

  post(from: Holder, jobId: string, body: string, delivery: Delivery, answer: (isTaken: true) => void): void {
    this.serve(() => {
      this.commit((tx) => takeResult(tx, jobId, { ...from, delivery }, () => readWorkerPost(body)))
      answer(true)
    })
  }

  /** Both return whether the object has stored it; the caller repeats it otherwise. */
  report(report: WorkloadReport): boolean {
    return this.serve(() => this.commit((tx) => applyWorkloadReport(tx, report)))
  }

  hostChanged(workerIds: readonly string[], event: HostEvent): boolean {
    return this.serve(() => this.commit((tx) => applyHostEvent(tx, workerIds, event)))
  }

  /** Checks all jobs against what the clients know. */
  scan(): void {
    this.world.checks.scan(this.id, this.state, (seq) => this.state.payloads.get(seq, OUTPUT) ?? undefined)
  }

  hasOnlyLowPriority(): boolean {
    return this.state.jobs.queuedLow > 0 && this.state.jobs.queuedNormal === 0 && this.state.workers.all().length === 0
  }

  /** The reasons why the object cannot sleep; empty: it can. */
  restless(): string[] {
    const { jobs, workers, meta } = this.state
    const left = [`${jobs.queuedNormal + jobs.queuedLow} queued`, `${jobs.running().length} running`, `${workers.all().length} workers`]
    const alarm = meta.alarmAtMs()
    const hooks = `${this.state.notifications().length} notifications`
    return [...left, hooks, `${alarm === null ? 0 : 1} alarm`].filter((text) => !text.startsWith('0 ')).map((text) => `${this.id}: ${text}`)
  }

  private serve(call: () => unknown): boolean {
    if (this.isDown) return false
    try {
      call()
      return true
    } catch (error) {
      if (error instanceof Down) return false
      throw error
    }
  }

  /** One commit with its effects. A crash before it is durable changes nothing, a crash after it loses the effects. */
  private commit<T>(run: (tx: Tx) => T): T {
    const { random, faults } = this.world
    const isCrash = random.chance(faults.crash)
    if (isCrash && random.chance(0.5)) this.crash('before')
    const effects = new Effects()
    const tx: Tx = { state: this.state, nowMs: this.world.nowMs, effects }
    beginCommit(tx, !this.isPlanned)
    const value = run(tx)
    const waiting = this.state.jobs.queued(1_000)
    const { taken, scaleAtMs } = endCommit(tx, !this.isPlanned)
    this.isPlanned = true
    if (scaleAtMs !== undefined) this.scaleAtMs = scaleAtMs
    this.alarm.arm(earliest([nextDueAtMs(this.state, tx.nowMs, this.inFlight), this.scaleAtMs]), tx.nowMs)
    this.check(effects, waiting)
    if (isCrash) this.crash('after')
    for (const { take, jobs } of taken) this.parking.claimTake(take)?.answer(`[${jobs.map(({ text }) => `${text}}`).join(',')}]`)
    for (const id of effects.releasedTakes) this.parking.releaseTake(id)
    this.notify()
    if (effects.scale) for (const call of dueCalls(this.state, tx.nowMs, this.inFlight)) this.callOutside(call)
    return value
  }

  /** Hands stored notifications over; one that is handed over while this object ends is handed over again. */
  private notify(): void {
    const { incarnation } = this
    for (const job of this.state.notifications()) {
      if (this.notifying.has(job)) continue
      this.notifying.add(job)
      this.world.after(this.world.random.between(1, 40), () => {
        if (incarnation !== this.incarnation) return
        const isTaken = !this.world.random.chance(this.world.faults.database)
        if (isTaken) this.world.checks.notified(nameOf(this.id, job))
        this.world.after(isTaken ? 5 : NOTIFY_AGAIN_MS, () => {
          if (incarnation !== this.incarnation) return
          this.notifying.delete(job)
          this.serve(() => this.commit(() => isTaken && this.state.dropNotification(job)))
        })
      })
    }
  }

  private check(effects: Effects, waiting: ReturnType<MemoryState['jobs']['queued']>): void {
    const { checks } = this.world
    const left = new Set(this.state.jobs.queued(1_000).map(({ seq }) => seq))
    for (const { seq } of waiting) {
      const job = left.has(seq) ? null : this.state.jobs.bySeq(seq)
      if (job?.state === 'IN_PROGRESS')
        checks.dispatched(
          job,
          waiting.filter((one) => left.has(one.seq)),
        )
    }
    for (const seq of effects.changedJobs) {
      const job = this.state.jobs.bySeq(seq)
      if (job) checks.saw(nameOf(this.id, job.id), job, this.state.payloads.get(seq, OUTPUT) ?? undefined)
    }
  }

  /** A call of the plane takes a while, may fail, and its result is lost if this object ends meanwhile. */
  private callOutside(call: OutsideCall): void {
    const { random, faults } = this.world
    const { worker } = call
    const { incarnation } = this
    this.inFlight.add(worker.id)
    this.world.after(random.between(1, 40), () => {
      const isAway = random.chance(faults.database)
      const placed = call.kind === 'place' && !isAway ? this.fleet.place(this, worker) : null
      const removed = call.kind === 'remove' && !isAway ? this.fleet.remove(this, worker.id, call.graceMs) : 'requested'
      this.world.after(random.between(1, 40), () => {
        if (incarnation !== this.incarnation) return
        this.inFlight.delete(worker.id)
        const failed = { ok: false, reason: 'placement failed; it is tried again' } as const
        this.serve(() => {
          // Between the call and its result, where a repetition must find what the first one did.
          if (random.chance(CRASH_AFTER_CALL * faults.crash)) this.crash('before')
          this.commit((tx) =>
            call.kind === 'place' ? applyPlacement(tx, worker.id, placed ?? failed, false) : applyRemoval(tx, worker.id, removed),
          )
          this.commit(({ effects }) => {
            effects.scale = true
          })
        })
      })
    })
  }

  private crash(when: 'before' | 'after'): never {
    this.world.say(`${this.id} crashes ${when} a commit`)
    this.world.checks.note(`an endpoint crashes ${when} a commit`)
    this.isDown = true
    this.incarnation++
    this.cancelAlarm()
    this.inFlight.clear()
    this.notifying.clear()
    this.parking = this.newParking()
    this.world.after(this.world.random.between(20, 15_000), () => this.start())
    throw new Down()
  }

  private start(): void {
    this.world.say(`${this.id} starts`)
    this.isDown = false
    this.state = this.state.restarted(this.parking)
    this.alarm = this.newAlarm()
    this.isPlanned = false
    this.scaleAtMs = null
    const alarmAtMs = this.state.meta.alarmAtMs()
    if (alarmAtMs !== null) this.planAlarm(alarmAtMs)
  }

  private planAlarm(atMs: number): void {
    this.cancelAlarm()
    this.cancelAlarm = this.world.after(atMs - this.world.nowMs, () => {
      this.serve(() =>
        this.commit((tx) => {
          this.alarm.fired()
          applyDeadlines(tx)
        }),
      )
    })
  }

  private newAlarm(): Alarm {
    const storage = { setAlarm: async (at: Date | number) => this.planAlarm(Number(at)), deleteAlarm: async () => this.cancelAlarm() }
    return new Alarm(storage, this.state.meta, this.state.pingIntervalMs)
  }

  private newParking(): Parking {
    return new Parking({ after: () => () => undefined })
  }
}
