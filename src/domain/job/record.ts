import { type EndedJob, isEnded, type Job } from './job.ts'

/** The reason why a queued job waits (STA-2): an additional field of the status record, which clients may ignore. */
export interface QueueNote {
  reason: string
  workers: Record<string, number>
}

/**
 * The JSON text of a job's status record: keys only when set and in alphabetical order (JOB-1), the output unchanged. `output` is JSON
 * text: the last progress value while IN_PROGRESS, the result afterwards; undefined when there is none.
 */
export function jobRecordJson(job: Job, output?: string, queue?: QueueNote): string {
  return recordTexts(job, { output, queue }).join('')
}

/**
 * The body of a webhook (HOOK-2): the status record with `input` and `webhook`, input and output unchanged. It is a list of consecutive
 * texts, because together they may be as large as memory allows.
 */
export function notificationTexts(job: Job, webhook: string, input: string, output?: string): string[] {
  return recordTexts(job, { input, output, webhook })
}

interface RecordExtras {
  input?: string | undefined
  output?: string | undefined
  queue?: QueueNote | undefined
  webhook?: string | undefined
}

// In alphabetical order; large texts are not copied into others.
function recordTexts(job: Job, { input, output, queue, webhook }: RecordExtras): string[] {
  const texts: string[] = []
  const add = (name: string, value: string) => texts.push(`${texts.length === 0 ? '{' : ','}"${name}":`, value)
  const terminal = isEnded(job)
  const delayMs = delayTimeMs(job)
  if (delayMs !== null) add('delayTime', String(delayMs))
  if (terminal && job.error !== null) add('error', JSON.stringify(job.error))
  if (terminal && job.error !== null && job.errorDetail !== null) add('errorDetail', JSON.stringify(job.errorDetail))
  if (terminal) add('executionTime', String(executionTimeMs(job)))
  add('id', JSON.stringify(job.id))
  if (input !== undefined) add('input', input)
  if (output !== undefined) add('output', output)
  if (queue !== undefined && job.state === 'IN_QUEUE') add('queue', JSON.stringify(queue))
  if (job.retries > 0) add('retries', String(job.retries))
  add('status', `"${job.state}"`)
  if (webhook !== undefined) add('webhook', JSON.stringify(webhook))
  const workerId = job.state === 'IN_QUEUE' ? undefined : (job.holder?.workerId ?? (terminal ? '' : undefined))
  if (workerId !== undefined) add('workerId', JSON.stringify(workerId))
  texts.push('}')
  return texts
}

/** JOB-5: submission to the start of the last attempt; JOB-3: time in the queue for a job that never ran. Milliseconds. */
function delayTimeMs(job: Job): number | null {
  if (job.startedAtMs !== null) return Math.max(0, Math.round(job.startedAtMs - job.createdAtMs))
  if (isEnded(job)) return Math.max(0, Math.round(job.finishedAtMs - job.createdAtMs))
  return null
}

/** JOB-5: length of the last attempt, 0 for a job that never ran. Milliseconds. */
function executionTimeMs(job: EndedJob): number {
  if (job.startedAtMs === null) return 0
  return Math.max(0, Math.round((job.lostAtMs ?? job.finishedAtMs) - job.startedAtMs))
}
