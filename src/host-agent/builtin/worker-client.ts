import { setTimeout as delay } from 'node:timers/promises'
import { type TakenJob, WorkerApi } from './worker-api.ts'
import type { WorkerSettings } from './worker-settings.ts'

/** Functions available to a handler while its job runs. */
export interface JobContext {
  /** Fires when the plane stops the job; a stopped job posts no result. */
  signal: AbortSignal
  postChunk(chunk: unknown): Promise<void>
  postProgress(value: unknown): Promise<void>
}

/** The program of a built-in image: computes the result of one job. */
export type JobHandler = (input: unknown, job: JobContext) => Promise<JobResult>
/** Result of a job. `isStream`: its output was sent as chunks. */
export type JobResult = { output: unknown; isStream?: boolean } | { error: string }

/**
 * After SIGTERM an open take request may still return a job; the worker waits this long for it, because otherwise the job is lost until its
 * lease ends.
 */
const DRAIN_TAKE_MS = 1_000

/** Runs the worker loop until SIGTERM, then finishes the running jobs and exits with 0. */
export async function runWorker(settings: WorkerSettings, handle: JobHandler): Promise<void> {
  const api = new WorkerApi(settings)
  const running = new Map<string, AbortController>()
  const draining = new AbortController()
  const dropTake = new AbortController()
  process.on('SIGTERM', () => {
    draining.abort()
    setTimeout(() => dropTake.abort(), DRAIN_TAKE_MS).unref()
  })

  console.log(`worker ${settings.workerId}: waiting for jobs`)
  void pingLoop(api, settings, running)
  void stopLoop(api, running)
  await takeLoop({ api, handle, running, draining: draining.signal, dropTake: dropTake.signal, concurrency: settings.concurrency })
  process.exit(0)
}

interface TakeLoop {
  api: WorkerApi
  handle: JobHandler
  running: Map<string, AbortController>
  draining: AbortSignal
  dropTake: AbortSignal
  concurrency: number
}

/** Takes jobs, one request at a time. With every slot busy it sends no request, so a single-slot worker never holds a second job. */
async function takeLoop(loop: TakeLoop): Promise<void> {
  const open = new Set<Promise<void>>()
  while (!loop.draining.aborted) {
    const freeSlots = loop.concurrency - open.size
    if (freeSlots === 0) {
      await Promise.race(open)
      continue
    }
    for (const job of await loop.api.take(freeSlots, open.size > 0, loop.dropTake)) {
      const done = runJob(loop, job).finally(() => open.delete(done))
      open.add(done)
    }
  }
  await Promise.all(open)
}

async function runJob({ api, handle, running }: TakeLoop, job: TakenJob): Promise<void> {
  const stop = new AbortController()
  running.set(job.id, stop)
  console.log(`job ${job.id}: started`)
  try {
    const context: JobContext = {
      signal: stop.signal,
      postChunk: (chunk) => api.postChunk(job.id, chunk),
      postProgress: (value) => api.postOutput(job.id, { status: 'IN_PROGRESS', output: value }, false),
    }
    const result = await handle(job.input, context)
    if (stop.signal.aborted) return console.log(`job ${job.id}: stopped`)
    console.log(`job ${job.id}: ${'error' in result ? 'failed' : 'done'}`)
    if ('error' in result) await api.postOutput(job.id, { error: result.error }, false)
    else await api.postOutput(job.id, { output: result.output }, result.isStream ?? false)
  } catch (error) {
    if (!stop.signal.aborted) await api.postOutput(job.id, { error: String(error) }, false)
  } finally {
    running.delete(job.id)
  }
}

async function pingLoop(api: WorkerApi, settings: WorkerSettings, running: ReadonlyMap<string, unknown>): Promise<never> {
  while (true) {
    await api.ping([...running.keys()]).catch(() => {})
    await delay(settings.pingIntervalMs)
  }
}

async function stopLoop(api: WorkerApi, running: ReadonlyMap<string, AbortController>): Promise<never> {
  const never = new AbortController()
  while (true) {
    for (const id of await api.pollStops(never.signal)) running.get(id)?.abort()
  }
}
