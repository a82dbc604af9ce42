import type { WorkloadReport } from '../host-protocol/messages.ts'
import type { Relay } from './relay.ts'
import type { ReportQueueOptions } from './report-queue.ts'

/** How long the end of a worker waits for what that worker posted; a report must not wait for ever behind a post that the plane cannot take. */
const BEHIND_POSTS_MS = 3_000
const ENDS: ReadonlySet<WorkloadReport['state']> = new Set(['exited', 'error', 'gone'])

/**
 * Reports go out behind the posts of the workers that they are about (HOST-25): a plane that hears of a worker's end before its result would take
 * the result for lost and run the job again.
 */
export function sendBehindPosts(send: ReportQueueOptions['send'], relays: readonly Pick<Relay, 'settled'>[]): ReportQueueOptions['send'] {
  return async (reports) => {
    const ended = new Set(reports.filter(({ state }) => ENDS.has(state)).map(({ workloadId }) => workloadId))
    if (ended.size > 0) await Promise.all(relays.map((relay) => relay.settled(ended, BEHIND_POSTS_MS)))
    return await send(reports)
  }
}
