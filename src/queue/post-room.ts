import type { Job } from '../domain/job/job.ts'
import type { WorkerPost } from '../domain/job/worker-post.ts'
import { INPUT, type QueueState } from './state.ts'

/** Room for what workers put out, of the budget that the account's queues share (PP-231, adr/0022). */

/** What the account's budget said about one post: why there is no room for it, or null when there is. */
export interface RoomAnswer {
  refusal: string | null
}

/** The submit of a job has taken so much for its rows: a result as short is always kept. */
const PAID_CHARS = 1_024
/** What is shown of a job's own error beside the reason why its output was not kept. */
const SHOWN_ERROR_CHARS = 1_000

/** The characters that a post leaves in the queue. */
export function charsToKeep(post: WorkerPost): number {
  if (post.kind === 'progress') return post.output.length
  const chars = (post.output?.length ?? 0) + (post.error?.length ?? 0)
  return chars <= PAID_CHARS ? 0 : chars
}

/** Takes the room that is at hand. If there is none the account has to be asked, whose answer then counts. */
export function roomFor(
  state: QueueState,
  job: Job,
  chars: number,
  post: WorkerPost | null,
  answer: RoomAnswer | null,
): RoomAnswer | { askRoomFor: number } {
  if (chars === 0 || state.takeRoom(chars)) return { refusal: null }
  if (answer === null) return { askRoomFor: chars }
  return answer.refusal !== null && replacesInput(state, job, chars, post) ? { refusal: null } : answer
}

// A completed job's input goes (CTL-2), so a result that is no longer than it takes nothing.
function replacesInput(state: QueueState, { seq }: Job, chars: number, post: WorkerPost | null): boolean {
  if (post?.kind !== 'result' || post.error !== null) return false
  return chars <= (state.payloads.get(seq, INPUT)?.length ?? 0)
}

/** What is kept of a result for which there is no room: that it failed, and why. */
export function withinRefusal({ error }: { error: string | null }, refusal: string): { output: undefined; error: string } {
  const reason = `the result could not be kept: ${refusal}`
  return { output: undefined, error: error === null ? reason : `${error.slice(0, SHOWN_ERROR_CHARS)} (${reason})` }
}
