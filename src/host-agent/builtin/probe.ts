import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { JobContext, JobResult } from './worker-client.ts'

const SLEEP_MAX_MS = 7 * 24 * 3_600_000
/** Upper bound, because each running job holds its output several times in memory. */
const BYTES_MAX = 2 ** 20

/** Input of `builtin/probe`; every member is optional, and they take effect in this order. */
const ProbeInput = z.looseObject({
  /** Exits the process with this code at once; no result is posted. */
  exit: z.number().int().min(0).max(255).optional(),
  /** One value or a list of values to post as progress updates. */
  progress: z.unknown().optional(),
  /** Pause, milliseconds; a stop of the job ends it. */
  sleepMs: z.number().min(0).max(SLEEP_MAX_MS).optional(),
  /** Number of stream chunks `{"chunk": i}`, `chunkMs` apart. */
  chunks: z.number().int().min(0).max(100_000).optional(),
  chunkMs: z.number().min(0).max(SLEEP_MAX_MS).optional(),
  /** Runs for ever and ignores a stop, like a stuck handler, while pings continue. */
  hang: z.boolean().optional(),
  /** Fails the job with this text. */
  fail: z.string().min(1).optional(),
  /** Size of the output, bytes. */
  bytes: z.number().int().min(0).max(BYTES_MAX).optional(),
})

/** `builtin/probe`: does what its input says, so that tests and benchmarks can provoke every path of the platform. */
export async function probe(input: unknown, job: JobContext): Promise<JobResult> {
  const parsed = ProbeInput.safeParse(input)
  if (!parsed.success) return { error: `builtin/probe cannot read its input: ${z.prettifyError(parsed.error)}` }
  const wanted = parsed.data

  if (wanted.exit !== undefined) process.exit(wanted.exit)
  for (const value of progressOf(wanted.progress)) await job.postProgress(value)
  if (wanted.sleepMs !== undefined) await delay(wanted.sleepMs, undefined, { signal: job.signal })
  await postChunks(wanted.chunks ?? 0, wanted.chunkMs ?? 0, job)
  if (wanted.hang === true) await new Promise(() => {})
  if (wanted.fail !== undefined) return { error: wanted.fail }
  if (wanted.bytes !== undefined) return { output: { data: 'x'.repeat(wanted.bytes) } }
  if (wanted.chunks !== undefined) return { output: [], isStream: true }
  return { output: { ok: true, input } }
}

function progressOf(progress: unknown): readonly unknown[] {
  if (progress === undefined) return []
  return Array.isArray(progress) ? progress : [progress]
}

async function postChunks(chunks: number, chunkMs: number, job: JobContext): Promise<void> {
  for (let chunk = 0; chunk < chunks && !job.signal.aborted; chunk += 1) {
    if (chunk > 0 && chunkMs > 0) await delay(chunkMs, undefined, { signal: job.signal })
    await job.postChunk({ chunk })
  }
}
