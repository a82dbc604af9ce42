import type { FakeWorker } from '../../support/fake-host.ts'
import { expect, it } from '../../support/harness.ts'
import { advance, type QueueSetup, run, setUpQueue } from '../../support/queue.ts'

/** Histories and operations of each; a failure prints its seed, and `SEEDS` keeps those that once failed. */
const HISTORIES = 6
const OPERATIONS = 60
/** Checking reads every job, so it happens after every few operations. */
const CHECK_EVERY = 3
const SEEDS = [1, 7, 4242]
const STEPS_MS = [50, 1_000, 2_000, 10_000, 29_900, 40_000]

/** A small generator of its own, so that a seed means the same on every machine. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

interface PlayedWorker {
  worker: FakeWorker
  polling: boolean
  gone: boolean
  /** Jobs it was ever given; `open`: those it has not answered. */
  given: string[]
  open: Set<string>
}

/** Plays one random history against the real object and checks the promises as it goes. */
class History {
  private readonly queue: QueueSetup
  private readonly random: (below: number) => number
  private readonly jobs: string[] = []
  private readonly final = new Map<string, unknown>()
  private readonly workers: PlayedWorker[] = []
  private readonly trail: string[] = []
  private outputs = 0

  constructor(queue: QueueSetup, seed: number) {
    this.queue = queue
    this.random = randomOf(seed)
  }

  async play(): Promise<void> {
    for (let i = 0; i < OPERATIONS; i++) {
      await this.step(this.random(12))
      await this.settle()
      if (i % CHECK_EVERY === 0) await this.check()
    }
    await this.finish()
  }

  private async step(operation: number): Promise<void> {
    const worker = this.pick(this.workers.filter((w) => !w.gone))
    const job = this.pick(this.jobs)
    if (operation <= 2) {
      this.jobs.push(await run(this.queue, { n: this.jobs.length }))
      this.note('submit', this.jobs.length - 1)
    } else if (operation <= 5) await this.adopt().then(() => this.poll(worker))
    else if (operation <= 7 && worker) await this.answer(worker, this.pick(worker.given))
    else if (operation === 8 && worker) await this.ping(worker)
    else if (operation === 9 && job) await this.cancelOrRetry(job)
    else if (operation === 10 && worker && this.random(3) === 0) await this.crash(worker)
    else if (operation === 11) await this.wait(STEPS_MS[this.random(STEPS_MS.length)] ?? 0)
  }

  /** Starts whatever the platform wants to run. */
  private async adopt(): Promise<void> {
    const known = new Set(this.workers.map((w) => w.worker.id))
    for (const workload of this.queue.host.desired()) {
      if (workload.platformEnv.RUNPOD_ENDPOINT_ID !== this.queue.endpointId || workload.desired !== 'running' || known.has(workload.id))
        continue
      const worker = await this.queue.host.startWorker(this.queue.endpointId, [...known])
      known.add(worker.id)
      this.workers.push({ worker, polling: false, gone: false, given: [], open: new Set() })
    }
    for (const played of this.workers) await this.obeyStop(played)
  }

  private async obeyStop(played: PlayedWorker): Promise<void> {
    const wanted = this.queue.host.desired().find((w) => w.id === played.worker.id)
    if (!played.gone && (!wanted || wanted.desired === 'stopped')) await this.crash(played)
  }

  private poll(played: PlayedWorker | undefined): void {
    if (!played || played.polling) return
    played.polling = true
    const jobInProgress = played.open.size === 0 ? '0' : '1'
    void played.worker.take({ jobInProgress }).then((job) => {
      played.polling = false
      if (!job) return
      // INV-27: never the same job twice to one boot.
      expect(played.given, this.story()).not.toContain(job.id)
      played.given.push(job.id)
      played.open.add(job.id)
    })
  }

  private async answer(played: PlayedWorker, jobId: string | undefined): Promise<void> {
    if (!jobId) return
    this.outputs++
    played.open.delete(jobId)
    this.note('done', played.worker.id, jobId)
    const body = this.random(4) === 0 ? { error: `e${this.outputs}` } : { output: this.outputs }
    expect(await played.worker.done(jobId, body)).toBe(200)
  }

  private async ping(played: PlayedWorker): Promise<void> {
    const listed = [...played.open].filter(() => this.random(5) > 0)
    this.note('ping', played.worker.id, listed.length)
    expect(await played.worker.ping(listed)).toBe(200)
  }

  private async cancelOrRetry(jobId: string): Promise<void> {
    const retry = this.random(2) === 0
    this.note(retry ? 'retry' : 'cancel', jobId)
    const reply = await this.queue.post(`/${retry ? 'retry' : 'cancel'}/${jobId}`)
    expect([200, 400]).toContain(reply.status)
    if (retry && reply.status === 200) this.final.delete(jobId)
  }

  private async crash(played: PlayedWorker): Promise<void> {
    played.gone = true
    this.note('crash', played.worker.id)
    await this.queue.host.report(played.worker.id, { state: 'exited', exitCode: 137, reason: 'exited with code 137' })
    await this.queue.host.report(played.worker.id, { state: 'gone' })
  }

  private async wait(ms: number): Promise<void> {
    this.note('wait', ms)
    await advance(this.queue.endpointId, ms)
  }

  /** P1: no accepted job is lost. P2, P5: a terminal state and its result never change. */
  private async check(): Promise<void> {
    for (const jobId of this.jobs) {
      const { status, body } = await this.queue.get(`/status/${jobId}`)
      expect(status, this.story()).toBe(200)
      const terminal = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(body.status)
      if (!terminal) expect(this.final.has(jobId), this.story()).toBe(false)
      else if (this.final.has(jobId)) expect(body, this.story()).toEqual(this.final.get(jobId))
      else this.final.set(jobId, body)
    }
  }

  /** Liveness: with workers that work, everything ends. */
  private async finish(): Promise<void> {
    for (let round = 0; round < 60; round++) {
      await this.adopt()
      for (const played of this.workers.filter((w) => !w.gone)) {
        for (const jobId of [...played.open]) await this.answer(played, jobId)
        this.poll(played)
      }
      await this.settle()
      await this.check()
      if (this.final.size === this.jobs.length && this.workers.every((w) => w.open.size === 0)) break
      await this.wait(3_000)
    }
    const { jobs, workers } = (await this.queue.get('/health')).body
    this.note(JSON.stringify(workers), JSON.stringify(this.workers.map((w) => [w.worker.id, w.polling, w.gone, w.open.size])))
    this.note(JSON.stringify([...this.queue.host.desired()].map((w) => [w.id, w.desired])))
    const left = this.jobs.find((id) => !this.final.has(id))
    if (left) this.note(JSON.stringify((await this.queue.get(`/status/${left}`)).body))
    expect([jobs.inQueue, jobs.inProgress], this.story()).toEqual([0, 0])
  }

  private settle(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 4))
  }

  private pick<T>(list: readonly T[]): T | undefined {
    return list[this.random(Math.max(1, list.length))]
  }

  private note(...words: unknown[]): void {
    this.trail.push(words.join(' '))
  }

  private story(): string {
    return this.trail.join('\n')
  }
}

const seeds = [...SEEDS, ...Array.from({ length: HISTORIES - SEEDS.length }, () => Math.floor(Math.random() * 2 ** 31))]

it.each(seeds)(
  '[P1, P2, P3, P5] seed %i: nothing is lost, nothing is committed twice, everything ends',
  { timeout: 60_000 },
  async (seed) => {
    const queue = await setUpQueue({ workers: { min: 0, max: 3, idleTimeout: 20 } })
    await new History(queue, seed).play()
  },
)
