import { type OpenaiError, openaiError, openaiReply } from '../../../src/contract/problem-body.ts'
import { PROBLEMS, type ProblemKey } from '../../../src/contract/problems.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import { readWorkerError } from '../../../src/domain/openai/error.ts'
import { cancelJob } from '../../../src/queue/jobs.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import { toResponse } from '../../../src/rpc/plain-reply.ts'
import type { Commits } from '../parts.ts'

const BUSY_STATUSES: readonly number[] = [PROBLEMS.rateLimited.status, PROBLEMS.unavailable.status]

/** The error of a job of `/openai/*`; null when it has an answer or may still give one. `job` is null once it is deleted. */
export function jobError(job: Job | null): OpenaiError | null {
  if (!job) return openaiError(PROBLEMS.timedOut.status, 'the job expired and was deleted before its whole response was sent')
  if (job.state === 'FAILED') return readWorkerError(job.error ?? 'the job failed')
  if (job.state === 'CANCELLED') return openaiError(PROBLEMS.gone.status, 'the job was cancelled')
  return null
}

/**
 * OAI-7. The job has used up its attempts, so a client's automatic retry would only run it again, unless the worker reports that it was too
 * busy (OAI-13).
 */
export function failure(error: OpenaiError): Response {
  return errorReply(error, BUSY_STATUSES.includes(error.status) ? {} : { 'x-should-retry': 'false' })
}

/** OAI-11: refuses a call that creates no job. */
export function refusal(key: ProblemKey, detail: string, headers: Record<string, string> = {}): Response {
  return errorReply(openaiError(PROBLEMS[key].status, detail), headers)
}

function errorReply(error: OpenaiError, headers: Record<string, string>): Response {
  return toResponse(openaiReply(error, headers))
}

/** OAI-8: the client has disconnected and no other can read the answer, so the job is cancelled. */
export async function abandon(core: Commits, jobId: string): Promise<void> {
  await core.transact((tx) => {
    const job = currentJob(tx, jobId)
    if (job) cancelJob(tx, job)
  })
}
