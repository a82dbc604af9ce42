import { describeExcess } from '../../../src/contract/accounts/budgets.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { enterRead, readUse, tryEnterRead } from '../../../src/effects/in-flight.ts'
import { jsonReply, toResponse } from '../../../src/objects/plain-reply.ts'
import { OUTPUT } from '../../../src/queue/state.ts'
import type { EndpointCore } from '../core.ts'
import { jobNotFound, plainJson, problemReply } from '../replies.ts'

/** A result up to this size costs less to read than to count. */
const UNCOUNTED_CHARS = 64 * 1024
/** A large record is encoded in pieces of this size, as its reader takes them. */
const PIECE_CHARS = 256 * 1024
const RETRY_SECONDS = '1'
const encoder = new TextEncoder()

/** The status record of a job as it is now. */
function recordJson(core: EndpointCore, job: Job): string {
  return shortRecordJson(core, job) ?? jobRecordJson(job, core.state.payloads.get(job.seq, OUTPUT))
}

/** The same, or null when what the job has put out is so large that reading it is counted. */
export function shortRecordJson(core: EndpointCore, job: Job): string | null {
  // What an attempt put out is cleared before its job is queued again (LSE-12), so a queued one costs no second read.
  if (job.state === 'IN_QUEUE') return jobRecordJson(job, undefined, core.queueNote(job.lowPriority))
  const output = core.state.payloads.getShort(job.seq, OUTPUT, UNCOUNTED_CHARS)
  return output === null ? null : jobRecordJson(job, output)
}

/** The record of a job, unless its account reads too much at a time (SEC-13): then 429, before anything of the result is read. */
export async function recordReply(core: EndpointCore, seen: Job, signal: AbortSignal, headers = {}): Promise<Response> {
  const short = shortRecordJson(core, seen)
  if (short !== null) return toResponse(plainJson(short, headers))
  const teamId = teamOf(core)
  const { bound } = await readUse(core.env, teamId, Date.now())
  // It may have gone meanwhile.
  const job = await core.findJob(seen.id)
  if (!job) return jobNotFound()
  const bytes = core.state.payloads.size(job.seq, OUTPUT)
  const entry = tryEnterRead(teamId, bytes, bound, Date.now())
  if ('used' in entry) {
    return problemReply('rateLimited', describeExcess('readBytes', entry.used, bytes, bound), { 'retry-after': RETRY_SECONDS })
  }
  return inPieces(recordJson(core, job), entry.ended, signal, headers)
}

/** The record for a caller who has waited for just this job and could not ask for it again. It is counted, and never refused. */
export function owedRecordReply(core: EndpointCore, job: Job, signal: AbortSignal): Response {
  const short = shortRecordJson(core, job)
  if (short !== null) return jsonReply(short)
  const text = recordJson(core, job)
  return inPieces(text, enterRead(teamOf(core), text.length, Date.now()), signal)
}

/** A long record for a stream of events, which can wait; null: later. */
export function longRecordForEvents(core: EndpointCore, job: Job, bound: number): string | null {
  const entry = tryEnterRead(teamOf(core), core.state.payloads.size(job.seq, OUTPUT), bound, Date.now())
  if ('used' in entry) return null
  entry.ended()
  return recordJson(core, job)
}

/** The most that the endpoint's account reads at a time. */
export async function readBoundOf(core: EndpointCore): Promise<number> {
  return (await readUse(core.env, teamOf(core), Date.now())).bound
}

function teamOf(core: EndpointCore): string {
  return core.state.meta.config()?.teamId ?? ''
}

/** A 200 with this JSON whose reader says how fast it goes; `ended` is called when nobody takes more of it. */
function inPieces(text: string, ended: () => void, signal: AbortSignal, headers = {}): Response {
  // Of a body that is full when its reader goes, neither a read nor a cancellation ever tells.
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

/** `end`, or one less where it would cut a character in two. */
function pieceEnd(text: string, end: number): number {
  if (end >= text.length) return text.length
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end
}
