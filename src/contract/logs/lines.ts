import { z } from 'zod'
import { LogSourceParam } from '../pods/logs.ts'
import { queryInteger, readDigits } from '../query-values.ts'

/** Largest and default page, lines (LOG-30). */
export const LINES_MAX = 1_000
const LINES_DEFAULT = 200
const MAX_QUERY_CHARS = 200

const Instant = z.iso.datetime({ offset: true }).optional()

/** Selects lines of a log and the start of a page (LOG-30 to LOG-32). */
export const LogLinesQuery = z.object({
  source: LogSourceParam.optional().meta({ description: 'Lines of this source only.' }),
  q: z
    .string()
    .min(1)
    .max(MAX_QUERY_CHARS)
    .optional()
    .meta({ description: 'Lines with this text only, in any case.', example: 'out of memory' }),
  since: Instant.meta({ description: 'Lines of this time or later.' }),
  until: Instant.meta({ description: 'Lines before this time.' }),
  around: z
    .preprocess(readDigits, z.number().int().min(1))
    .optional()
    .meta({ type: 'integer', description: 'The number of the line around which the page lies.' }),
  cursor: z
    .string()
    .regex(/^[<>]\d{1,15}$/)
    .optional()
    .meta({ description: '`older`, `newer` or `truncatedAt` of another page of this log.', example: '<4001' }),
  limit: queryInteger(1, LINES_MAX, LINES_DEFAULT).meta({ description: 'Most lines of the page.' }),
})
export type LogLinesQuery = z.infer<typeof LogLinesQuery>

export const LogLine = z
  .object({
    n: z.number().int().min(1).meta({ description: 'Counts the lines of this log from 1, without gaps: `around` finds it again.' }),
    id: z.string().meta({ description: 'As in the stream: `Last-Event-ID` goes on behind it.' }),
    ts: z.string().meta({ format: 'date-time', description: 'Clock of the host, with milliseconds.' }),
    source: LogSourceParam,
    line: z.string(),
  })
  .meta({
    id: 'LogLine',
    example: {
      n: 1,
      id: '2026-06-01T12:02:03Z/000000000001',
      ts: '2026-06-01T12:02:03.120Z',
      source: 'container',
      line: 'loading the model',
    },
  })
export type LogLine = z.infer<typeof LogLine>

export const LogPosition = {
  older: z.string().nullable().meta({ description: 'Cursor of the lines before this page; null: none.' }),
  newer: z.string().meta({ description: 'Cursor of the lines after this page, present or future.' }),
  atEnd: z.boolean().meta({ description: 'Whether this page is the end of the log at present.' }),
  truncatedAt: z
    .string()
    .nullable()
    .meta({ description: 'Cursor to continue a search that reached its limit of lines. Null: the search is complete.' }),
}

export const LogLinesResponse = z.object({ lines: z.array(LogLine).meta({ description: 'Oldest first.' }), ...LogPosition }).meta({
  id: 'LogLinesResponse',
  example: {
    lines: [
      { n: 1, id: '2026-06-01T12:02:03Z/000000000001', ts: '2026-06-01T12:02:03.120Z', source: 'container', line: 'loading the model' },
    ],
    older: null,
    newer: '>1',
    atEnd: true,
    truncatedAt: null,
  },
})
export type LogLinesResponse = z.infer<typeof LogLinesResponse>
