import { type CallOptions, call, eventually, type Reply, within } from './http.ts'
import type { PlayedWorker } from './worker.ts'

/** A job as a client reads it; members appear only when set. */
export interface JobView {
  id: string
  status: string
  delayTime?: number
  error?: string
  errorDetail?: string
  executionTime?: number
  output?: unknown
  retries?: number
  workerId?: string
}

export interface StreamView {
  status: string
  stream: { output: unknown }[]
  error?: string
}

export interface HealthView {
  jobs: { completed: number; failed: number; inProgress: number; inQueue: number; retried: number }
  workers: { idle: number; initializing: number; ready: number; running: number; throttled: number; unhealthy: number }
}

/** The body of an error (API-6). */
export interface ErrorView {
  status: number
  title: string
  detail: string
}

/** Workers of an endpoint that the platform has started and no test has taken yet. */
export class WorkerQueue {
  private readonly ready: PlayedWorker[] = []
  private readonly waiting: ((worker: PlayedWorker) => void)[] = []

  push(worker: PlayedWorker): void {
    const waiter = this.waiting.shift()
    if (waiter) waiter(worker)
    else this.ready.push(worker)
  }

  next(): Promise<PlayedWorker> {
    const worker = this.ready.shift()
    return worker ? Promise.resolve(worker) : new Promise((resolve) => this.waiting.push(resolve))
  }

  get length(): number {
    return this.ready.length
  }
}

/** One endpoint with its client API, its REST address and the workers that the platform starts for it. */
export class PlayedEndpoint {
  readonly id: string
  readonly planeUrl: string
  readonly apiKey: string
  /** Workers that were started and not taken by a test. */
  readonly workers: WorkerQueue

  constructor(id: string, planeUrl: string, apiKey: string, workers: WorkerQueue) {
    this.id = id
    this.planeUrl = planeUrl
    this.apiKey = apiKey
    this.workers = workers
  }

  /** Any call of the job API, as a client without an SDK makes it. */
  call<T = JobView>(method: string, operation: string, options: CallOptions & { key?: string | null } = {}): Promise<Reply<T>> {
    const { key = `Bearer ${this.apiKey}`, headers, ...rest } = options
    const credentials: Record<string, string> = key === null ? {} : { authorization: key }
    const url = `${this.planeUrl}/v2/${this.id}/${operation}`
    return call<T>(url, { method, headers: { ...credentials, 'content-type': 'application/json', ...headers }, ...rest })
  }

  /** Submits a job and returns its id. */
  async run(input: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Promise<string> {
    const reply = await this.call('POST', 'run', { body: { input, ...more } })
    if (reply.status !== 200) throw new Error(`run answered ${reply.status}: ${reply.text}`)
    return reply.body.id
  }

  async status(job: string): Promise<JobView> {
    const reply = await this.call('GET', `status/${job}`)
    if (reply.status !== 200) throw new Error(`status answered ${reply.status}: ${reply.text}`)
    return reply.body
  }

  async stream(job: string, waitMs?: number): Promise<StreamView> {
    const reply = await this.call<StreamView>('GET', `stream/${job}${waitMs === undefined ? '' : `?wait=${waitMs}`}`)
    if (reply.status !== 200) throw new Error(`stream answered ${reply.status}: ${reply.text}`)
    return reply.body
  }

  async health(): Promise<HealthView> {
    return (await this.call<HealthView>('GET', 'health')).body
  }

  /** Waits until a job has this status. */
  reaches(job: string, status: string, timeoutMs?: number): Promise<JobView> {
    return eventually(
      `job ${job} is ${status}`,
      async () => {
        const view = await this.status(job)
        return view.status === status && view
      },
      timeoutMs,
    )
  }

  /** Waits until a job is not found any more. */
  async isDropped(job: string, timeoutMs?: number): Promise<void> {
    await eventually(`job ${job} is deleted`, async () => (await this.call('GET', `status/${job}`)).status === 404, timeoutMs)
  }

  /** The next worker that the platform starts here. */
  nextWorker(timeoutMs?: number): Promise<PlayedWorker> {
    return within(`a worker of endpoint ${this.id} is started`, this.workers.next(), timeoutMs)
  }
}
