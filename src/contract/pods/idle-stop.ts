import { z } from 'zod'
import { wholeNumber } from '../fields.ts'

/** At least a minute: a gap of that length between samples is not yet an interruption, so a shorter idle time could not be measured. */
const MIN_SECONDS = 60
const MAX_SECONDS = 30 * 86_400

/** Stops a pod that has been idle for some time (SPD-5). */
export const PodIdleStop = z
  .strictObject({
    afterSeconds: wholeNumber(MIN_SECONDS).max(MAX_SECONDS).meta({
      description:
        'Idle time in seconds: all GPUs at 0 %, or the CPU below 5 % without GPUs. Times without reports of its host do not count.',
    }),
  })
  .meta({
    id: 'PodIdleStop',
    description: 'The platform stops the pod after this idle time.',
    example: { afterSeconds: 1800 },
  })

/** The same member for a create and a PATCH. */
export const idleStopRequestFields = {
  idleStop: z
    .union([PodIdleStop, z.null()])
    .optional()
    .meta({ description: 'The platform stops the pod after this idle time; a locked pod when it is unlocked. Null: never.' }),
}
