import type { ScalingDecisionView } from '../../../src/contract/endpoints/scaling-decision.ts'
import type { Why, WhyCode } from '../../../src/contract/explain/explain.ts'
import type { ExplainReply } from '../../../src/contract/jobs/explain.ts'
import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { verdictOfJob } from '../../../src/domain/explain/job.ts'
import { explainJob, workerReason } from '../../../src/domain/job/explain.ts'
import { endedAtMs, type Job } from '../../../src/domain/job/job.ts'
import type { DecisionRecord } from '../../../src/domain/worker/scaling-record.ts'
import { activeWorkers, isThrottled } from '../../../src/domain/worker/worker.ts'
import { answerExplain } from '../../../src/effects/explain/answer.ts'
import { adviseEndpoint, missingFacts, needsHosts, readWorkerInputs } from '../../../src/effects/explain/endpoint.ts'
import { explainPlacement } from '../../../src/effects/explain-placement.ts'
import { logEvent } from '../../../src/platform/log.ts'
import { jobFacts } from '../../../src/queue/queue-notes.ts'
import { occupiedWorkers } from '../../../src/queue/worker-rows.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Commits, Jobs, Outside, Rows } from '../parts.ts'
import { jobNotFound } from '../replies.ts'
import { decideNow, retryAtMs } from './queue-facts.ts'

/** `/explain/<job>` (HLT-6): loads the rows; the domain decides the reason. */
export async function explain(core: Clock & Commits & Jobs & Outside & Rows, call: JobCall): Promise<Response> {
  if (!core.state.decisions.last()) await decideNow(core)
  const job = await core.findJob(call.jobId)
  const decision = core.state.decisions.last()
  if (!job || !decision) return jobNotFound()
  const isQueued = job.state === 'IN_QUEUE'
  const ahead = isQueued ? core.state.jobs.ahead(job) : { normal: 0, low: 0 }
  const facts = jobFacts(core.state, job, ahead)
  const { reason, detail } = explainJob(facts)
  const position = isQueued ? ahead.normal + ahead.low : null
  const common = {
    id: job.id,
    status: job.state,
    position,
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
  const verdict = verdictOfJob({
    ...job,
    finishedAtMs: endedAtMs(job),
    reason,
    detail,
    position,
    counts: facts.workers,
    decision,
    retryAtMs: retryAtMs(core.state),
  })
  const why = await explanationOf(core, job, verdict, reason, decision)
  const placement = isQueued && core.state.workers.all().some(isThrottled) ? await placementOf(core) : null
  const reply: ExplainReply = { ...common, ...(placement && { placement }), ...why }
  return jsonReply(JSON.stringify(reply))
}

/** A scaling decision in its API form. */
export function decisionView({ desired, current, max, reason, atMs, inputs }: DecisionRecord): ScalingDecisionView {
  return { desired, current, max, reason, decidedAt: formatTime(atMs), inputs }
}

/** The explanation in the common form of all explanations, with options that would start the job (WHY-11). */
async function explanationOf(
  core: Clock & Outside & Rows,
  { state }: Pick<Job, 'state'>,
  verdict: ReturnType<typeof verdictOfJob>,
  reason: WhyCode,
  { current, max }: DecisionRecord,
): Promise<Why> {
  const nowMs = core.now()
  const config = core.config()
  const isFull = (reason === 'WORKERS_BUSY' || reason === 'BEHIND_OTHERS') && current >= max
  const cause = isFull ? 'AT_WORKERS_MAX' : reason
  if (state !== 'IN_QUEUE' || !config || !needsHosts(cause)) return answerExplain(core.env, verdict, [], { nowMs })
  try {
    const known = await readWorkerInputs(core.env, config, nowMs)
    const facts = cause === 'NO_CAPACITY' ? [...verdict.facts, ...missingFacts(known)] : verdict.facts
    return await answerExplain(core.env, { ...verdict, facts }, adviseEndpoint(known, cause), { nowMs, asOfMs: known.asOfMs })
  } catch (error) {
    // The reply is useful without the options.
    logEvent('warn', 'what would start a job could not be found', { error })
    return answerExplain(core.env, verdict, [], { nowMs })
  }
}

// The reply is useful without the placement.
async function placementOf(core: Outside & Rows) {
  const config = core.config()
  if (!config) return null
  return explainPlacement(core.env, config).catch((error: unknown) => {
    logEvent('warn', 'placement could not be explained', { error })
    return null
  })
}
