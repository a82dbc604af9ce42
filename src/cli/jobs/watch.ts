import { ApiError } from '../../client/client.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'

export type Job = Answer<'getJobStatus'>

export const OVER = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'])
/** Minimum time that the plane holds a call, milliseconds. */
const HELD_MS = 1_000
/** The call itself waits, so the pause between calls is short. */
const NO_PAUSE = { firstMs: 50, longestMs: 50 }

/** Waits until a job is over; meanwhile stderr shows why it waits (CMD-4). */
export async function waitForJob(session: Session, endpointId: string, jobId: string, deadlineMs?: number): Promise<Job> {
  const path = { endpointId, jobId }
  return await untilDone(
    session,
    `job ${jobId}`,
    async () => {
      const job = await session.api.awaitJob({ path, query: { wait: HELD_MS } })
      if (OVER.has(job.status)) return { done: job }
      return { why: await explanationOfJob(session, endpointId, job) }
    },
    { ...NO_PAUSE, ...(deadlineMs !== undefined && { deadlineMs }) },
  )
}

async function explanationOfJob(session: Session, endpointId: string, job: Job): Promise<string> {
  if (job.status !== 'IN_QUEUE') return job.status
  try {
    const { detail } = await session.api.explainJob({ path: { endpointId, jobId: job.id } })
    return `IN_QUEUE: ${detail}`
  } catch (error) {
    // The explanation is optional: the wait continues without it.
    if (error instanceof ApiError) return job.queue === undefined ? job.status : `IN_QUEUE: ${job.queue.reason}`
    throw error
  }
}

/** Prints the result of a job. Throws `CliError` with exit code 1 unless it is COMPLETED (CMD-2). */
export function printOutcome(session: Session, job: Job): number {
  if (session.out.isJson || session.globals.quiet) session.out.record(job, job.id)
  else if (job.output !== undefined) session.out.lines([typeof job.output === 'string' ? job.output : JSON.stringify(job.output, null, 2)])
  if (job.status === 'COMPLETED') return EXIT.OK
  const reason = [job.error, job.errorDetail].filter((text) => text !== undefined).join(': ')
  throw new CliError(EXIT.BAD_OUTCOME, 'job_not_completed', `job ${job.id} is ${job.status}${reason === '' ? '' : `: ${reason}`}`)
}

type Chunk = Answer<'streamJob'>['stream'][number]

/** Yields the chunks of a job as they arrive, until it is over. */
export async function* readChunks(session: Session, endpointId: string, jobId: string): AsyncGenerator<Chunk> {
  for (;;) {
    session.signal.throwIfAborted()
    const { status, stream } = await session.api.streamJob({ path: { endpointId, jobId }, query: { wait: HELD_MS } })
    yield* stream
    if (OVER.has(status) && stream.length === 0) return
  }
}

/** Prints the chunks of a job as they arrive. Throws `CliError` unless it ends COMPLETED. */
export async function streamJob(session: Session, endpointId: string, jobId: string): Promise<number> {
  for await (const chunk of readChunks(session, endpointId, jobId))
    session.out.event(chunk, typeof chunk.output === 'string' ? chunk.output : `${JSON.stringify(chunk.output)}\n`)
  const job = await session.api.getJobStatus({ path: { endpointId, jobId } })
  if (job.status === 'COMPLETED') return EXIT.OK
  const reason = job.error === undefined ? '' : `: ${job.error}`
  throw new CliError(EXIT.BAD_OUTCOME, 'job_not_completed', `job ${jobId} is ${job.status}${reason}`)
}
