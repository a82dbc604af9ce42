import type { ScalingDecision, ScalingInputs } from './scaling.ts'
import { isThrottled } from './worker.ts'

/** A scaling decision with its inputs, as stored and shown. */
export interface DecisionRecord extends Pick<ScalingDecision, 'desired' | 'current' | 'reason'> {
  atMs: number
  max: number
  started: number
  stopped: number
  inputs: DecisionInputs
}

/** All inputs are integers and texts, so that a user can retrace the decision. */
export interface DecisionInputs {
  scaler: 'QUEUE_DELAY' | 'REQUEST_COUNT'
  /** Seconds, or requests per worker. */
  scalerValue: number
  /** Queued jobs without low priority. */
  queued: number
  /** Running jobs that are not low priority; 0 when the decision did not need the number. */
  running: number
  /** Waiting time of the first queued job, milliseconds; null when the decision did not need it. */
  longestWaitMs: number | null
  /** Counts of workers of the current release. */
  workersBusy: number
  workersStarting: number
  workersThrottled: number
  workersMin: number
  workersMax: number
  release: number
  /** Time until workers may start again after failures, milliseconds; 0 when they may. */
  backoffMs: number
}

/** Makes the record of a decision. */
export function recordDecision(decision: ScalingDecision, inputs: ScalingInputs): DecisionRecord {
  const { policy, workers, held, nowMs } = inputs
  const current = workers.filter((w) => w.version === inputs.version)
  const oldest = inputs.waitingSinceMs.length > 0 ? Math.min(...inputs.waitingSinceMs) : null
  return {
    atMs: nowMs,
    desired: decision.desired,
    current: decision.current,
    max: inputs.max,
    started: decision.start,
    stopped: decision.stop.length,
    reason: decision.reason,
    inputs: {
      scaler: policy.type,
      scalerValue: policy.type === 'QUEUE_DELAY' ? policy.queueDelay : policy.requestCount,
      queued: inputs.queued,
      running: [...inputs.heldNormal.values()].reduce((sum, leases) => sum + leases, 0),
      longestWaitMs: oldest === null ? null : nowMs - oldest,
      workersBusy: current.filter((w) => w.phase === 'READY' && (held.get(w.id) ?? 0) > 0).length,
      workersStarting: current.filter((w) => w.phase === 'STARTING' || (w.phase === 'PLACING' && !isThrottled(w))).length,
      workersThrottled: current.filter(isThrottled).length,
      workersMin: inputs.min,
      workersMax: inputs.max,
      release: inputs.version,
      backoffMs: Math.max(0, inputs.launchNotBeforeMs - nowMs),
    },
  }
}

/** Whether a decision is stored: it starts or stops workers, or its desired number differs from that of the previous one. */
export function isNewDecision(decision: DecisionRecord, before: DecisionRecord | null): boolean {
  return decision.started > 0 || decision.stopped > 0 || decision.desired !== (before?.desired ?? 0)
}
