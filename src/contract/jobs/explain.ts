import { z } from 'zod'
import { DECISION_EXAMPLE, ScalingDecisionView } from '../endpoints/scaling-decision.ts'
import { WorkerStatus } from '../endpoints/workers.ts'
import { WHY_EXAMPLE, whyFields } from '../explain/explain.ts'
import { JobStatus } from './jobs.ts'

export const WaitReason = z
  .enum([
    'NEXT',
    'BEHIND_OTHERS',
    'WORKER_STARTING',
    'WORKERS_BUSY',
    'WORKERS_UNHEALTHY',
    'NO_CAPACITY',
    'SCALED_TO_ZERO_BY_CONFIG',
    'LOW_PRIORITY',
    'RUNNING',
    'FINISHED',
  ])
  .meta({ id: 'WaitReason', example: 'NO_CAPACITY' })
export type WaitReason = z.infer<typeof WaitReason>

const Count = z.number().int().min(0)

const VERDICT = { hostId: 'host_4f1c0a9d2b7e6835', fits: false, failed: ['needs 1 free NVIDIA H200'] }

export const HostVerdict = z
  .object({
    hostId: z.string().meta({ description: 'An alias of a machine, for this account only.' }),
    fits: z.boolean(),
    failed: z.array(z.string()).meta({ description: 'The constraints that the machine violates, for the nearest offer.' }),
  })
  .meta({ id: 'HostVerdict', example: VERDICT })
export type HostVerdict = z.infer<typeof HostVerdict>

/** The explanation of a job (HLT-6). */
export const ExplainReply = z
  .object({
    id: z.string(),
    status: JobStatus,
    position: Count.nullable().meta({ description: 'Jobs that are taken before this one; null when it is not queued.' }),
    reason: WaitReason,
    detail: z.string(),
    ahead: z.object({ normal: Count, low: Count }),
    workers: z.array(z.object({ id: z.string(), status: WorkerStatus, reason: z.string() })),
    scaling: ScalingDecisionView,
    placement: z.array(HostVerdict).optional().meta({ description: 'Present if a worker is needed and no host has capacity.' }),
    ...whyFields,
  })
  .meta({
    id: 'ExplainReply',
    description: 'The explanation of the state of a job.',
    example: {
      id: 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1',
      status: 'IN_QUEUE',
      position: 0,
      reason: 'NO_CAPACITY',
      detail: 'no host has room: needs 1 free NVIDIA H200',
      ahead: { normal: 0, low: 0 },
      workers: [{ id: 'z3jr9rv2k3tt2y', status: 'THROTTLED', reason: 'no host has room' }],
      scaling: DECISION_EXAMPLE,
      placement: [VERDICT],
      ...WHY_EXAMPLE,
    },
  })
export type ExplainReply = z.infer<typeof ExplainReply>
