import type { ExplainReply, ScalingDecisionView } from '../../../src/contract/explain.ts'
import type { JobCall } from '../../../src/contract/job-routes.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { explainJob, findTrouble, type JobFacts, workerReason } from '../../../src/domain/job/explain.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import type { QueueNote } from '../../../src/domain/job/record.ts'
import type { DecisionRecord } from '../../../src/domain/worker/scaling-record.ts'
import { activeWorkers, countWorkers, isThrottled } from '../../../src/domain/worker/worker.ts'
import { explainPlacement } from '../../../src/effects/explain-placement.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { EndpointCore } from '../core.ts'
import { jobNotFound, jsonReply } from '../replies.ts'

/** `/explain/<job>` (HLT-6): loads the rows; the reason is decided in the domain. */
export async function explain(core: EndpointCore, call: JobCall): Promise<Response> {
  // The last decision is kept in memory, so an object that has just woken makes one first.
  if (!core.decisions.last()) await decideNow(core)
  const job = await core.findJob(call.jobId)
  const decision = core.decisions.last()
  if (!job || !decision) return jobNotFound()
  const isQueued = job.state === 'IN_QUEUE'
  const ahead = isQueued ? core.jobs.ahead(job) : { normal: 0, low: 0 }
  const { reason, detail } = explainJob(factsOf(core, job, ahead))
  const reply: ExplainReply = {
    id: job.id,
    status: job.state,
    position: isQueued ? ahead.normal + ahead.low : null,
    reason,
    detail,
    ahead,
    workers: activeWorkers(core.workers.all(), core.occupied()).map((active) => ({
      id: active.worker.id,
      status: active.status,
      reason: workerReason(active),
    })),
    scaling: decisionView(decision),
  }
  const placement = isQueued && core.workers.all().some(isThrottled) ? await placementOf(core) : null
  return jsonReply(JSON.stringify(placement ? { ...reply, placement } : reply))
}

/** STA-2: why jobs of one priority wait, or nothing when a worker is about to take them. Derived once per commit, not per call. */
export function queueNote(core: EndpointCore, lowPriority: boolean): QueueNote | undefined {
  let known = notes.get(core)
  if (known?.generation !== core.generation) {
    known = { generation: core.generation, byPriority: new Map() }
    notes.set(core, known)
  }
  if (!known.byPriority.has(lowPriority)) known.byPriority.set(lowPriority, deriveNote(core, lowPriority))
  return known.byPriority.get(lowPriority)
}

const notes = new WeakMap<EndpointCore, { generation: number; byPriority: Map<boolean, QueueNote | undefined> }>()

function deriveNote(core: EndpointCore, lowPriority: boolean): QueueNote | undefined {
  const ahead = { normal: lowPriority ? core.jobs.queuedNormal : 0, low: 0 }
  const facts = factsOf(core, { state: 'IN_QUEUE', lowPriority }, ahead)
  const { cause } = explainJob(facts)
  return cause === null ? undefined : { reason: cause, workers: facts.workers }
}

/** A decision as it is shown. */
export function decisionView({ desired, current, max, reason, atMs, inputs }: DecisionRecord): ScalingDecisionView {
  return { desired, current, max, reason, decidedAt: formatTime(atMs), inputs }
}

function factsOf(core: EndpointCore, { state, lowPriority }: Pick<Job, 'state' | 'lowPriority'>, ahead: JobFacts['ahead']): JobFacts {
  const workers = core.workers.all()
  const counts = countWorkers(workers, core.occupied())
  return { state, lowPriority, ahead, workers: counts, trouble: findTrouble(workers), max: core.config()?.workers.max ?? 0 }
}

function decideNow(core: EndpointCore): Promise<void> {
  return core.transact((effects) => {
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
