import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import type { Holder } from '../../../src/domain/job/job.ts'
import { TAKE_AGAIN_HEADER } from '../../../src/host-protocol/delivery.ts'
import { type Ask, askForWork, collectStops } from '../../../src/queue/polls.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Commits, Waiting } from '../parts.ts'
import { nothing, problemReply } from '../replies.ts'

/** Parts that polls use. */
export type PollParts = Clock & Commits & Waiting

/** How long a poll is held (TMO-5). */
export const HOLD_MS = 25_000
/** A draining worker is about to get its stop signal; a short hold keeps it from polling in a tight loop until then (WRK-29). */
export const DRAINING_HOLD_MS = 1_000
const MAX_BATCH = 1_000

/** `job-take-batch`: like `job-take`, for up to `batch_size` jobs, answered as an array (WRK-11). */
export function takeBatch(core: PollParts, call: JobCall, from: Holder, request: Request): Promise<Response> {
  return take(core, askOf(call, request), from, readBatchSize(call.query.get('batch_size')), true, request.signal)
}

function readBatchSize(text: string | null): number {
  const size = Number(text ?? 1)
  return Number.isInteger(size) && size > 0 ? Math.min(size, MAX_BATCH) : 1
}

/** `job-take`: waits until a job is available or the hold is over. */
export async function takeOne(core: PollParts, call: JobCall, from: Holder, request: Request): Promise<Response> {
  return take(core, askOf(call, request), from, 1, false, request.signal)
}

function askOf(call: JobCall, request: Request): Ask {
  return { idle: call.query.get('job_in_progress') === '0', again: request.headers.has(TAKE_AGAIN_HEADER) }
}

async function take(core: PollParts, ask: Ask, from: Holder, capacity: number, batch: boolean, signal: AbortSignal): Promise<Response> {
  let answer: (body: string | null) => void = () => undefined
  const answered = new Promise<string | null>((resolve) => {
    answer = resolve
  })
  const parked = { ...from, capacity, batch, parkedAtMs: core.now(), answer }
  const verdict = await core
    .transact((tx) => {
      const asked = askForWork(tx, from, ask)
      if (asked === 'waits') core.parking.parkTake(parked)
      return asked
    })
    .catch((error: unknown) => {
      // The commit failed after the take was parked; a job leased to it would reach no worker.
      core.parking.dropTake(parked)
      throw error
    })
  // WRK-7: a worker answers a fast error with a thousand takes per second; 429 is the only reply that makes it back off.
  if (verdict === 'refused') return problemReply('rateLimited', 'this worker does not belong to the endpoint', { 'retry-after': '5' })
  const cancel = core.timers.after(verdict === 'draining' ? DRAINING_HOLD_MS : HOLD_MS, () => answer(null))
  const left = () => answer(null)
  signal.addEventListener('abort', left)
  // LSE-1: a connection that broke before the listener was added has fired its event already.
  if (signal.aborted) left()
  const body = await answered
  cancel()
  signal.removeEventListener('abort', left)
  core.parking.dropTake(parked)
  return body === null ? nothing() : jsonReply(body)
}

/** `job-stop`: waits until a job of this worker has to be stopped (WRK-25). */
export async function stopPoll(core: PollParts, from: Holder, signal: AbortSignal): Promise<Response> {
  const untilMs = core.timers.steadyMs() + HOLD_MS
  for (;;) {
    const poll = await core.transact((tx) => {
      // An order is read once, so a broken connection leaves it to the next poll.
      if (signal.aborted) return { jobIds: [], active: false, woken: null }
      const { jobIds, active } = collectStops(tx, from)
      const leftMs = Math.min(untilMs - core.timers.steadyMs(), active ? HOLD_MS : DRAINING_HOLD_MS)
      const over = jobIds.length > 0 || leftMs <= 0
      // Registered inside the transaction: a stop order of the same commit is announced before this operation's result arrives.
      const woken = over ? null : core.parking.waitForStop(from.workerId, leftMs, signal)
      return { jobIds, active, woken }
    })
    if (poll.jobIds.length > 0) return jsonReply(JSON.stringify({ jobsToStop: poll.jobIds }))
    if (poll.woken === null) return nothing()
    const outcome = await poll.woken
    // A later poll of the same worker replaced this one, whose connection is dead.
    if (outcome === 'displaced' || !poll.active) return nothing()
  }
}
