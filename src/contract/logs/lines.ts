import { z } from 'zod'
import { queryInteger, readDigits } from '../query-values.ts'
import { LogSourceParam } from './stream.ts'

/** Largest and default page, lines (LOG-30). */
export const LINES_MAX = 1_000
const LINES_DEFAULT = 200
const MAX_QUERY_CHARS = 200

const Instant = z.iso.datetime({ offset: true }).optional()

/** Selects lines of a log and the start of a page (LOG-30 to LOG-32). */
export const LogLinesQuery = z.object({
  source: LogSourceParam.optional().meta({ description: 'Only lines of this source.' }),
  q: z
    .string()
    .min(1)
    .max(MAX_QUERY_CHARS)
    .optional()
    .meta({ description: 'Only lines that contain this text, in upper or lower case.', example: 'out of memory' }),
  since: Instant.meta({ description: 'Only lines of this time or later.' }),
  until: Instant.meta({ description: 'Only lines before this time.' }),
  around: z
    .preprocess(readDigits, z.number().int().min(1))
    .optional()
    .meta({ type: 'integer', description: 'The page contains the line with this number and the lines around it.' }),
  cursor: z
    .string()
    .regex(/^[<>]\d{1,15}$/)
    .optional()
    .meta({ description: '`older`, `newer` or `truncatedAt` of another page of this log.', example: '<4001' }),
  limit: queryInteger(1, LINES_MAX, LINES_DEFAULT).meta({ description: 'Maximum number of lines of the page.' }),
})
export type LogLinesQuery = z.infer<typeof LogLinesQuery>

export const LogLine = z
  .object({
    n: z.number().int().min(1).meta({ description: 'Number of the line in this log, from 1 without gaps; `around` selects it.' }),
    id: z.string().meta({ description: 'The id of the line in the stream; `Last-Event-ID` resumes after it.' }),
    ts: z.string().meta({ format: 'date-time', description: "Time of the host's clock, with milliseconds." }),
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
