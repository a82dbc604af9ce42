import type { ExplainReply, ScalingDecisionView } from '../../../src/contract/jobs/explain.ts'
import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { explainJob, workerReason } from '../../../src/domain/job/explain.ts'
import type { DecisionRecord } from '../../../src/domain/worker/scaling-record.ts'
import { activeWorkers, isThrottled } from '../../../src/domain/worker/worker.ts'
import { explainPlacement } from '../../../src/effects/explain-placement.ts'
import { jsonReply } from '../../../src/objects/plain-reply.ts'
import { logEvent } from '../../../src/platform/log.ts'
import { jobFacts } from '../../../src/queue/queue-notes.ts'
import { occupiedWorkers } from '../../../src/queue/workers/worker-rows.ts'
import type { EndpointCore } from '../core.ts'
import { jobNotFound } from '../replies.ts'

/** `/explain/<job>` (HLT-6): loads the rows; the reason is decided in the domain. */
export async function explain(core: EndpointCore, call: JobCall): Promise<Response> {
  // The last decision is kept in memory, so an object that has just woken makes one first.
  if (!core.state.decisions.last()) await decideNow(core)
  const job = await core.findJob(call.jobId)
  const decision = core.state.decisions.last()
  if (!job || !decision) return jobNotFound()
  const isQueued = job.state === 'IN_QUEUE'
  const ahead = isQueued ? core.state.jobs.ahead(job) : { normal: 0, low: 0 }
  const { reason, detail } = explainJob(jobFacts(core.state, job, ahead))
  const reply: ExplainReply = {
    id: job.id,
    status: job.state,
    position: isQueued ? ahead.normal + ahead.low : null,
    reason,
    detail,
    ahead,
    workers: activeWorkers(core.state.workers.all(), occupiedWorkers(core.state)).map((active) => ({
      id: active.worker.id,
      status: active.status,
      reason: workerReason(active),
    })),
    scaling: decisionView(decision),
  }
  const placement = isQueued && core.state.workers.all().some(isThrottled) ? await placementOf(core) : null
  return jsonReply(JSON.stringify(placement ? { ...reply, placement } : reply))
}

/** A decision as it is shown. */
export function decisionView({ desired, current, max, reason, atMs, inputs }: DecisionRecord): ScalingDecisionView {
  return { desired, current, max, reason, decidedAt: formatTime(atMs), inputs }
}

function decideNow(core: EndpointCore): Promise<void> {
  return core.transact(({ effects }) => {
    effects.scale = true
  })
}

// The rest of the answer is worth having without it.
async function placementOf(core: EndpointCore) {
  const config = core.config()
  if (!config) return null
  return explainPlacement(core.env, config).catch((error: unknown) => {
    logEvent('warn', 'placement could not be explained', { error })
    return null
  })
}
