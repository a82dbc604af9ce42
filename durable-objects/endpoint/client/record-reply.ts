import { describeExcess } from '../../../src/contract/accounts/budgets.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { enterRead, readUse, tryEnterRead } from '../../../src/effects/in-flight.ts'
import { OUTPUT } from '../../../src/queue/state.ts'
import { jsonReply, toResponse } from '../../../src/rpc/plain-reply.ts'
import type { Jobs, Outside, Rows } from '../parts.ts'
import { jobNotFound, plainJson, problemReply } from '../replies.ts'

/** Parts that the reply with a record uses. */
export type RecordParts = Jobs & Outside & Rows

/** Results up to this size cost less to read than to account for. */
const UNCOUNTED_CHARS = 64 * 1024
/** Size of the pieces in which a large record is encoded, as its reader takes them. */
const PIECE_CHARS = 256 * 1024
const RETRY_SECONDS = '1'
const encoder = new TextEncoder()

/** The status record of a job in its current state. */
function recordJson(core: Jobs & Rows, job: Job): string {
  return shortRecordJson(core, job) ?? jobRecordJson(job, core.state.payloads.get(job.seq, OUTPUT))
}

/** The status record, or null when the output is so large that reading it counts against the account's limit. */
export function shortRecordJson(core: Jobs & Rows, job: Job): string | null {
  // The output of an attempt is deleted before its job is queued again (LSE-12), so a queued job needs no second read.
  if (job.state === 'IN_QUEUE') return jobRecordJson(job, undefined, core.queueNote(job.lowPriority))
  const output = core.state.payloads.getShort(job.seq, OUTPUT, UNCOUNTED_CHARS)
  return output === null ? null : jobRecordJson(job, output)
}

/** Replies with a job's record, or with 429 before reading the result while the account exceeds its limit of concurrent reads (RATE-32). */
export async function recordReply(core: RecordParts, seen: Job, signal: AbortSignal, headers = {}): Promise<Response> {
  const short = shortRecordJson(core, seen)
  if (short !== null) return toResponse(plainJson(short, headers))
  const teamId = teamOf(core)
  const { bound } = await readUse(core.env, teamId, Date.now())
  // The job may have been deleted during the wait.
  const job = await core.findJob(seen.id)
  if (!job) return jobNotFound()
  const bytes = core.state.payloads.size(job.seq, OUTPUT)
  const entry = tryEnterRead(teamId, bytes, bound, Date.now())
  if ('used' in entry) {
    return problemReply('rateLimited', describeExcess('readBytes', entry.used, bytes, bound), { 'retry-after': RETRY_SECONDS })
  }
  return inPieces(recordJson(core, job), entry.ended, signal, headers)
}

/** The record for a caller that waited for this job and could not request it again. The read is counted but never refused. */
export function owedRecordReply(core: Jobs & Rows, job: Job, signal: AbortSignal): Response {
  const short = shortRecordJson(core, job)
  if (short !== null) return jsonReply(short)
  const text = recordJson(core, job)
  return inPieces(text, enterRead(teamOf(core), text.length, Date.now()), signal)
}

/** A long record for an event stream, which can wait; null when the account's limit does not allow it yet. */
export function longRecordForEvents(core: Jobs & Rows, job: Job, bound: number): string | null {
  const entry = tryEnterRead(teamOf(core), core.state.payloads.size(job.seq, OUTPUT), bound, Date.now())
  if ('used' in entry) return null
  entry.ended()
  return recordJson(core, job)
}

/** Limit of the account's concurrent reads, in bytes. */
export async function readBoundOf(core: Outside & Rows): Promise<number> {
  return (await readUse(core.env, teamOf(core), Date.now())).bound
}

function teamOf(core: Rows): string {
  return core.state.meta.config()?.teamId ?? ''
}

/** A 200 reply with this JSON, sent at the pace of its reader; `ended` is called when it is complete, cancelled or aborted. */
function inPieces(text: string, ended: () => void, signal: AbortSignal, headers = {}): Response {
  // When a reader disconnects from a body whose buffer is full, neither a read nor a cancellation reports it.
  if (signal.aborted) ended()
  signal.addEventListener('abort', ended, { once: true })
  let at = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const end = pieceEnd(text, at + PIECE_CHARS)
        if (at < end) controller.enqueue(encoder.encode(text.slice(at, end)))
        at = end
        if (at < text.length) return
        ended()
        controller.close()
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'application/json', ...headers } })
}

/** `end`, or one less where it would split a surrogate pair. */
function pieceEnd(text: string, end: number): number {
  if (end >= text.length) return text.length
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end
}
