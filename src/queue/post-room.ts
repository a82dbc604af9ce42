import type { Job } from '../domain/job/job.ts'
import type { WorkerPost } from '../domain/job/worker-post.ts'
import { INPUT, type QueueState } from './state.ts'

/** Storage for the output of workers, from the budget that the account's queues share (WRK-49, adr/0022). */

/** Answer of the account's budget for one post: why there is no room, or null when there is. */
export interface RoomAnswer {
  refusal: string | null
}

/** Characters that the submit of a job has reserved with its rows; a result of at most this length is always stored. */
const PAID_CHARS = 1_024
/** Characters of a job's own error that are shown beside the reason why its output was not stored. */
const SHOWN_ERROR_CHARS = 1_000

/** Characters that a post adds to the queue's storage. */
export function charsToKeep(post: WorkerPost): number {
  if (post.kind === 'progress') return post.output.length
  const chars = (post.output?.length ?? 0) + (post.error?.length ?? 0)
  return chars <= PAID_CHARS ? 0 : chars
}

/** Takes the room from the reserve at hand. Without enough, the account's budget has to be asked; its `answer` then counts. */
export function roomFor(
  state: QueueState,
  job: Job,
  chars: number,
  post: WorkerPost | null,
  answer: RoomAnswer | null,
): RoomAnswer | { storageNeeded: number } {
  if (chars === 0 || state.takeRoom(chars)) return { refusal: null }
  if (answer === null) return { storageNeeded: chars }
  return answer.refusal !== null && replacesInput(state, job, chars, post) ? { refusal: null } : answer
}

// The input of a completed job is removed (CTL-2), so a result of at most its length needs no further room.
function replacesInput(state: QueueState, { seq }: Job, chars: number, post: WorkerPost | null): boolean {
  if (post?.kind !== 'result' || post.error !== null) return false
  return chars <= (state.payloads.get(seq, INPUT)?.length ?? 0)
}

/** Result that is stored when there is no room: a failure with the reason. */
export function withinRefusal({ error }: { error: string | null }, refusal: string): { output: undefined; error: string } {
  const reason = `the result could not be stored: ${refusal}`
  return { output: undefined, error: error === null ? reason : `${error.slice(0, SHOWN_ERROR_CHARS)} (${reason})` }
}
