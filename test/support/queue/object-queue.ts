import type { EndpointObject } from '../../../durable-objects/endpoint.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'
import type { Workload } from '../../../src/host-protocol/messages.ts'
import type { Boot } from '../../model/facts.ts'
import type { BootView, PostBody, QueueUnderTest, Reply, SubmitOptions } from '../../model/queue-under-test.ts'
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject, send } from '../harness.ts'
import { ChannelWorker } from '../hosts/channel-worker.ts'
import { FakeChannel } from '../hosts/fake-channel.ts'
import { FakeWorker } from '../hosts/fake-host.ts'
import { endpointStub } from '../runner/stubs.ts'
import { until } from '../time.ts'
import { type QueueSetup, setUpQueue } from './queue.ts'

/** Far enough ahead of the real clock that no alarm fires by itself. */
const AHEAD_MS = 400 * 24 * 3600 * 1000
const SILENCE_MAX_MS = 600_000
/** Interval of the check whether everything has settled; many histories wait for it. */
const SETTLED_CHECK_MS = 1

/** The state that is checked after every operation, read at one instant. */
interface Snapshot {
  idle: boolean
  workers: Worker[]
  openBoots: Boot[]
  alarmAtMs: number | null
}

interface Take {
  answer: Promise<string[]>
  leave: AbortController
}

/** How the calls of workers reach the object. */
export type Transport = 'HTTP' | 'a worker channel'

/** The real endpoint object in workerd, over HTTP or a worker channel, with a played host and played workers; its clock stands still between operations. */
export class ObjectQueue implements QueueUnderTest {
  private readonly setup: QueueSetup
  private nowMs = Date.now() + AHEAD_MS
  private seen: Snapshot = { idle: false, workers: [], openBoots: [], alarmAtMs: null }
  private readonly workers = new Map<Boot, FakeWorker>()
  private readonly ended = new Set<string>()
  private readonly takes = new Map<Boot, Take>()
  /** Waiting callers of /runsync. */
  private clients = new AbortController()

  readonly scales: boolean
  private readonly transport: Transport
  private channel: Promise<FakeChannel> | null = null

  private constructor(setup: QueueSetup, scales: boolean, transport: Transport) {
    this.setup = setup
    this.scales = scales
    this.transport = transport
  }

  /** A fresh endpoint. Without scaling it always runs three workers, so that its history does not depend on scaling. */
  static async create({ scales, transport = 'HTTP' }: { scales: boolean; transport?: Transport }): Promise<ObjectQueue> {
    const workers = scales ? { min: 0, max: 3, idleTimeout: 20 } : { min: 3, max: 3, idleTimeout: 3_600 }
    const queue = new ObjectQueue(await setUpQueue({ workers }), scales, transport)
    await queue.setClock()
    await queue.settled()
    return queue
  }

  now(): number {
    return this.nowMs
  }

  async moveTo(atMs: number): Promise<void> {
    await this.obeyStops()
    this.nowMs = atMs
    await this.setClock()
    if (this.seen.alarmAtMs !== null && this.seen.alarmAtMs <= atMs) await runDurableObjectAlarm(this.stub())
    await this.settled()
  }

  async alarmAtMs(): Promise<number | null> {
    return this.seen.alarmAtMs
  }

  async restart(): Promise<void> {
    for (const take of this.takes.values()) take.leave.abort()
    this.takes.clear()
    this.clients.abort()
    this.clients = new AbortController()
    while (this.seen.openBoots.length > 0) await this.settled()
    await evictDurableObject(this.stub())
    await this.setClock()
    await runInDurableObject(this.stub(), ({ core }) => core.transact(() => undefined))
    await this.settled()
  }

  async submit({ low, sync, ttlMs, executionMs }: SubmitOptions): Promise<string> {
    const body = { input: {}, policy: { lowPriority: low, ttl: ttlMs, executionTimeout: executionMs } }
    if (!sync) return (await this.settledAfter(this.setup.post('/run', body))).body.id
    // Its reply waits for the end of the job; the new job is the one that was added when the call arrived.
    const before = await this.ids()
    const init = { method: 'POST', headers: { Authorization: `Bearer ${this.setup.account.key}` }, body: JSON.stringify(body) }
    void send(`/v2/${this.setup.endpointId}/runsync`, { ...init, signal: this.clients.signal }).catch(() => undefined)
    let added: string | undefined
    while (!added) added = (await this.ids()).find((id) => !before.includes(id))
    await this.settled()
    return added
  }

  cancel(job: string): Promise<Reply> {
    return this.settledAfter(this.setup.post(`/cancel/${job}`))
  }

  retry(job: string): Promise<Reply> {
    return this.settledAfter(this.setup.post(`/retry/${job}`))
  }

  async purge(): Promise<number> {
    return (await this.settledAfter(this.setup.post('/purge-queue'))).body.removed
  }

  record(job: string): Promise<Reply> {
    return this.setup.get(`/status/${job}`)
  }

  async counts(): Promise<Record<string, number>> {
    return (await this.setup.get('/health')).body.jobs
  }

  async newBoots(): Promise<Boot[]> {
    await this.obeyStops()
    const known = new Set([...this.workers.values()].map((worker) => worker.id))
    const fresh: Boot[] = []
    for (const workload of this.setup.host.desired()) {
      const mine = workload.platformEnv.RUNPOD_ENDPOINT_ID === this.setup.endpointId
      if (!mine || workload.desired !== 'running' || known.has(workload.id)) continue
      const worker = this.workerOf(workload)
      await this.setup.host.report(worker.id, { state: 'running' })
      const nonce = /boot=([^&]+)/.exec(worker.url('RUNPOD_WEBHOOK_PING', ''))?.[1]
      fresh.push(`${worker.id}/${nonce}`)
      this.workers.set(`${worker.id}/${nonce}`, worker)
    }
    await this.settled()
    return fresh
  }

  async boots(): Promise<BootView[]> {
    return [...this.workers].map(([boot, { id }]) => {
      const row = this.seen.workers.find((worker) => worker.id === id)
      const phase = !row ? 'removed' : row.phase === 'FAILED' ? 'failed' : row.phase === 'DRAINING' ? 'draining' : 'accepting'
      return { boot, phase, reason: row?.reason ?? 'gone' }
    })
  }

  async take(boot: Boot, capacity: number, idle: boolean): Promise<void> {
    const earlier = this.takes.get(boot)
    const leave = new AbortController()
    const worker = this.worker(boot)
    const isAccepting = this.seen.workers.some(({ id, phase }) => id === worker.id && phase !== 'DRAINING' && phase !== 'FAILED')
    const jobs = capacity === 1 ? takeOne(worker, idle, leave.signal) : worker.takeBatch(capacity, idle, leave.signal)
    let over = false
    const broken: { id: string }[] = []
    const answer = jobs
      .catch(() => broken)
      .then((taken) => {
        over = true
        return taken.map((job) => job.id)
      })
    const take = { leave, answer }
    this.takes.set(boot, take)
    // The earlier take ends when this one has arrived.
    await earlier?.answer
    do await this.settled()
    while (!over && !this.seen.openBoots.includes(boot))
    // A worker whose take ended without a job is sent away; this take was never open. A take that was accepted and answered before it could
    // be seen open is reported with the deliveries.
    if (over && !isAccepting && (await answer).length === 0) this.takes.delete(boot)
  }

  async deliveries(): Promise<{ boot: Boot; jobs: string[] }[]> {
    const answers: { boot: Boot; jobs: string[] }[] = []
    for (const [boot, take] of [...this.takes]) {
      if (this.seen.openBoots.includes(boot)) continue
      answers.push({ boot, jobs: await take.answer })
      this.takes.delete(boot)
    }
    return answers
  }

  async ping(boot: Boot, listed: readonly string[]): Promise<void> {
    await this.settledAfter(this.worker(boot).ping(listed))
  }

  async done(boot: Boot, job: string, body: PostBody): Promise<void> {
    await this.settledAfter(this.worker(boot).done(job, body))
  }

  async progress(boot: Boot, job: string, output: unknown): Promise<void> {
    await this.settledAfter(this.worker(boot).done(job, { status: 'IN_PROGRESS', output }))
  }

  async chunk(boot: Boot, job: string): Promise<void> {
    await this.settledAfter(this.worker(boot).stream(job, { output: 'chunk' }))
  }

  async crash(boot: Boot, byHost: boolean): Promise<void> {
    await this.settledAfter(this.end(this.worker(boot).id, 137, byHost))
  }

  async hostSilent(boot: Boot, sinceMs: number): Promise<void> {
    const event = { kind: 'silent', sinceMs, waitMaxMs: SILENCE_MAX_MS } as const
    await this.settledAfter(this.stub().hostChanged([this.worker(boot).id], event))
  }

  async hostHeard(boot: Boot): Promise<void> {
    await this.settledAfter(this.stub().hostChanged([this.worker(boot).id], { kind: 'heard' }))
  }

  /** Waits until all requests are committed and all calls to other objects have returned. */
  private async settled(): Promise<void> {
    await until(async () => {
      this.seen = await this.inside(async ({ core }) => {
        // Commits are in order, so this one follows all earlier requests.
        await core.transact(() => undefined)
        const openBoots = core.parking.openTakes().map((take) => `${take.workerId}/${take.boot}`)
        return {
          idle: core.placing.inFlight.size === 0,
          workers: core.state.workers.all(),
          openBoots,
          alarmAtMs: await core.ctx.storage.getAlarm(),
        }
      })
      return this.seen.idle
    }, SETTLED_CHECK_MS)
  }

  private async settledAfter<T>(call: Promise<T>): Promise<T> {
    const reply = await call
    await this.settled()
    return reply
  }

  /** Ends the containers that the host was ordered to stop. */
  private async obeyStops(): Promise<void> {
    const stopped = this.setup.host.desired().filter((workload) => workload.desired === 'stopped' && this.isMine(workload.id))
    for (const { id } of stopped) await this.end(id, 0)
    await this.settled()
  }

  private async end(workerId: string, exitCode: number, endedByHost = false): Promise<void> {
    if (this.ended.has(workerId)) return
    this.ended.add(workerId)
    await this.setup.host.report(workerId, { state: 'exited', exitCode, reason: null, endedByHost })
    await this.setup.host.report(workerId, { state: 'gone' })
  }

  private isMine(workerId: string): boolean {
    return [...this.workers.values()].some((worker) => worker.id === workerId)
  }

  private ids(): Promise<string[]> {
    return this.inside((object) =>
      object.core.ctx.storage.sql
        .exec('SELECT id FROM jobs')
        .toArray()
        .map((row) => String(row.id)),
    )
  }

  private async setClock(): Promise<void> {
    const { nowMs } = this
    await this.inside((object) => {
      object.core.now = () => nowMs
    })
  }

  private workerOf(workload: Workload): FakeWorker {
    const worker = new FakeWorker(workload)
    if (this.transport === 'HTTP') return worker
    return new ChannelWorker(worker, () => (this.channel ??= this.openChannel(worker)))
  }

  private async openChannel(worker: FakeWorker): Promise<FakeChannel> {
    const channel = await FakeChannel.open(this.setup.host, this.setup.endpointId, worker)
    channel.greets = true
    return channel
  }

  private worker(boot: Boot): FakeWorker {
    const worker = this.workers.get(boot)
    if (!worker) throw new Error(`no boot ${boot}`)
    return worker
  }

  private inside<T>(check: (object: EndpointObject) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub(), check)
  }

  private stub() {
    return endpointStub(env, this.setup.endpointId)
  }
}

async function takeOne(worker: FakeWorker, idle: boolean, signal: AbortSignal): Promise<{ id: string }[]> {
  const job = await worker.take({ jobInProgress: idle ? '0' : '1', signal })
  return job ? [job] : []
}
