import { callPlane, type TestPlane } from './plane.ts'

/** A status record as a client reads it; members appear only when set. */
export interface JobView {
  id: string
  status: string
  output?: unknown
  error?: string
  errorDetail?: string
  retries?: number
  workerId?: string
  delayTime?: number
  executionTime?: number
  queue?: { reason: string; workers: Record<string, number> }
}

export interface HealthView {
  jobs: { completed: number; failed: number; inProgress: number; inQueue: number; retried: number }
  workers: { idle: number; initializing: number; ready: number; running: number; throttled: number; unhealthy: number }
}

export interface EndpointOptions {
  image: string
  cmd?: string[]
  env?: Record<string, string>
  workers?: { min?: number; max?: number; idleTimeout?: number }
}

/** The resources of every endpoint of the tests: one simulated GPU, so that a small machine holds several workers. */
const COMPUTE = { gpu: { pools: ['AMPERE_24'], count: 1 } }
/** Argument of `startPlane` that gives the agent room for those workers. */
export const GPU_ARGS = ['--simulate-gpus', 'NVIDIA L4:16']
const HOLD_MS = 20_000
/** The answer arrives at or before the end of the hold; a margin for a busy machine. */
const HOLD_MARGIN_MS = 15_000

/** An endpoint of the demo account, driven over HTTP the way a client without an SDK would. */
export class TestEndpoint {
  readonly id: string
  private readonly plane: Pick<TestPlane, 'url' | 'apiKey'>

  constructor(plane: Pick<TestPlane, 'url' | 'apiKey'>, id: string) {
    this.plane = plane
    this.id = id
  }

  static async create(plane: Pick<TestPlane, 'url' | 'apiKey'>, name: string, options: EndpointOptions): Promise<TestEndpoint> {
    const body = { name, disk: 1, ...COMPUTE, ...options }
    const { id } = await callPlane<{ id: string }>(plane, plane.apiKey, 'POST', '/v2/serverless', body)
    return new TestEndpoint(plane, id)
  }

  /** Deletes the endpoint, which ends its workers. */
  async remove(): Promise<void> {
    await callPlane(this.plane, this.plane.apiKey, 'DELETE', `/v2/serverless/${this.id}`)
  }

  /** Submits a job and returns its id. */
  async run(input: Record<string, unknown>, members: Record<string, unknown> = {}): Promise<string> {
    return (await this.call<JobView>('POST', 'run', { input, ...members })).id
  }

  cancel(job: string): Promise<JobView> {
    return this.call('POST', `cancel/${job}`)
  }

  retry(job: string): Promise<JobView> {
    return this.call('POST', `retry/${job}`)
  }

  status(job: string): Promise<JobView> {
    return this.call('GET', `status/${job}`)
  }

  health(): Promise<HealthView> {
    return this.call('GET', 'health')
  }

  /** Waits for any end of a job, and fails when it does not end in time. */
  async finished(job: string, timeoutMs = 60_000): Promise<JobView> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`job ${job} is not over after ${timeoutMs} ms: ${JSON.stringify(await this.status(job))}`)
      const view = await this.call<JobView>('GET', `status-sync/${job}?wait=${Math.min(HOLD_MS, Math.max(1_000, left))}`)
      if (view.status !== 'IN_QUEUE' && view.status !== 'IN_PROGRESS') return view
    }
  }

  /** Submits and waits for the end. */
  async runToEnd(input: Record<string, unknown>, timeoutMs?: number): Promise<JobView> {
    return await this.finished(await this.run(input), timeoutMs)
  }

  // Not through `callPlane`: a held call may take longer than its limit.
  private async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.plane.url}/v2/${this.id}/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.plane.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(HOLD_MS + HOLD_MARGIN_MS),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return JSON.parse(text) as T
  }
}
