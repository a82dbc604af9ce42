import { z } from 'zod'
import { WhyOptions } from '../explain-options.ts'
import { queryFlag } from '../query-values.ts'

const usd = (description: string) => z.number().meta({ description, format: 'float' })

export const EndpointPlacementPreview = z
  .object({
    fits: z.boolean().meta({ description: 'Whether a worker could be placed now within the limits of the account.' }),
    dataCenterId: z.string().nullable().meta({ description: 'The placement of the first worker now; null: none.' }),
    cost: usd('USD per hour of a worker: of the one that would start now, or of the cheapest allowed one.'),
    costAtLeast: usd('USD per hour without work: of `workers.min`.'),
    costAtMost: usd('USD per hour at most: of `workers.max`.'),
    missing: z.array(z.string()).meta({ description: 'Missing capacity, if no worker fits.' }),
    options: WhyOptions,
  })
  .meta({
    id: 'EndpointPlacementPreview',
    description: 'Placement and price of a worker of an endpoint. Nothing is created or reserved.',
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
    description: 'Return placement, missing capacity and price of a worker, and create nothing.',
    param: { name: 'dryRun', in: 'query' },
  }),
})
