import { z } from 'zod'
import { queryFlag } from '../query-values.ts'
import { WhyOptions } from '../why-options.ts'

const usd = (description: string) => z.number().meta({ description, format: 'float' })

export const EndpointPlacementPreview = z
  .object({
    fits: z.boolean().meta({ description: 'Whether a worker would find a place now, and the account may have it.' }),
    dataCenterId: z.string().nullable().meta({ description: 'Where the first worker would go now; null: nowhere.' }),
    cost: usd('USD per hour of a worker: of the one that would start now, else of the cheapest that is asked for.'),
    costAtLeast: usd('USD per hour without work: of `workers.min`.'),
    costAtMost: usd('USD per hour at most: of `workers.max`.'),
    missing: z.array(z.string()).meta({ description: 'What is missing for a worker, if none fits.' }),
    options: WhyOptions,
  })
  .meta({
    id: 'EndpointPlacementPreview',
    description: 'Where a worker of an endpoint would go now, and what it would cost. Nothing is made or reserved.',
    example: {
      fits: false,
      dataCenterId: null,
      cost: 1.1,
      costAtLeast: 0,
      costAtMost: 3.3,
      missing: ['needs 1 free NVIDIA GeForce RTX 4090 (1 of 1 machines)'],
      options: [],
    },
  })
export type EndpointPlacementPreview = z.infer<typeof EndpointPlacementPreview>

export const CreateEndpointQuery = z.object({
  dryRun: queryFlag().meta({
    description: 'Say where a worker would go, or what is missing, and what it costs; make nothing.',
    param: { name: 'dryRun', in: 'query' },
  }),
})
