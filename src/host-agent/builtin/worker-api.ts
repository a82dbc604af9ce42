import { sleep } from '../../node/backoff.ts'
import { AGENT_VERSION } from '../version.ts'
import type { WorkerSettings } from './worker-settings.ts'

/** A job as a worker takes it. */
export interface TakenJob {
  id: string
  input: unknown
}

const POLL_TIMEOUT_MS = 90_000
const POST_TIMEOUT_MS = 600_000
const THROTTLED_PAUSE_MS = 5_000
const ERROR_PAUSE_MS = 500
const STOP_POLL_PAUSE_MS = 1_000
/** Pauses between retries of a post that got a 5xx, as in stock SDKs. */
const POST_RETRY_GAPS_MS = [2_000, 3_000]

/** The calls of the worker protocol, one method per route. */
export class WorkerApi {
  private readonly settings: WorkerSettings
  private readonly headers: Record<string, string>

  constructor(settings: WorkerSettings) {
    this.settings = settings
    this.headers = { authorization: settings.apiKey, 'user-agent': `podplane-builtin/${AGENT_VERSION}` }
  }

  /** One long poll for jobs; empty when there is none. Never throws, but pauses after an error, so that the caller's loop cannot spin. */
  async take(freeSlots: number, busy: boolean, signal: AbortSignal): Promise<TakenJob[]> {
    const base = freeSlots > 1 ? this.settings.takeUrl.replace('/job-take/', '/job-take-batch/') : this.settings.takeUrl
    const batch = freeSlots > 1 ? `&batch_size=${freeSlots}` : ''
    const body = await this.poll(`${base}${batch}&job_in_progress=${busy ? 1 : 0}`, signal)
    return (Array.isArray(body) ? body : [body]).filter(isJob)
  }

  /** One long poll for the ids of jobs to stop. */
  async pollStops(signal: AbortSignal): Promise<string[]> {
    const body = await this.poll(this.settings.takeUrl.replace('/job-take/', '/job-stop/'), signal)
    if (body === undefined) await sleep(STOP_POLL_PAUSE_MS, signal)
    const ids = typeof body === 'object' && body !== null && 'jobsToStop' in body ? body.jobsToStop : []
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  }

  private async poll(url: string, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await fetch(url, {
        headers: { ...this.headers, 'content-type': 'application/json' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
      })
      if (response.status === 200) return await response.json()
      await response.body?.cancel()
      if (response.status === 429) await sleep(THROTTLED_PAUSE_MS, signal)
      else if (response.status !== 204) await sleep(ERROR_PAUSE_MS, signal)
    } catch {
      await sleep(ERROR_PAUSE_MS, signal)
    }
    return undefined
  }

  /** Posts a result or a progress update. */
  async postOutput(jobId: string, body: unknown, isStream: boolean): Promise<void> {
    await this.post(`${this.settings.outputUrl.replaceAll('$ID', jobId)}&isStream=${isStream}`, body)
  }

  async postChunk(jobId: string, chunk: unknown): Promise<void> {
    await this.post(`${this.settings.streamUrl.replaceAll('$ID', jobId)}&isStream=false`, { output: chunk })
  }

  /** Retries on a 5xx only; a result that cannot be delivered is logged and dropped, as in stock SDKs. */
  private async post(url: string, body: unknown): Promise<void> {
    const text = JSON.stringify(body)
    for (const gapMs of [...POST_RETRY_GAPS_MS, undefined]) {
      const status = await this.postOnce(url, text)
      if (status < 400) return
      if (status < 500 || gapMs === undefined) break
      await sleep(gapMs)
    }
    console.error(`failed to return job results: ${new URL(url).pathname}`)
  }

  private async postOnce(url: string, body: string): Promise<number> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        // JSON with a form content type: stock SDKs send it so, and a plane must accept it.
        headers: { ...this.headers, 'content-type': 'application/x-www-form-urlencoded', charset: 'utf-8' },
        body,
        signal: AbortSignal.timeout(POST_TIMEOUT_MS),
      })
      await response.body?.cancel()
      return response.status
    } catch {
      return 499
    }
  }

  async ping(jobIds: readonly string[]): Promise<void> {
    if (this.settings.pingUrl === undefined) return
    const held = jobIds.length === 0 ? '' : `&job_id=${jobIds.join(',')}`
    const response = await fetch(`${this.settings.pingUrl}${held}&runpod_version=1.12.0`, {
      headers: this.headers,
      signal: AbortSignal.timeout(2 * this.settings.pingIntervalMs),
    })
    await response.body?.cancel()
  }
}

function isJob(value: unknown): value is TakenJob {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' && 'input' in value
}
