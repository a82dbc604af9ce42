import { z } from 'zod'
import { OPTION_EXAMPLE, WhyOptions } from '../explain-options.ts'
import { Timestamp } from '../fields.ts'
import { PodStatus } from '../pods/pod-parts.ts'

export type { WhyOption } from '../explain-options.ts'

/** All causes that an explanation names; each has one meaning for every kind of resource (WHY-1). */
export const WHY_CODES = [
  // No problem.
  'RUNNING',
  'FINISHED',
  'NEXT',
  'IDLE',
  // In progress.
  'PREPARING',
  'WORKER_STARTING',
  'WAITS_FOR_CLUSTER',
  'SCALING_DELAY',
  // Waiting.
  'BEHIND_OTHERS',
  'WORKERS_BUSY',
  'AT_WORKERS_MAX',
  'LOW_PRIORITY',
  'NO_CAPACITY',
  'HOST_UNAVAILABLE',
  'HOST_SILENT',
  'HOST_LOST',
  // Caused by a setting or a limit.
  'SCALED_TO_ZERO_BY_CONFIG',
  'STOPPED',
  'SPEND_LIMIT',
  'QUOTA',
  // Ended or failed.
  'ENDED',
  'FAILED',
  'WORKERS_UNHEALTHY',
] as const
export const WhyCode = z.enum(WHY_CODES).meta({ id: 'WhyCode', example: 'NO_CAPACITY' })
export type WhyCode = z.infer<typeof WhyCode>

export const WhyEvidence = z
  .object({
    kind: z.enum(['STATE', 'QUEUE', 'WORKERS', 'SCALER', 'CONSTRAINT', 'LIMIT', 'RETRY']),
    text: z.string(),
    count: z
      .number()
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'For a `CONSTRAINT`: number of hosts that violate it. For others: the number.' }),
    total: z.number().int().min(0).nullable().meta({ description: 'The total that `count` is a part of.' }),
    at: Timestamp.nullable().meta({ description: 'The time of the fact; it may be in the future.' }),
  })
  .meta({
    id: 'WhyEvidence',
    description: 'One fact behind the verdict.',
    example: { kind: 'CONSTRAINT', text: 'needs 1 free NVIDIA L4', count: 3, total: 4, at: null },
  })
export type WhyEvidence = z.infer<typeof WhyEvidence>

/** The members of every explanation (WHY-1). */
export const whyFields = {
  code: WhyCode,
  verdict: z.string().meta({ description: 'One sentence for a person.' }),
  since: Timestamp.nullable().meta({ description: 'Since when the verdict applies; null: unknown.' }),
  sinceMs: z.number().int().min(0).nullable().meta({ description: 'For how long, milliseconds.' }),
  evidence: z.array(WhyEvidence),
  options: WhyOptions,
  asOf: Timestamp.meta({ description: 'When the capacity of hosts was read.' }),
  isStale: z.boolean().meta({ description: 'Whether a host behind this explanation is silent.' }),
}

const WHY = {
  code: 'NO_CAPACITY' as const,
  verdict: 'The pod is stopped, and its host machine has no capacity to start it: needs 1 free NVIDIA L4.',
  since: '2026-06-01T12:00:00Z',
  sinceMs: 41_000,
  evidence: [{ kind: 'CONSTRAINT' as const, text: 'needs 1 free NVIDIA L4', count: 1, total: 1, at: null }],
  options: [OPTION_EXAMPLE],
  asOf: '2026-06-01T12:00:41Z',
  isStale: false,
}
export const WHY_EXAMPLE = WHY

const Why = z.object(whyFields)
export type Why = z.infer<typeof Why>

export const PodExplanation = z.object({ id: z.string(), status: PodStatus, ...whyFields }).meta({
  id: 'PodExplanation',
  description: 'The explanation of the state of a pod, and options to start it.',
  example: { id: '7h9k2m4n6p8q1r', status: 'EXITED', ...WHY },
})
export type PodExplanation = z.infer<typeof PodExplanation>

const ENDPOINT_OPTION = {
  ...OPTION_EXAMPLE,
  summary: 'allow GPUs of AMPERE_24 too',
  call: {
    method: 'PATCH' as const,
    path: '/v2/serverless/4k8h2m9x7q1w3e',
    body: { gpu: { pools: ['ADA_24', 'AMPERE_24'], excludedTypes: [] } },
  },
}

export const EndpointExplanation = z.object({ id: z.string(), ...whyFields }).meta({
  id: 'EndpointExplanation',
  description: 'The explanation of the workers of an endpoint, and options to start another one.',
  example: { id: '4k8h2m9x7q1w3e', ...WHY, verdict: 'A worker is needed, but no host has capacity for it.', options: [ENDPOINT_OPTION] },
})
export type EndpointExplanation = z.infer<typeof EndpointExplanation>

export const ClusterExplanation = z.object({ id: z.string(), ...whyFields }).meta({
  id: 'ClusterExplanation',
  description: 'Explain the state of a cluster.',
  example: {
    id: '4q8w2e6r1t5y9u',
    ...WHY,
    code: 'PREPARING',
    verdict: '1 of 3 members are placed but not ready; all members start together when they can reach one another.',
    evidence: [{ kind: 'STATE' as const, text: 'STARTING', count: 1, total: 3, at: null }],
    options: [],
  },
})
export type ClusterExplanation = z.infer<typeof ClusterExplanation>
