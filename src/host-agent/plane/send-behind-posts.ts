import type { WorkloadReport } from '../../host-protocol/messages.ts'
import type { Relay } from '../relay/relay.ts'
import type { ReportQueueOptions } from './report-queue.ts'

const ENDS: ReadonlySet<WorkloadReport['state']> = new Set(['exited', 'error', 'gone'])

/**
 * Sends the report of a worker's end only after its posts are delivered (HOST-25): a plane that received the end before the result would
 * consider the result lost and run the job again.
 */
export function sendBehindPosts(send: ReportQueueOptions['send'], relays: readonly Pick<Relay, 'delivered'>[]): ReportQueueOptions['send'] {
  return async (reports) => {
    const ended = new Set(reports.filter(({ state }) => ENDS.has(state)).map(({ workloadId }) => workloadId))
    if (ended.size > 0) await Promise.all(relays.map((relay) => relay.delivered(ended)))
    return await send(reports)
  }
}
