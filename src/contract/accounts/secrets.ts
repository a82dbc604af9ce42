import { z } from 'zod'

/** Position at which the resealing of all stored secrets continues. */
export const ResealRequest = z
  .strictObject({
    cursor: z.string().max(200).optional().meta({ description: '`nextCursor` of the step before; without it the walk begins.' }),
  })
  .meta({ id: 'ResealRequest', example: {} })

export const ResealResponse = z
  .object({
    step: z.string().meta({ description: 'What this step looked at.' }),
    looked: z.number().int().meta({ description: 'Rows or objects that it looked at.' }),
    resealed: z.number().int().meta({ description: 'How many of them it wrote.' }),
    failed: z.array(z.string()).meta({ description: 'What could not be sealed anew: see the log of the plane.' }),
    nextCursor: z.string().nullable().meta({ description: 'Null when everything has been looked at.' }),
  })
  .meta({ id: 'ResealResponse', example: { step: 'pods', looked: 100, resealed: 3, failed: [], nextCursor: 'pods/7q1w3e4k8h2m9x' } })
export type ResealResponse = z.infer<typeof ResealResponse>
