import { z } from 'zod'

const Time = z.iso.datetime({ offset: true }).nullable().optional()

/** Times at which the platform stops or terminates a pod by itself (POD-60). */
export const deadlineRequestFields = {
  stopAfter: Time.meta({
    description:
      'Time at which the platform stops the pod, as `stop` does; a locked pod when it is unlocked. RFC 3339, in the future. Null: no automatic stop.',
    example: '2030-06-01T18:00:00Z',
  }),
  terminateAfter: Time.meta({
    description:
      'Time at which the platform terminates the pod, even a locked one. RFC 3339, in the future and after `stopAfter`. Null: no automatic termination.',
    example: '2030-06-02T18:00:00Z',
  }),
}
