import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../reliability/support/lab.ts'
import { numberOf } from '../reliability/support/load.ts'
import { type Answer, call, type Plane } from '../reliability/support/plane.ts'
import { percentile } from './judge.ts'
import type { Reading } from './readings.ts'

const CALL_TIMEOUT_MS = 30_000
/** Every how many jobs have an Idempotency-Key, and every how many of those send it twice. */
const KEYED_EVERY = 3
const REPEATED_EVERY = 10
/** Seconds of load that may be in progress; beyond it no job is submitted, so that a plane that hangs gets no pile of calls. */
const MAX_OPEN_SECONDS = 10
/** Pauses before the reads of the status of a job: most jobs have ended at the first. */
const STATUS_PAUSES_MS = [500, 500, 1_000, 2_000, 4_000]
const JOB_LIMIT_MS = 180_000
const JOB_MS = 10
const READ_EVERY_MS = 250
/** A load that is late by more than this does not make up for it. */
const LATE_MS = 1_000
/** Every how many jobs are read again at the end, and the age up to which their results must be retained (LIM-4, less a minute). */
const KEPT_EVERY = 20
const KEPT_MS = 29 * 60_000
const POD_STEP_LIMIT_MS = 60_000
const POD_POLL_MS = 500

export interface MixedOptions {
  jobsPerSecond: number
  webhook: string
  /** Pause between two pods. */
  podPauseMs: number
}

/** A steady load of jobs, reads and pods. It submits at a fixed rate, whatever the answers take. */
export class MixedLoad {
  /** Acknowledged jobs. */
  readonly acknowledged: string[] = []
  readonly counts = {
    keyed: 0,
    ended: 0,
    lost: 0,
    duplicated: 0,
    failed: 0,
    stuck: 0,
    refused: 0,
    held: 0,
    pods: 0,
    podFaults: 0,
    badReads: 0,
  }
  /** Most jobs that were in progress at the same time, from their submit to the read of their result. */
  mostOpen = 0
  /** Messages of refused calls and of faults, with counts. */
  readonly complaints = new Map<string, number>()
  private readonly took = new Map<string, number[]>()
  private readonly kept: { id: string; atMs: number }[] = []
  private readonly open = new Set<Promise<void>>()
  private readonly name = Math.random().toString(36).slice(2)
  private readonly stopping = new AbortController()
  private loops: Promise<void>[] = []
  private readonly plane: Plane
  private readonly endpointId: string
  private readonly options: MixedOptions

  constructor(lab: Lab, plane: Plane, endpointId: string, options: MixedOptions) {
    lab.defer(() => this.stopping.abort())
    this.plane = plane
    this.endpointId = endpointId
    this.options = options
  }

  start(): this {
    this.loops = [this.submitAll(), this.readAll(), this.runPods()]
    return this
  }

  /** Stops submits, waits until the open jobs have ended, and reads some of the retained results again. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await Promise.all(this.loops)
    await Promise.all(this.open)
    const sinceMs = performance.now() - KEPT_MS
    for (const { id } of this.kept.filter(({ atMs }) => atMs > sinceMs)) {
      const { status } = await this.timed('/status', 'GET', `/v2/${this.endpointId}/status/${id}`)
      if (status === 404) this.counts.lost += 1
    }
  }

  /** Returns the latencies since the last call. */
  takeLatencies(): Reading[] {
    const readings = [...this.took].flatMap(([of, times]): Reading[] => [
      { group: 'p50', of, value: percentile(times, 0.5) },
      { group: 'p99', of, value: percentile(times, 0.99) },
    ])
    this.took.clear()
    return readings
  }

  private async submitAll(): Promise<void> {
    let dueMs = performance.now()
    for (let number = 0; !this.stopping.signal.aborted; number += 1) {
      await this.pause(dueMs - performance.now())
      dueMs = Math.max(dueMs + 1_000 / this.options.jobsPerSecond, performance.now() - LATE_MS)
      this.mostOpen = Math.max(this.mostOpen, this.open.size)
      if (this.open.size >= MAX_OPEN_SECONDS * this.options.jobsPerSecond) {
        this.counts.held += 1
        continue
      }
      const job = this.runJob(number).finally(() => this.open.delete(job))
      this.open.add(job)
    }
  }

  private async runJob(number: number): Promise<void> {
    const isKeyed = number % KEYED_EVERY === 0
    const body = { input: { number, sleepMs: JOB_MS }, webhook: this.options.webhook }
    const headers = isKeyed ? { 'idempotency-key': `${this.name}-${number}` } : {}
    const submit = () => this.timed('/run', 'POST', `/v2/${this.endpointId}/run`, body, headers)
    const answer = await submit()
    const { id } = answer.body
    if (answer.status !== 200 || typeof id !== 'string') {
      this.counts.refused += 1
      this.complain(`/run ${answer.status} ${answer.text}`)
      return
    }
    this.acknowledged.push(id)
    if (number % KEPT_EVERY === 0) this.kept.push({ id, atMs: performance.now() })
    if (isKeyed) this.counts.keyed += 1
    if (isKeyed && number % (KEYED_EVERY * REPEATED_EVERY) === 0) {
      const again = await submit()
      if (again.status === 200 && again.body.id !== id) this.counts.duplicated += 1
    }
    await this.follow(id, number)
  }

  private async follow(id: string, number: number): Promise<void> {
    const deadline = performance.now() + JOB_LIMIT_MS
    for (let read = 0; performance.now() < deadline; read += 1) {
      await sleep(STATUS_PAUSES_MS[read] ?? STATUS_PAUSES_MS.at(-1))
      const { status, body } = await this.timed('/status', 'GET', `/v2/${this.endpointId}/status/${id}`)
      if (status === 404) {
        this.counts.lost += 1
        return
      }
      if (body.status === 'COMPLETED' && numberOf(body.output) === number) {
        this.counts.ended += 1
        return
      }
      if (body.status === 'COMPLETED' || body.status === 'FAILED' || body.status === 'CANCELLED') {
        this.counts.failed += 1
        this.complain(`job ${String(body.status)} ${String(body.error ?? 'with the output of another')}`)
        return
      }
    }
    this.counts.stuck += 1
  }

  /** Lists and logs, in turn. */
  private async readAll(): Promise<void> {
    const endpoint = `/v2/serverless/${this.endpointId}`
    const lists = [
      ['lists', '/v2/serverless'],
      ['lists', '/v2/pods'],
      ['lists', `/v2/${this.endpointId}/requests`],
      ['log lines', `${endpoint}/logs/lines`],
    ] as const
    for (let round = 0; !this.stopping.signal.aborted; round += 1) {
      const [name, path] = lists[round % lists.length] ?? lists[0]
      const { status, text } = await this.timed(name, 'GET', path)
      if (status !== 200) {
        this.counts.badReads += 1
        this.complain(`GET ${path}: ${status} ${text}`)
      }
      await this.pause(READ_EVERY_MS)
    }
  }

  private async runPods(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.counts.pods += 1
      try {
        await this.runPod()
      } catch (error) {
        this.counts.podFaults += 1
        this.complain(String(error))
      }
      await this.pause(this.options.podPauseMs)
    }
  }

  /** Creates a pod, reads its log, stops, starts and deletes it. */
  private async runPod(): Promise<void> {
    const { id } = await this.must('POST', '/v2/pods', { name: `soak-${Date.now()}`, image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
    const path = `/v2/pods/${String(id)}`
    await this.reach(path, 'RUNNING')
    await this.must('GET', `${path}/logs/lines`)
    await this.must('POST', `${path}/action`, { action: 'stop' })
    await this.reach(path, 'EXITED')
    await this.must('POST', `${path}/action`, { action: 'start' })
    await this.reach(path, 'RUNNING')
    await this.must('DELETE', path)
  }

  private async reach(path: string, wanted: string): Promise<void> {
    const deadline = performance.now() + POD_STEP_LIMIT_MS
    for (;;) {
      const { status } = await this.must('GET', path)
      if (status === wanted) return
      if (performance.now() > deadline) throw new Error(`a pod is ${String(status)} and not ${wanted} after ${POD_STEP_LIMIT_MS / 1000} s`)
      await sleep(POD_POLL_MS)
    }
  }

  private async must(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await call(this.plane.url, this.plane.apiKey, method, path, body, { timeoutMs: CALL_TIMEOUT_MS })
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  private async timed(name: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const startedAt = performance.now()
    const answer = await call(this.plane.url, this.plane.apiKey, method, path, body, { headers, timeoutMs: CALL_TIMEOUT_MS })
    const times = this.took.get(name) ?? []
    times.push(performance.now() - startedAt)
    this.took.set(name, times)
    return answer
  }

  private complain(text: string): void {
    const short = text.replace(/[0-9a-z]{10,}/g, '…').slice(0, 160)
    this.complaints.set(short, (this.complaints.get(short) ?? 0) + 1)
  }

  /** Waits, at most until the stop. */
  private async pause(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined)
  }
}
