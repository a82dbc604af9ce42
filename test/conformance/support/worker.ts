import type { Workload } from '../../../src/host-protocol/messages.ts'
import { realTime } from '../../support/time.ts'
import { call, type OpenCall, openCall, PATIENCE_MS, type Reply } from './http.ts'
import { workerUrl } from './idle-host.ts'

/** A job as a take returns it. */
export interface TakenJob {
  id: string
  input: Record<string, unknown>
}

const SDK_VERSION = '1.12.0'
const USER_AGENT = `RunPod-Python-SDK/${SDK_VERSION} (Linux 6.8) Language/Python 3.12.3`
/** Backoff of a worker that received 429. */
const BACK_OFF_MS = 5_000

/**
 * One worker, played by hand: every request as the stock worker SDK sends it, with the addresses and the key that the platform injected.
 * Like the SDK it pings by itself, once an interval, with the jobs that it holds; everything else happens on the call of a test.
 */
export class PlayedWorker {
  readonly id: string
  readonly workload: Workload
  /** Ping interval `P`, milliseconds. */
  readonly pingIntervalMs: number
  /** Jobs that pings list. */
  readonly holding = new Set<string>()
  /** Set by a test whose worker continues although its container was ordered to stop. */
  outlivesStop = false
  /** Resolves when the platform orders the container to stop. */
  readonly stopOrdered: Promise<Workload>
  private readonly planeUrl: string
  private timer: NodeJS.Timeout | undefined
  private orderStop: (workload: Workload) => void = () => undefined

  constructor(workload: Workload, planeUrl: string) {
    this.workload = workload
    this.planeUrl = planeUrl
    this.id = workload.id
    this.pingIntervalMs = Number(workload.platformEnv.RUNPOD_PING_INTERVAL)
    this.stopOrdered = new Promise((resolve) => {
      this.orderStop = resolve
    })
    this.timer = setInterval(() => void this.ping().catch(() => undefined), this.pingIntervalMs)
  }

  get key(): string {
    return this.workload.platformEnv.RUNPOD_AI_API_KEY ?? ''
  }

  /** Stops the pings: the whole worker is silent from here on, unless a test calls for it. */
  mute(): void {
    clearInterval(this.timer)
  }

  stopWasOrdered(workload: Workload): void {
    if (!this.outlivesStop) this.mute()
    this.orderStop(workload)
  }

  /** One poll for one job; null for an answer without a job (204). */
  async take(): Promise<TakenJob | null> {
    const reply = await this.takeReply<TakenJob>()
    if (reply.status === 204) return null
    if (reply.status !== 200) throw new Error(`take answered ${reply.status}: ${reply.text}`)
    this.holding.add(reply.body.id)
    return reply.body
  }

  /** Polls as the SDK's loop does until a job arrives. */
  async takeJob(timeoutMs = PATIENCE_MS): Promise<TakenJob> {
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline) {
      const reply = await this.takeReply<TakenJob>()
      if (reply.status === 429) await realTime(BACK_OFF_MS, 'as the SDK backs off')
      if (reply.status !== 200) continue
      this.holding.add(reply.body.id)
      return reply.body
    }
    throw new Error(`worker ${this.id} was given no job in ${timeoutMs} ms`)
  }

  takeReply<T>(options: { signal?: AbortSignal; key?: string; headers?: Record<string, string> } = {}): Promise<Reply<T>> {
    return this.get<T>(`${this.takeUrl('job-take')}&job_in_progress=${this.inProgress}`, options)
  }

  /** One poll for up to `size` jobs. */
  async takeBatch(size: number): Promise<Reply<TakenJob[]>> {
    const url = `${this.takeUrl('job-take-batch')}&batch_size=${size}&job_in_progress=${this.inProgress}`
    const reply = await this.get<TakenJob[]>(url)
    if (reply.status === 200) for (const { id } of reply.body) this.holding.add(id)
    return reply
  }

  /** A take whose connection a test breaks. */
  openTake(): OpenCall {
    return openCall(`${this.takeUrl('job-take')}&job_in_progress=${this.inProgress}`, { headers: this.getHeaders() })
  }

  stopPoll(): Promise<Reply<{ jobsToStop: string[] }>> {
    return this.get(this.takeUrl('job-stop'))
  }

  /** Polls as the SDK's loop does until there is a job to stop. */
  async nextStop(timeoutMs = PATIENCE_MS): Promise<string[]> {
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline) {
      const reply = await this.stopPoll()
      if (reply.status === 200) return reply.body.jobsToStop
      await realTime(1_000, 'as the SDK polls')
    }
    throw new Error(`worker ${this.id} was told to stop nothing in ${timeoutMs} ms`)
  }

  /**
   * `job-done` with a final result. As with the SDK, pings list the job until the answer: without it in two pings during a slow upload,
   * the lease ends (LSE-5) and the worker gets no more jobs (LSE-33).
   */
  async done(jobId: string, body: unknown, isStream = false): Promise<Reply<unknown>> {
    try {
      return await this.post('RUNPOD_WEBHOOK_POST_OUTPUT', jobId, body, isStream)
    } finally {
      this.holding.delete(jobId)
    }
  }

  progress(jobId: string, output: unknown): Promise<Reply<unknown>> {
    return this.post('RUNPOD_WEBHOOK_POST_OUTPUT', jobId, { status: 'IN_PROGRESS', output })
  }

  /** `job-stream`: one chunk of a generator. */
  chunk(jobId: string, body: unknown): Promise<Reply<unknown>> {
    return this.post('RUNPOD_WEBHOOK_POST_STREAM', jobId, body)
  }

  /** Sends a ping with the jobs that the worker holds or with a list of the test's own. */
  ping(jobIds: readonly string[] = [...this.holding]): Promise<Reply<unknown>> {
    const list = jobIds.length > 0 ? `&job_id=${jobIds.join(',')}` : ''
    const url = `${this.url('RUNPOD_WEBHOOK_PING')}${list}&runpod_version=${SDK_VERSION}`
    return call(url, { headers: { authorization: this.key, 'user-agent': 'python-requests/2.32.3' } })
  }

  /** Address that an injected variable names. */
  url(variable: string, jobId = ''): string {
    return workerUrl(this.workload, this.planeUrl, variable).replaceAll('$ID', jobId || this.id)
  }

  post(variable: string, jobId: string, body: unknown, isStream = false, headers: Record<string, string> = {}): Promise<Reply<unknown>> {
    // JSON under a form content type, as the SDK sends it (WRK-5).
    const sdkHeaders = { ...this.headers(), 'content-type': 'application/x-www-form-urlencoded', charset: 'utf-8' }
    const url = `${this.url(variable, jobId)}&isStream=${isStream}`
    return call(url, { method: 'POST', headers: { ...sdkHeaders, ...headers }, body: body === undefined ? '' : body })
  }

  private get inProgress(): 0 | 1 {
    return this.holding.size > 0 ? 1 : 0
  }

  private takeUrl(operation: string): string {
    return this.url('RUNPOD_WEBHOOK_GET_JOB').replace('/job-take/', `/${operation}/`)
  }

  private get<T>(url: string, options: { signal?: AbortSignal; key?: string; headers?: Record<string, string> } = {}): Promise<Reply<T>> {
    const { signal, key = this.key, headers = {} } = options
    return call<T>(url, { headers: { ...this.getHeaders(key), ...headers }, ...(signal === undefined ? {} : { signal }) })
  }

  private getHeaders(key = this.key): Record<string, string> {
    return { ...this.headers(key), 'content-type': 'application/json' }
  }

  private headers(key = this.key): Record<string, string> {
    return { authorization: key, 'user-agent': USER_AGENT, 'accept-encoding': 'gzip, deflate' }
  }
}
