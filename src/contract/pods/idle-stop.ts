import { z } from 'zod'
import { wholeNumber } from '../fields.ts'

/** A minute: a shorter gap between samples is no interruption, so less could not be told from one. */
const MIN_SECONDS = 60
const MAX_SECONDS = 30 * 86_400

/** When a pod that does nothing is stopped (SPD-5). */
export const PodIdleStop = z
  .strictObject({
    afterSeconds: wholeNumber(MIN_SECONDS).max(MAX_SECONDS).meta({
      description:
        'Seconds for which all its GPUs are at 0 %, or its CPU is below 5 % where it has none. What its host did not tell does not count.',
    }),
  })
  .meta({
    id: 'PodIdleStop',
    description: 'The platform stops the pod once it has done nothing for so long.',
    example: { afterSeconds: 1800 },
  })

/** Members of a create and a PATCH. */
export const idleStopRequestFields = {
  idleStop: z
    .union([PodIdleStop, z.null()])
    .optional()
    .meta({ description: 'The platform stops a pod that has done nothing for so long; a locked pod once it is unlocked. Null: never.' }),
}
