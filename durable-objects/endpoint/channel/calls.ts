import type { Holder } from '../../../src/domain/job/job.ts'
import { parseDelivery } from '../../../src/host-protocol/delivery.ts'
import {
  type AgentFrame,
  type ListenCall,
  MAX_PART_CHARS,
  type PlaneFrame,
  type PostCall,
  type TakeCall,
  USE_HTTP,
} from '../../../src/host-protocol/worker-channel.ts'
import { logEvent } from '../../../src/platform/log.ts'
import { takePing, takeStandingPing } from '../../../src/queue/pings.ts'
import { askForWork, collectStops } from '../../../src/queue/polls.ts'
import { endHostStanding, endStanding, keepStanding, noteEndOfTake } from '../../../src/queue/standing.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import { workerOf } from '../../../src/queue/worker-rows.ts'
import type { ParkedTake } from '../parking.ts'
import type { Channels, Rows } from '../parts.ts'
import { DRAINING_HOLD_MS, type PollParts } from '../worker/worker-polls.ts'
import { type PostParts, takePostText } from '../worker/worker-posts.ts'
import { CallRegister, type OpenCall } from './call-register.ts'

/** Parts that the calls of workers use. */
export type CallParts = Channels & PollParts & PostParts & Rows

/** Most posts of a channel that are applied at the same time; further ones are refused with 503, and the agent repeats them. */
const MAX_POSTS = 256
const OK = 200
const BUSY = 503
const REFUSED = 429

type PingsFrame = Extract<AgentFrame, { type: 'pings' }>

/** The calls of one channel. A call of a worker that is not on the host of the channel is never applied; HTTP decides it (`USE_HTTP`). */
export class ChannelCalls {
  private readonly core: CallParts
  private readonly hostId: string
  private readonly send: (frame: PlaneFrame) => void
  private readonly stand: () => void
  private readonly calls = new CallRegister()
  /** Numbers of the posts that are being applied. */
  private readonly posts = new Set<number>()

  /** `stand`: called when the agent answers for a worker. */
  constructor(core: CallParts, hostId: string, { send, stand }: { send: (frame: PlaneFrame) => void; stand: () => void }) {
    this.core = core
    this.hostId = hostId
    this.send = send
    this.stand = stand
  }

  /** Whether a frame begins no call under the number of an open one, because both would have the same answer (CHN-11). */
  isValid(frame: AgentFrame): boolean {
    if (frame.type === 'hello') {
      const named = [...frame.takes, ...frame.listens].map(({ n }) => n)
      // An open take or stop poll may be named, because the agent repeats it; a post is never repeated so.
      return new Set(named).size === named.length && !named.some((n) => this.posts.has(n))
    }
    const isBegun = frame.type === 'take' || frame.type === 'listen' || frame.type === 'post'
    return !isBegun || !(this.calls.find(frame.n) || this.posts.has(frame.n))
  }

  /** Applies a valid frame. Never throws. */
  async take(frame: AgentFrame): Promise<void> {
    switch (frame.type) {
      case 'hello':
        return this.resume(frame)
      case 'take':
        return this.takeJob(frame)
      case 'listen':
        return this.listen(frame)
      case 'leave':
        return this.leave(frame)
      case 'post':
        return this.post(frame)
      case 'pings':
        return this.pings(frame)
      case 'quiet':
        return this.quiet(frame)
      default:
        throw new Error(`no such frame: ${frame satisfies never}`)
    }
  }

  /** Ends all open calls, because the channel is gone; with `isLast`, the host has no other one, and its standing pings end too. */
  end(isLast: boolean): void {
    for (const call of this.calls.all()) call.leave()
    this.calls.clear()
    if (isLast && this.core.isStored) void this.apply('the end of the channel', (tx) => endHostStanding(tx, this.hostId))
  }

  /**
   * Makes the agent's open calls those of the object. A call that is open already stays. An ended call does not begin again: the agent
   * said its hello before it read the answer, which is on its way. This holds for each hello, because one may answer the `sync` of an
   * instance before.
   */
  private async resume({ takes, listens, standing = [] }: Extract<AgentFrame, { type: 'hello' }>): Promise<void> {
    const wanted = new Set([...takes, ...listens].map(({ n }) => n))
    for (const call of this.calls.all()) if (!wanted.has(call.n)) call.leave()
    const isNew = ({ n }: { n: number }) => !this.calls.find(n) && !this.calls.hasEnded(n)
    const started = [...takes.filter(isNew).map((call) => this.takeJob(call)), ...listens.filter(isNew).map((call) => this.listen(call))]
    // In the commit of the calls, so that a worker whose take is in the hello counts as one that asks for work.
    const known = this.apply('a hello', (tx) => {
      this.core.channelHosts.unheard.delete(this.hostId)
      keepStanding(tx, this.hostId, standing.filter(({ worker }) => this.isOwn(worker)).map(holderOf))
    })
    if (standing.length > 0) this.stand()
    // Bounded: calls of one agent to this object, which wait for work here.
    await Promise.all([...started, known])
  }

  // A call that is not open is confirmed, too: the object was out of memory meanwhile, and the agent does not repeat a call that it has left.
  private leave({ n, worker }: Extract<AgentFrame, { type: 'leave' }>): void {
    const call = this.calls.find(n)
    call?.leave()
    if (!call) this.send({ type: 'nothing', n })
    const workerId = call?.takeOf ?? (worker !== undefined && this.isOwn(worker) ? worker : null)
    if (workerId !== null) void this.apply('the end of a take', (tx) => noteEndOfTake(tx, workerId))
  }

  private async takeJob(call: TakeCall): Promise<void> {
    if (!this.isOwn(call.worker)) return this.refuse(call.n)
    const from = holderOf(call)
    const parked: ParkedTake = {
      ...from,
      capacity: call.max,
      batch: call.batch,
      parkedAtMs: this.core.now(),
      answer: (text) => this.answer(own, text),
    }
    const own = this.opened(call.n, () => this.core.parking.dropTake(parked), call.worker)
    const verdict = await this.commit(own, (tx) => {
      const asked = askForWork(tx, from, call)
      if (asked === 'waits' && !own.left) this.core.parking.parkTake(parked)
      return asked
    })
    if (verdict === null) this.core.parking.dropTake(parked)
    if (verdict === 'draining') this.nothing(own, { afterMs: DRAINING_HOLD_MS })
    if (verdict === 'refused') this.nothing(own, { status: REFUSED, detail: 'this worker does not belong to the endpoint' })
  }

  private answer(call: OpenCall, text: string | null): void {
    if (text === null) this.nothing(call)
    else if (this.calls.end(call)) this.sendJobs(call.n, text)
  }

  private sendJobs(n: number, text: string): void {
    let rest = text
    for (; rest.length > MAX_PART_CHARS; rest = rest.slice(MAX_PART_CHARS))
      this.send({ type: 'part', n, text: rest.slice(0, MAX_PART_CHARS) })
    this.send({ type: 'job', n, text: rest })
  }

  private async listen(call: ListenCall): Promise<void> {
    if (!this.isOwn(call.worker)) return this.refuse(call.n)
    const gone = new AbortController()
    const own = this.opened(call.n, () => gone.abort())
    const found = await this.commit(own, (tx) => {
      // Its worker has gone: the orders stay for its next poll, because each is read once.
      if (own.left) return { jobIds: [], woken: null }
      const { jobIds, active } = collectStops(tx, holderOf(call))
      const waits = jobIds.length === 0 && active
      // Registered inside the transaction, as for a stop poll over HTTP. No timer: it would keep the object in memory.
      const woken = waits ? this.core.parking.waitForStop(call.worker, null, gone.signal) : null
      return { jobIds, woken }
    })
    if (found === null) return
    if (found.woken === null) return this.endListen(own, found.jobIds)
    // Not awaited: a frame that is being applied keeps the object in memory, too.
    void found.woken.then((outcome) => {
      if (outcome === 'displaced') this.nothing(own)
      else if (!own.left) void this.listen(call)
    })
  }

  private endListen(call: OpenCall, jobs: string[]): void {
    if (jobs.length === 0) this.nothing(call, { afterMs: DRAINING_HOLD_MS })
    else if (this.calls.end(call)) this.send({ type: 'stop', n: call.n, jobs })
  }

  private async post(call: PostCall): Promise<void> {
    const ack = (status: number) => this.send({ type: 'ack', n: call.n, status })
    if (!this.isOwn(call.worker)) return ack(USE_HTTP)
    if (this.posts.size >= MAX_POSTS) return ack(BUSY)
    this.posts.add(call.n)
    try {
      await takePostText(this.core, call.verb, call.job, { ...holderOf(call), delivery: parseDelivery(call.delivery) }, call.body)
      ack(OK)
    } catch (error) {
      logEvent('warn', 'a post of a worker could not be stored', { hostId: this.hostId, jobId: call.job, error })
      ack(BUSY)
    } finally {
      this.posts.delete(call.n)
    }
  }

  private async pings({ pings }: PingsFrame): Promise<void> {
    const own = pings.filter(({ worker }) => this.isOwn(worker))
    const standing = own.filter(({ stands }) => stands)
    // The agent must not count on pings that are not applied.
    if (own.length < pings.length) this.recall(pings.filter(({ worker, stands }) => stands && !this.isOwn(worker)))
    if (own.length === 0) return
    if (standing.length > 0) this.stand()
    const isApplied = await this.apply('pings', (tx) => {
      for (const { jobs, sdkVersion, stands, ...call } of own) {
        const ping = { listed: new Set(jobs), sdkVersion, unhealthy: null }
        if (stands) takeStandingPing(tx, holderOf(call), ping)
        else takePing(tx, holderOf(call), ping)
      }
    })
    if (!isApplied) this.recall(standing)
  }

  private async quiet({ workers }: Extract<AgentFrame, { type: 'quiet' }>): Promise<void> {
    await this.apply('the silence of workers', (tx) => {
      for (const { silentMs, ...from } of workers) {
        const worker = workerOf(tx.state, holderOf(from))
        if (worker?.hostId === this.hostId) endStanding(tx, worker, tx.nowMs - silentMs)
      }
    })
  }

  private recall(workers: readonly { worker: string }[]): void {
    if (workers.length > 0) this.send({ type: 'recall', workers: workers.map(({ worker }) => worker) })
  }

  /** Applies a change; false if it failed. */
  private async apply(what: string, run: (tx: Tx) => void): Promise<boolean> {
    try {
      await this.core.transact(run)
      return true
    } catch (error) {
      logEvent('warn', `${what} of a host could not be applied`, { hostId: this.hostId, error })
      return false
    }
  }

  /** Whether a worker is on this host, by the rows of the queue. */
  private isOwn(workerId: string): boolean {
    return this.core.isStored && this.core.state.workers.get(workerId)?.hostId === this.hostId
  }

  private opened(n: number, end: () => void, takeOf: string | null = null): OpenCall {
    const call: OpenCall = {
      n,
      takeOf,
      left: false,
      leave: () => {
        call.left = true
        end()
        this.nothing(call)
      },
    }
    this.calls.add(call)
    return call
  }

  /** Commits the start of a call; null, and an answer for the agent, when it failed. */
  private async commit<T>(call: OpenCall, run: (tx: Tx) => T): Promise<T | null> {
    try {
      return await this.core.transact(run)
    } catch (error) {
      logEvent('warn', 'a call of a worker could not be applied', { hostId: this.hostId, error })
      this.nothing(call, { status: REFUSED, detail: 'the endpoint is temporarily unavailable' })
      return null
    }
  }

  private refuse(n: number): void {
    this.calls.remove(n)
    this.send({ type: 'nothing', n, status: USE_HTTP })
  }

  /** Ends a call without a job, unless it has been answered. */
  private nothing(call: OpenCall, why: Pick<Extract<PlaneFrame, { type: 'nothing' }>, 'status' | 'detail' | 'afterMs'> = {}): void {
    if (this.calls.end(call)) this.send({ type: 'nothing', n: call.n, ...why })
  }
}

function holderOf({ worker, boot }: { worker: string; boot: string }): Holder {
  return { workerId: worker, boot }
}
