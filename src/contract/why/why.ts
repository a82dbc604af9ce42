import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { PodStatus } from '../pods/pod-parts.ts'

/** Every cause that an explanation names; each has one meaning, whatever it is about (WHY-1). */
export const WHY_CODES = [
  // Nothing is the matter.
  'RUNNING',
  'FINISHED',
  'NEXT',
  'IDLE',
  // It is on its way.
  'PREPARING',
  'WORKER_STARTING',
  'WAITS_FOR_CLUSTER',
  'SCALING_DELAY',
  // It waits.
  'BEHIND_OTHERS',
  'WORKERS_BUSY',
  'AT_WORKERS_MAX',
  'LOW_PRIORITY',
  'NO_CAPACITY',
  'HOST_UNAVAILABLE',
  'HOST_SILENT',
  'HOST_LOST',
  // Somebody has said so.
  'SCALED_TO_ZERO_BY_CONFIG',
  'STOPPED',
  'SPEND_LIMIT',
  'QUOTA',
  // It went wrong.
  'ENDED',
  'FAILED',
  'WORKERS_UNHEALTHY',
] as const
export const WhyCode = z.enum(WHY_CODES).meta({ id: 'WhyCode', example: 'NO_CAPACITY' })
export type WhyCode = z.infer<typeof WhyCode>

/** What an option changes. `TWO_CHANGES`: no single one would do. */
export const OPTION_KINDS = [
  'START',
  'RECREATE',
  'GPU_TYPE',
  'GPU_COUNT',
  'CPU_SIZE',
  'DATA_CENTER',
  'CLOUD',
  'DISK',
  'VOLUME',
  'MEMORY',
  'VCPU',
  'CUDA',
  'GLOBAL_NETWORKING',
  'POD_COUNT',
  'WORKERS_MAX',
  'WORKERS_MIN',
  'SPEND_LIMIT',
  'QUOTA',
  'UNCORDON',
  'WAIT',
  'TWO_CHANGES',
] as const
export const WhyOptionKind = z.enum(OPTION_KINDS).meta({ id: 'WhyOptionKind', example: 'GPU_TYPE' })
export type WhyOptionKind = z.infer<typeof WhyOptionKind>

export const WhyEvidence = z
  .object({
    kind: z.enum(['STATE', 'QUEUE', 'WORKERS', 'SCALER', 'CONSTRAINT', 'LIMIT', 'RETRY']),
    text: z.string(),
    count: z.number().int().min(0).nullable().meta({ description: 'Of a `CONSTRAINT`: hosts that lack it. Of others: how many.' }),
    total: z.number().int().min(0).nullable().meta({ description: 'Out of so many.' }),
    at: Timestamp.nullable().meta({ description: 'When it was, or will be.' }),
  })
  .meta({
    id: 'WhyEvidence',
    description: 'One fact that the verdict rests on.',
    example: { kind: 'CONSTRAINT', text: 'needs 1 free NVIDIA L4', count: 3, total: 4, at: null },
  })
export type WhyEvidence = z.infer<typeof WhyEvidence>

const OPTION = {
  kind: 'GPU_TYPE' as const,
  summary: 'use NVIDIA RTX A5000',
  who: 'YOU' as const,
  call: { method: 'POST' as const, path: '/v2/pods', body: { name: 'p', image: 'acme/idle:1', gpu: { id: 'NVIDIA RTX A5000' } } },
  pricePerHour: 0.36,
  priceDifference: -0.08,
  waitSeconds: null,
}

export const WhyOption = z
  .object({
    kind: WhyOptionKind,
    summary: z.string(),
    who: z.enum(['YOU', 'OPERATOR']).meta({ description: 'Who can do it.' }),
    call: z
      .union([
        z.object({
          method: z.enum(['POST', 'PATCH', 'PUT']),
          path: z.string(),
          body: z.record(z.string(), z.unknown()),
        }),
        z.null(),
      ])
      .meta({ description: 'The call that does it; null: nothing is to be sent by you.' }),
    pricePerHour: z.number().meta({ description: 'USD per hour of what starts, its disks included.', format: 'float' }),
    priceDifference: z.number().meta({ description: 'USD per hour, against what was asked for.', format: 'float' }),
    waitSeconds: z.number().int().min(0).nullable().meta({ description: 'Of `WAIT`: for how long.' }),
  })
  .meta({ id: 'WhyOption', description: 'A smallest change that would start it now, as placement itself says.', example: OPTION })
export type WhyOption = z.infer<typeof WhyOption>

/** Most options of one answer. */
export const MAX_OPTIONS = 5

export const OPTIONS_TEXT = 'The smallest changes that would start it now, the cheapest first; none while telemetry is stale.'
export const WhyOptions = z.array(WhyOption).max(MAX_OPTIONS).meta({ description: OPTIONS_TEXT })

/** The members of every explanation (WHY-1). */
export const whyFields = {
  code: WhyCode,
  verdict: z.string().meta({ description: 'One sentence for a person.' }),
  since: Timestamp.nullable().meta({ description: 'Since when it is so; null when nobody knows.' }),
  sinceMs: z.number().int().min(0).nullable().meta({ description: 'For how long, milliseconds.' }),
  evidence: z.array(WhyEvidence),
  options: WhyOptions,
  asOf: Timestamp.meta({ description: 'When the capacity of hosts was looked at.' }),
  isStale: z.boolean().meta({ description: 'A host that this rests on has not been heard of lately.' }),
}

const WHY = {
  code: 'NO_CAPACITY' as const,
  verdict: 'The pod is stopped, and its machine has no room to start it: needs 1 free NVIDIA L4.',
  since: '2026-06-01T12:00:00Z',
  sinceMs: 41_000,
  evidence: [{ kind: 'CONSTRAINT' as const, text: 'needs 1 free NVIDIA L4', count: 1, total: 1, at: null }],
  options: [OPTION],
  asOf: '2026-06-01T12:00:41Z',
  isStale: false,
}
export const WHY_EXAMPLE = WHY

const Why = z.object(whyFields)
export type Why = z.infer<typeof Why>

export const PodExplanation = z.object({ id: z.string(), status: PodStatus, ...whyFields }).meta({
  id: 'PodExplanation',
  description: 'Why a pod is where it is, and what would start it.',
  example: { id: '7h9k2m4n6p8q1r', status: 'EXITED', ...WHY },
})
export type PodExplanation = z.infer<typeof PodExplanation>

const ENDPOINT_OPTION = {
  ...OPTION,
  summary: 'allow GPUs of AMPERE_24 too',
  call: {
    method: 'PATCH' as const,
    path: '/v2/serverless/4k8h2m9x7q1w3e',
    body: { gpu: { pools: ['ADA_24', 'AMPERE_24'], excludedTypes: [] } },
  },
}

export const EndpointExplanation = z.object({ id: z.string(), ...whyFields }).meta({
  id: 'EndpointExplanation',
  description: 'Why an endpoint has the workers that it has, and what would start another.',
  example: { id: '4k8h2m9x7q1w3e', ...WHY, verdict: 'A worker is wanted, and no host has room for it.', options: [ENDPOINT_OPTION] },
})
export type EndpointExplanation = z.infer<typeof EndpointExplanation>
