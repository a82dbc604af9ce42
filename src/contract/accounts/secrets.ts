import { z } from 'zod'

/** Position at which the resealing of all stored secrets continues. */
export const ResealRequest = z
  .strictObject({
    cursor: z.string().max(200).optional().meta({ description: '`nextCursor` of the previous step; without it the operation starts.' }),
  })
  .meta({ id: 'ResealRequest', example: {} })

export const ResealResponse = z
  .object({
    step: z.string().meta({ description: 'The kind of data that this step processed.' }),
    looked: z.number().int().meta({ description: 'Number of rows or objects that the step read.' }),
    resealed: z.number().int().meta({ description: 'Number of them that the step wrote.' }),
    failed: z.array(z.string()).meta({ description: 'Items that could not be resealed: see the log of the plane.' }),
    nextCursor: z.string().nullable().meta({ description: 'Null when all data is processed.' }),
  })
  .meta({ id: 'ResealResponse', example: { step: 'pods', looked: 100, resealed: 3, failed: [], nextCursor: 'pods/7q1w3e4k8h2m9x' } })
export type ResealResponse = z.infer<typeof ResealResponse>
