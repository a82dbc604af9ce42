import { isTerminal, type Job } from './job.ts'

/** Why a queued job waits (STA-2): a member that clients ignore unless they look for it. */
export interface QueueNote {
  reason: string
  workers: Record<string, number>
}

/**
 * The JSON text of a job's status record: keys only when set and in alphabetical order (JOB-1), the output as the bytes that came.
 * `output` is JSON text: the last progress value while IN_PROGRESS, the result afterwards; undefined when there is none.
 */
export function jobRecordJson(job: Job, output?: string, queue?: QueueNote): string {
  const parts: string[] = []
  const terminal = isTerminal(job.state)
  const delayMs = delayTimeMs(job)
  if (delayMs !== null) parts.push(`"delayTime":${delayMs}`)
  if (terminal && job.error !== null) parts.push(`"error":${JSON.stringify(job.error)}`)
  if (terminal && job.error !== null && job.errorDetail !== null) parts.push(`"errorDetail":${JSON.stringify(job.errorDetail)}`)
  if (terminal) parts.push(`"executionTime":${executionTimeMs(job)}`)
  parts.push(`"id":${JSON.stringify(job.id)}`)
  if (output !== undefined) parts.push(`"output":${output}`)
  if (queue !== undefined && job.state === 'IN_QUEUE') parts.push(`"queue":${JSON.stringify(queue)}`)
  if (job.retries > 0) parts.push(`"retries":${job.retries}`)
  parts.push(`"status":"${job.state}"`)
  const workerId = job.state === 'IN_QUEUE' ? undefined : (job.holder?.workerId ?? (terminal ? '' : undefined))
  if (workerId !== undefined) parts.push(`"workerId":${JSON.stringify(workerId)}`)
  return `{${parts.join(',')}}`
}

/** JOB-5: submission to the start of the last attempt; JOB-3: time in the queue for a job that never ran. Milliseconds. */
function delayTimeMs(job: Job): number | null {
  if (job.startedAtMs !== null) return Math.max(0, Math.round(job.startedAtMs - job.createdAtMs))
  if (isTerminal(job.state)) return Math.max(0, Math.round((job.finishedAtMs ?? job.createdAtMs) - job.createdAtMs))
  return null
}

/** JOB-5: length of the last attempt, 0 for a job that never ran. Milliseconds. */
function executionTimeMs(job: Job): number {
  if (job.startedAtMs === null || job.finishedAtMs === null) return 0
  return Math.max(0, Math.round((job.leaseUntilMs ?? job.finishedAtMs) - job.startedAtMs))
}
