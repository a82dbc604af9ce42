import fc from 'fast-check'
import { describe, env, evictDurableObject, expect, it } from '../../../support/harness.ts'
import { FakeChannel } from '../../../support/hosts/fake-channel.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { inside, type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

// Frames of an agent that makes every mistake: wrong workers, boots, jobs and numbers, calls without an answer, damaged texts.

const { GENERATED_SEED } = env as unknown as { GENERATED_SEED: string }
const SEED = GENERATED_SEED === '' ? Date.now() % 2 ** 31 : Number(GENERATED_SEED)
const HISTORIES = 8
const MOST_STEPS = 80
/** A second call under a number that is open ends the channel, so that a few numbers would leave no call open. */
const MAX_NUMBER = 23
const JOBS = 6
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
const NOT_VALID = 4400

/** Names of workers and jobs; the history replaces them by ids. The victim is a worker on another host, with the job of that name. */
const worker = fc.constantFrom('own', 'own', 'own', 'victim', 'nobody')
const boot = fc.constantFrom('right', 'right', 'right', '', 'another')
const job = fc.oneof(fc.nat(JOBS - 1).map(String), fc.constantFrom('victim', 'none'))
const n = fc.nat(MAX_NUMBER)
const from = { worker, boot }
const take = { n, ...from, max: fc.constantFrom(1, 1, 3, 1_000), batch: fc.boolean(), idle: fc.boolean(), again: fc.boolean() }
const body = fc.oneof(
  fc.constantFrom(
    '{"output":1}',
    '{"error":"e"}',
    '{"status":"IN_PROGRESS","output":"half"}',
    '',
    '{',
    'null',
    '[]',
    '{"output":"\\ud800"}',
  ),
  fc.json({ maxDepth: 3 }),
)
/** The host speaks for the victim's worker, and would end its job. */
const forged = { worker: fc.constant('victim'), boot: fc.constant('right'), job: fc.constant('victim') }
const frame = fc.oneof(
  fc.record({
    type: fc.constant('post'),
    n,
    ...forged,
    verb: fc.constant('job-done'),
    delivery: fc.constant(''),
    body: fc.constant('{"output":"forged"}'),
  }),
  fc.record({ type: fc.constant('take'), ...take }),
  fc.record({ type: fc.constant('listen'), n, ...from }),
  fc.record({ type: fc.constant('leave'), n }),
  fc.record({
    type: fc.constant('post'),
    n,
    ...from,
    job,
    verb: fc.constantFrom('job-done', 'job-stream'),
    delivery: fc.constantFrom('', 's.1', 's.2', 't.1', 'x', 's.99999999999999999999'),
    body,
  }),
  fc.record({
    type: fc.constant('pings'),
    pings: fc.array(fc.record({ ...from, jobs: fc.array(job, { maxLength: 3 }), sdkVersion: fc.constantFrom(null, '1.12.0') }), {
      maxLength: 3,
    }),
  }),
  fc.record({
    type: fc.constant('hello'),
    takes: fc.array(fc.record(take), { maxLength: 3 }),
    listens: fc.array(fc.record({ n, ...from }), { maxLength: 3 }),
  }),
)
const damaged = fc
  .tuple(frame, fc.nat(400), fc.constantFrom('', '"', '}', '\u0000', '9e9', '[[[['))
  .map(([of, at, text]) => ({ kind: 'raw' as const, text: JSON.stringify(of).slice(0, at) + text }))
const step = fc.oneof(
  { weight: 16, arbitrary: frame.map((of) => ({ kind: 'frame' as const, frame: of })) },
  { weight: 1, arbitrary: damaged },
  { weight: 2, arbitrary: fc.constantFrom({ kind: 'cut' as const }, { kind: 'evict' as const }, { kind: 'greet' as const }) },
  { weight: 2, arbitrary: fc.nat(JOBS - 1).map((index) => ({ kind: 'cancel' as const, index })) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The jobs and workers of one history. */
class History {
  private readonly queue: QueueSetup
  private readonly own: FakeWorker
  private readonly victim: FakeWorker
  /** Ids of the jobs by name. */
  private readonly jobs: Record<string, string>
  private channel: FakeChannel | null = null
  private readonly ended = new Map<string, string>()

  private constructor(queue: QueueSetup, own: FakeWorker, victim: FakeWorker, jobs: Record<string, string>) {
    this.queue = queue
    this.own = own
    this.victim = victim
    this.jobs = jobs
  }

  static async begin(): Promise<History> {
    const queue = await setUpQueue({ workers: { min: 2, max: 2, idleTimeout: 3_600 } })
    const own = await queue.host.startWorker(queue.endpointId)
    const victim = await queue.host.startWorker(queue.endpointId, [own.id])
    const jobs = { victim: await run(queue, { of: 'the victim' }) }
    expect(await victim.take()).toMatchObject({ id: jobs.victim })
    await inside(queue, ({ core }) =>
      core.transact(({ state }) => {
        const row = state.workers.get(victim.id)
        if (row) state.workers.save({ ...row, hostId: 'another' })
      }),
    )
    const ids = await Promise.all(Array.from({ length: JOBS }, (_, number) => run(queue, { number })))
    return new History(queue, own, victim, { ...jobs, ...Object.fromEntries(ids.entries()) })
  }

  async apply(of: Step): Promise<void> {
    const channel = await this.open()
    if (of.kind === 'frame') channel.say(this.named(JSON.stringify(of.frame)))
    else if (of.kind === 'raw') channel.say(this.named(of.text))
    else if (of.kind === 'greet') channel.greet()
    else if (of.kind === 'cut') this.cut()
    else if (of.kind === 'cancel') await this.queue.post(`/cancel/${this.jobs[of.index]}`)
    else await this.evict()
  }

  /** Reads all jobs. A job that has ended does not change any more, and the job of the victim has not changed at all. */
  async check(): Promise<void> {
    await this.victim.ping([this.jobs.victim ?? ''])
    for (const [name, id] of Object.entries(this.jobs)) {
      const { body: read } = await this.queue.get(`/status/${id}`)
      const text = JSON.stringify([read.status, read.output, read.error])
      if (name === 'victim') expect(text).toBe('["IN_PROGRESS",null,null]')
      if (this.ended.has(id)) expect(text).toBe(this.ended.get(id))
      if (ENDED.includes(read.status)) this.ended.set(id, text)
    }
  }

  /** The agent is gone, and the victim ends its job and all others over HTTP. */
  async drain(): Promise<void> {
    this.cut()
    await this.check()
    await this.victim.done(this.jobs.victim ?? '', { output: 'kept' })
    await this.queue.host.report(this.own.id, { state: 'exited', exitCode: 1, reason: 'crashed' })
    const left = new Set(Object.values(this.jobs))
    while (left.size > 0) {
      for (const id of left) if (ENDED.includes((await this.queue.get(`/status/${id}`)).body.status)) left.delete(id)
      const taken = left.size > 0 && (await this.victim.take())
      if (taken) await this.victim.done(taken.id, { output: 'drained' })
    }
    expect((await this.queue.get(`/status/${this.jobs.victim}`)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' })
  }

  private async evict(): Promise<void> {
    // Only an object in memory can be evicted.
    await this.check()
    await evictDurableObject(endpointStub(env, this.queue.endpointId))
  }

  private cut(): void {
    this.channel?.close()
    this.channel = null
  }

  private async open(): Promise<FakeChannel> {
    const open = this.channel
    if (open?.closedWith === null) return open
    if (open) expect(open.closedWith).toBe(NOT_VALID)
    this.channel = await FakeChannel.open(this.queue.host, this.queue.endpointId, this.own)
    return this.channel
  }

  /** Puts ids in the place of names; the boot `right` becomes that of the worker. */
  private named(text: string): string {
    const { own, victim, jobs } = this
    let frame = text
    for (const [name, { id, ...of }] of Object.entries({ own: fromOf(own), victim: fromOf(victim) }))
      frame = frame
        .replaceAll(`"worker":"${name}","boot":"right"`, `"worker":"${id}","boot":"${of.boot}"`)
        .replaceAll(`"worker":"${name}"`, `"worker":"${id}"`)
    const idOf = (name: string) => `"${jobs[name] ?? 'none'}"`
    return frame
      .replaceAll(/(?<="job":)"(\w+)"/g, (_, name: string) => idOf(name))
      .replaceAll(/(?<="jobs":)\[[^\]]*\]/g, (list) => list.replaceAll(/"(\w+)"/g, (_, name: string) => idOf(name)))
  }
}

function fromOf(worker: FakeWorker): { id: string; boot: string } {
  return { id: worker.id, boot: FakeChannel.from(worker).boot }
}

describe('an agent that makes every mistake', () => {
  it(`[CHN-10, CHN-11, P1, P3] loses no job, ends none twice and touches no worker of another host (seed ${SEED})`, async () => {
    const histories = fc.array(step, { minLength: MOST_STEPS / 2, maxLength: MOST_STEPS })
    for (const steps of fc.sample(histories, { numRuns: HISTORIES, seed: SEED })) {
      const history = await History.begin()
      for (const [at, one] of steps.entries()) {
        await history.apply(one)
        if (at % 10 === 9) await history.check()
      }
      await history.drain()
    }
  })
})
