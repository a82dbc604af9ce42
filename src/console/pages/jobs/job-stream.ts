import { useEffect, useState } from 'react'
import type { ApiBody, ApiClient } from '../../../client/client.ts'
import { claimStream } from '../../hooks/one-stream.ts'
import { useApi } from '../../hooks/session.ts'
import { followWhileVisible } from '../../hooks/visible.ts'

/** Answer of the job status operation. */
export type JobRecord = Awaited<ReturnType<ApiClient['getJobStatus']>>
export type JobBody = ApiBody<'runJob'>

/** Maximum number of chunks that a page retains; the oldest are dropped first. */
const KEPT = 1_000
const SHOWN_EVERY_MS = 100
/** Pause before a stream that the plane has closed is reopened, milliseconds. */
const AGAIN_MS = 1_000

/** A part of the output of a job; its id is the position in the stream. */
export interface Chunk {
  id: string
  output: unknown
}

/** Output of a job as far as it was received; the error is null while the stream works. */
export interface JobStream {
  chunks: Chunk[]
  /** Number of chunks received, retained or not. */
  total: number
  /** Final record of the job; null until it has ended. */
  record: JobRecord | null
  error: Error | null
}

const NOTHING: JobStream = { chunks: [], total: 0, record: null, error: null }

/**
 * Chunks of a job as they arrive, and its final record. Other readers still receive all chunks (STR-10). The stream closes while the tab is
 * hidden and resumes after the last chunk. `jobId` null: no stream.
 */
export function useJobStream(endpointId: string, jobId: string | null): JobStream {
  const { api } = useApi()
  const [stream, setStream] = useState(NOTHING)
  useEffect(() => {
    setStream(NOTHING)
    if (jobId === null) return
    return followWhileVisible(new JobFollower(api, endpointId, jobId, setStream))
  }, [api, endpointId, jobId])
  return stream
}

class JobFollower {
  private readonly api: ApiClient
  private readonly path: string
  private readonly show: (stream: JobStream) => void
  private state = NOTHING
  private running: AbortController | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(api: ApiClient, endpointId: string, jobId: string, show: (stream: JobStream) => void) {
    this.api = api
    this.path = `/v2/${encodeURIComponent(endpointId)}/stream/${encodeURIComponent(jobId)}`
    this.show = show
  }

  start(): void {
    if (this.running !== undefined || this.state.record !== null) return
    const running = new AbortController()
    this.running = running
    running.signal.addEventListener(
      'abort',
      claimStream(() => this.stop()),
      { once: true },
    )
    void this.follow(running.signal).catch((reason: unknown) => {
      if (!running.signal.aborted) this.change({ error: reason instanceof Error ? reason : new Error(String(reason)) })
    })
  }

  stop(): void {
    this.running?.abort()
    this.running = undefined
  }

  private async follow(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.readStream(signal)
      if (this.state.record !== null) return
      // The plane has closed the stream, but the job has not ended.
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      signal.throwIfAborted()
    }
  }

  private async readStream(signal: AbortSignal): Promise<void> {
    const last = this.state.chunks.at(-1)?.id
    for await (const { id, event, data } of this.api.events('GET', this.path, undefined, { signal, ...(last && { lastEventId: last }) })) {
      if (event === 'end') this.change({ record: JSON.parse(data) as JobRecord })
      else if (event === 'message') this.take({ id, output: (JSON.parse(data) as { output: unknown }).output })
    }
  }

  private take(chunk: Chunk): void {
    const chunks = [...this.state.chunks.slice(-KEPT + 1), chunk]
    this.state = { ...this.state, chunks, total: this.state.total + 1 }
    this.timer ??= setTimeout(() => this.change({}), SHOWN_EVERY_MS)
  }

  private change(changes: Partial<JobStream>): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.state = { ...this.state, ...changes }
    this.show(this.state)
  }
}
