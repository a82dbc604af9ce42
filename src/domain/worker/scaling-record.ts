import type { ScalingDecision, ScalingInputs } from './scaling.ts'
import { isThrottled } from './worker.ts'

/** A scaling decision with what it looked at, as it is kept and shown. */
export interface DecisionRecord {
  atMs: number
  desired: number
  current: number
  max: number
  started: number
  stopped: number
  reason: string
  inputs: DecisionInputs
}

/** All integers and texts, so that a person can redo the decision. */
export interface DecisionInputs {
  scaler: 'QUEUE_DELAY' | 'REQUEST_COUNT'
  /** Seconds, or requests a worker. */
  scalerValue: number
  /** Queued jobs that are not low priority. */
  queued: number
  /** Running jobs that are not low priority; known when the decision needed it. */
  running: number
  /** Milliseconds that the first queued job has waited; null when its age did not matter. */
  longestWaitMs: number | null
  /** Of the current release. */
  workersBusy: number
  workersStarting: number
  workersThrottled: number
  workersMin: number
  workersMax: number
  release: number
  /** Starts are held back until then after failures; 0 when they are not. */
  backoffMs: number
}

/** The record of a decision. */
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

/** Whether a decision is worth a row: something starts or stops, or the endpoint is to have another number of workers than before. */
export function isNewDecision(decision: DecisionRecord, before: DecisionRecord | null): boolean {
  return decision.started > 0 || decision.stopped > 0 || decision.desired !== (before?.desired ?? 0)
}
