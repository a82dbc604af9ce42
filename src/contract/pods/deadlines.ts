import { z } from 'zod'

const Time = z.iso.datetime({ offset: true }).nullable().optional()

/** Times at which the platform stops or terminates a pod by itself (PP-250). */
export const deadlineRequestFields = {
  stopAfter: Time.meta({
    description:
      'The platform stops the pod then, as `stop` does; a locked pod once it is unlocked. RFC 3339, later than now. Null: never by itself.',
    example: '2030-06-01T18:00:00Z',
  }),
  terminateAfter: Time.meta({
    description:
      'The platform terminates the pod then, also a locked one. RFC 3339, later than now and than `stopAfter`. Null: never by itself.',
    example: '2030-06-02T18:00:00Z',
  }),
}
