import { z } from 'zod'
import { Timestamp } from '../fields.ts'

const Count = z.number().int().min(0)

const INPUTS = {
  scaler: 'QUEUE_DELAY',
  scalerValue: 4,
  queued: 2,
  running: 1,
  longestWaitMs: 4100,
  workersBusy: 1,
  workersStarting: 0,
  workersThrottled: 0,
  workersMin: 0,
  workersMax: 3,
  release: 1,
  backoffMs: 0,
}

export const ScalingInputsView = z
  .object({
    scaler: z.enum(['QUEUE_DELAY', 'REQUEST_COUNT']),
    scalerValue: z.number().meta({ description: 'Seconds, or requests a worker.' }),
    queued: Count.meta({ description: 'Queued jobs without low priority.' }),
    running: Count.meta({ description: 'Running jobs that are not low priority; 0 when the decision did not need them.' }),
    longestWaitMs: Count.nullable().meta({ description: 'The longest wait of the queued jobs that counted; null if none counted.' }),
    workersBusy: Count,
    workersStarting: Count,
    workersThrottled: Count,
    workersMin: Count,
    workersMax: Count,
    release: Count,
    backoffMs: Count.meta({ description: 'Backoff of starts after failures.' }),
  })
  .meta({
    id: 'ScalingInputs',
    example: INPUTS,
  })

/** Example of a scaling decision. */
export const DECISION_EXAMPLE = {
  desired: 2,
  current: 1,
  max: 3,
  reason: 'jobs have waited for 4 s',
  decidedAt: '2026-06-01T12:00:00Z',
  inputs: INPUTS,
}

/** One decision of an endpoint's scaler. */
export const ScalingDecisionView = z
  .object({
    desired: Count.meta({ description: 'Desired number of workers of the current release.' }),
    current: Count.meta({ description: 'Current number of workers: placing, starting or ready.' }),
    max: Count,
    reason: z.string(),
    decidedAt: Timestamp,
    inputs: ScalingInputsView,
  })
  .meta({ id: 'ScalingDecision', example: DECISION_EXAMPLE })
export type ScalingDecisionView = z.infer<typeof ScalingDecisionView>
