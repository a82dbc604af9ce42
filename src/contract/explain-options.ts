import { z } from 'zod'

/**
 * The kind of change that an option makes. `TWO_CHANGES`: no single change would suffice. `STOP`: stops a resource of the account that
 * holds the capacity.
 */
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
  'STOP',
  'TWO_CHANGES',
] as const
export const WhyOptionKind = z.enum(OPTION_KINDS).meta({ id: 'WhyOptionKind', example: 'GPU_TYPE' })
export type WhyOptionKind = z.infer<typeof WhyOptionKind>

export const OPTION_EXAMPLE = {
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
    who: z.enum(['YOU', 'OPERATOR']).meta({ description: 'Who can apply the option.' }),
    call: z
      .union([
        z.object({
          method: z.enum(['POST', 'PATCH', 'PUT']),
          path: z.string(),
          body: z.record(z.string(), z.unknown()),
        }),
        z.null(),
      ])
      .meta({ description: 'The call that applies the option; null: no call is needed.' }),
    pricePerHour: z.number().meta({ description: 'USD per hour of the started workload, its disks included.', format: 'float' }),
    priceDifference: z.number().meta({ description: 'Difference in USD per hour from the request.', format: 'float' }),
    waitSeconds: z.number().int().min(0).nullable().meta({ description: 'Only for `WAIT`: the duration.' }),
    loses: z.string().optional().meta({ description: 'Only for `STOP`: the resource that it stops.' }),
  })
  .meta({ id: 'WhyOption', description: 'A smallest change that would start it now, verified by placement.', example: OPTION_EXAMPLE })
export type WhyOption = z.infer<typeof WhyOption>

/** Most options of one answer. */
export const MAX_OPTIONS = 5

export const OPTIONS_TEXT =
  'The smallest changes that would start it now, the cheapest first and stops last; none while telemetry is stale.'
export const WhyOptions = z.array(WhyOption).max(MAX_OPTIONS).meta({ description: OPTIONS_TEXT })
