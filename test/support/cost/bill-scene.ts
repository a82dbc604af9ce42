import { type Counts, INTERVALS } from '../../../bench/bill/model.ts'
import type { EndpointObject } from '../../../durable-objects/endpoint.ts'
import { api, createAccount, createEndpoint, expect } from '../harness.ts'
import { FakeHost, type FakeWorker } from '../hosts/fake-host.ts'
import { freezeClock, inside, parkStopPoll, parkTake, type QueueSetup, run, runAndTake } from '../queue/queue.ts'
import { realTime, until } from '../time.ts'
import { type Billed, countBilled } from './billed.ts'
import { ChannelAgent } from './channel-agent.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const STEP_SECONDS = 5
const LEAVE_MS = 1_000
/** Longer than any job of a bill. */
const POLICY = { executionTimeout: 3_600_000 }

interface Parts {
  setup: QueueSetup
  worker: FakeWorker
  billed: Billed
  clock: { nowMs: number }
  stopPoll: Promise<unknown>
}

/** An endpoint with one ready worker whose clock only `pass` moves, and the counts of what it is billed for. */
export class BilledQueue implements AsyncDisposable {
  readonly worker: FakeWorker
  private readonly setup: QueueSetup
  private readonly billed: Billed
  private readonly clock: { nowMs: number }
  private openTake: Promise<unknown> = Promise.resolve()
  private openStopPoll: Promise<unknown>
  private playedSeconds = 0

  private constructor(parts: Parts) {
    this.setup = parts.setup
    this.worker = parts.worker
    this.billed = parts.billed
    this.clock = parts.clock
    this.openStopPoll = parts.stopPoll
  }

  /** Starts counting, with a worker that has ended one job and holds a stop poll. */
  static async start(workers: { min: number; max: number; idleTimeout: number }): Promise<BilledQueue> {
    const setup = await setUp(workers)
    await freezeClock(setup.endpointId)
    // The first moment of an hour, so that every run counts the same minutes and the same alarms.
    const clock = { nowMs: Math.ceil(Date.now() / HOUR_MS) * HOUR_MS }
    const billed = await inside(setup, ({ core }) => {
      core.now = () => clock.nowMs
      return countBilled(core.ctx.storage)
    })
    const { worker, jobId } = await runAndTake(setup)
    await worker.done(jobId, { output: 1 })
    const [stopPoll] = await parkStopPoll(setup, worker)
    return new BilledQueue({ setup, worker, billed, clock, stopPoll: stopPoll ?? Promise.resolve() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.setup.host.leave()
    await realTime(LEAVE_MS, 'the plane notices that the host has left, which the next queue must not count')
  }

  /** Counts of what `act` causes. */
  async count(act: () => Promise<unknown>): Promise<Counts> {
    await this.settled()
    // The host sends no beats of its own, and would be silent on a slow machine. This one is not counted.
    await this.setup.host.beat()
    this.billed.take()
    await act()
    await this.settled()
    return this.billed.take()
  }

  /** Lets time pass, and fires the alarm if it is due then. */
  async pass(seconds: number): Promise<void> {
    this.clock.nowMs += seconds * SECOND_MS
    await this.inside((object) => this.billed.fireDue(object, object.core.ctx.storage, this.clock.nowMs))
    await this.settled()
  }

  /** Lets time pass until the alarm is due, and fires it; returns the passed seconds. */
  async passToAlarm(): Promise<number> {
    const atMs = await this.inside(({ core }) => this.billed.alarmAtMs(core.ctx.storage))
    if (atMs === null) throw new Error('the endpoint has no alarm')
    const seconds = Math.max(0, atMs - this.clock.nowMs) / SECOND_MS
    await this.pass(seconds)
    return seconds
  }

  /** Lets time pass while the worker holds these jobs, pings and polls for stops; without jobs it polls for them too. */
  async play(seconds: number, jobs: readonly string[]): Promise<void> {
    for (let left = seconds; left > 0; left -= STEP_SECONDS) {
      const step = Math.min(STEP_SECONDS, left)
      await this.pass(step)
      this.playedSeconds += step
      if (this.playedSeconds % INTERVALS.pingSeconds === 0) await this.worker.ping(jobs)
      if (this.playedSeconds % INTERVALS.holdSeconds > 0) continue
      await this.nextStopPoll()
      if (jobs.length === 0) await this.nextTake()
    }
  }

  submit(): Promise<string> {
    return run(this.setup, {}, POLICY)
  }

  /** Takes a job that is queued. */
  async take(): Promise<void> {
    expect(await this.worker.take()).not.toBeNull()
  }

  status(jobId: string) {
    return this.setup.get(`/status/${jobId}`)
  }

  done(jobId: string) {
    return this.worker.done(jobId, { output: 1 })
  }

  /** Ends the open take without a job, and opens the next one. */
  async nextTake(): Promise<void> {
    const previous = this.openTake
    this.openTake = this.worker.take()
    await previous
  }

  async openFirstTake(): Promise<void> {
    const [take] = await parkTake(this.setup, this.worker)
    this.openTake = take ?? this.openTake
  }

  /** Ends the open stop poll, and opens the next one. */
  async nextStopPoll(): Promise<void> {
    const previous = this.openStopPoll
    this.openStopPoll = this.worker.stopPoll()
    await previous
  }

  /** Opens a worker channel for the worker, which sends no call over HTTP from now on. */
  async openChannel(): Promise<ChannelAgent> {
    const agent = await ChannelAgent.open(this.setup.host, this.setup.endpointId, this.worker)
    agent.listen()
    await this.openStopPoll
    return agent
  }

  /** Lets time pass while the worker pings over the channel, with every alarm when it is due. */
  async playChannel(agent: ChannelAgent, seconds: number, jobs: readonly string[]): Promise<void> {
    for (let left = seconds; left > 0; left -= INTERVALS.pingSeconds) {
      await this.passWithAlarms(INTERVALS.pingSeconds)
      if (agent.ping(jobs, this.clock.nowMs)) await this.applied(agent)
    }
  }

  /** Waits until the plane has applied the frames of before, without another commit. */
  private async applied({ channel }: ChannelAgent): Promise<void> {
    const sent = channel.sent
    await until(() => this.billed.frames() >= sent)
    await this.settled()
  }

  private async passWithAlarms(seconds: number): Promise<void> {
    const endMs = this.clock.nowMs + seconds * SECOND_MS
    for (;;) {
      const atMs = await this.inside(({ core }) => this.billed.alarmAtMs(core.ctx.storage))
      if (atMs === null || atMs > endMs) break
      await this.pass(Math.max(0, atMs - this.clock.nowMs) / SECOND_MS)
    }
    this.clock.nowMs = endMs
  }

  /** Whether the endpoint has asked the host to stop its worker. */
  isWorkerStopped(): boolean {
    return this.setup.host.desired().some(({ id, desired }) => id === this.worker.id && desired === 'stopped')
  }

  /** Ends the container of the stopped worker. */
  async endWorker(): Promise<void> {
    await this.setup.host.report(this.worker.id, { state: 'exited', exitCode: 0 })
    await this.setup.host.report(this.worker.id, { state: 'gone' })
  }

  /** Number of jobs that the endpoint stores. */
  jobs(): Promise<number> {
    return this.inside(({ core }) => Number(core.ctx.storage.sql.exec('SELECT COUNT(*) AS n FROM jobs').one().n))
  }

  private inside<T>(read: (object: EndpointObject) => T | Promise<T>): Promise<T> {
    return inside(this.setup, read)
  }

  private settled(): Promise<void> {
    return until(() => this.inside(({ core }) => core.placing.inFlight.size === 0 && core.audit.size === 0))
  }
}

/** An endpoint, and a host of its own that sends no beats: they would be counted. */
async function setUp(workers: object): Promise<QueueSetup> {
  const host = await FakeHost.join()
  host.stopBeating()
  const account = await createAccount()
  const endpointId = await createEndpoint(account.key, { workers })
  const call = api(account.key)
  const base = `/v2/${endpointId}`
  return { account, endpointId, host, post: (path, body) => call.post(base + path, body), get: (path) => call.get(base + path) }
}
