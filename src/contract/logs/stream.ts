import { z } from 'zod'
import { form } from '../forms.ts'
import { queryInteger } from '../query-values.ts'

/** Most lines that a log retains, and so the largest `tail` (LOG-2). */
export const LOG_TAIL_MAX = 5_000
/** Lines that a request without `tail` gets. */
export const LOG_TAIL_DEFAULT = 100

export const LogSourceParam = z
  .enum(['container', 'system'])
  .meta({ id: 'LogSource', description: '`container`: output of the main process. `system`: actions of the platform.' })
export type LogSourceParam = z.infer<typeof LogSourceParam>

/** Query of a log stream (LOG-2). */
export const LogQuery = z.object({
  source: LogSourceParam.optional().meta({ description: 'Only lines of this source.', param: { name: 'source', in: 'query' } }),
  tail: queryInteger(0, LOG_TAIL_MAX, LOG_TAIL_DEFAULT).meta({
    description: 'Number of newest lines at the start.',
    param: { name: 'tail', in: 'query' },
  }),
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({
      description: 'Start with the first line of this time or later; takes precedence over `tail`.',
      param: { name: 'since', in: 'query' },
    }),
})
export type LogQuery = z.infer<typeof LogQuery>

/** A time, optionally followed by the counter that ids of this server contain (LOG-3). */
const EVENT_ID = form(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)(\/\d{1,15})?$/,
  'a time such as 2026-08-01T12:00:00Z, or the id of an event',
)

/** Header of a log stream (LOG-2). */
export const LogHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .regex(EVENT_ID)
    .refine((id) => !Number.isNaN(Date.parse(id.replace(/\/.*/, ''))), { message: 'is not a date-time' })
    .optional()
    .meta({
      description: 'Resume strictly after this event: its id, or a time. Takes precedence over `since` and `tail`.',
      example: '2026-06-01T12:02:03Z/000000000001',
      param: { name: 'Last-Event-ID', in: 'header' },
    }),
})
