import type { CommitEnd } from '../../../src/queue/commit.ts'
import type { Effects } from '../../../src/queue/tx.ts'
import type { Channels, Outboxes, Serving } from '../parts.ts'
import { answerTake, type TakeReplies } from '../worker/take-replies.ts'
import { notifyOfCapacity } from './capacity-effects.ts'
import { runWorkerEffects, type WorkerCalls } from './worker-effects.ts'

/** Performs the effects of a commit: replies to waiting requests and external calls. */
export function performEffects(
  core: Channels & Outboxes & Serving & TakeReplies & WorkerCalls,
  effects: Effects,
  { taken }: CommitEnd,
): void {
  for (const reply of taken) answerTake(core, reply)
  for (const id of effects.releasedTakes) core.parking.releaseTake(id)
  for (const id of effects.stopPolls) core.parking.wakeStopPoll(id)
  if (effects.recalls.size > 0) core.channelHosts.recall(effects.recalls, (id) => core.state.workers.get(id)?.hostId ?? null)
  for (const seq of effects.changedJobs) core.parking.notifyJob(seq, effects.expiredJobs.get(seq) ?? null)
  if (effects.scale) {
    runWorkerEffects(core)
    core.slots.grant()
  }
  for (const id of effects.capacitySeekers) void notifyOfCapacity(core.env, id)
  void core.outbox.drain()
  void core.audit.drain()
}
