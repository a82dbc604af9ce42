import { z } from 'zod'
import { JOB_DEFAULTS } from '../defaults.ts'
import { JOB_STATES } from '../enums.ts'
import { form } from '../forms.ts'
import { clampedInteger, queryFlag, queryInteger } from '../query-values.ts'
import { describeIssues } from '../validation-errors.ts'

// Queries and headers of the job API. The endpoint's object parses queries with these schemas, so the document matches its behaviour.

const MIN_TTL_MS = 10_000
const MAX_LIFE_MS = 604_800_000
const MIN_HOLD_MS = 1_000
const MAX_HOLD_MS = 300_000
const MAX_LISTED = 1_000
/** Largest number of an event: the most digits that are read. */
const MAX_EVENT = 999_999_999_999_999

const STATE = `(${JOB_STATES.join('|')})`
const STATES = form(new RegExp(`^${STATE}(,${STATE})*$`), `states of a job, separated by commas: ${JOB_STATES.join(', ')}`)
/** A prefix of a job id. */
const ID_PREFIX = form(/^(sync-)?[0-9A-Fa-f-]{1,41}(-u1?)?$/, 'the beginning of a job id')

/** An optional query parameter that counts as absent when it is empty (JOB-40). */
function unlessEmpty<Schema extends z.ZodType>(schema: Schema, read: (text: string) => string = (text) => text) {
  return z.preprocess((value) => (value === '' ? undefined : typeof value === 'string' ? read(value) : value), schema.optional()).optional()
}

const Moment = z.iso.datetime({ offset: true })

/** Filter of jobs (JOB-40). */
export const JobFilterQuery = z.object({
  status: unlessEmpty(z.string().regex(STATES), tidyStates).meta({
    description: 'Only jobs in these states: one, or several separated by commas.',
    example: 'FAILED,TIMED_OUT',
  }),
  from: unlessEmpty(Moment).meta({ description: 'Created at this time or later.' }),
  to: unlessEmpty(Moment).meta({ description: 'Created before this time.' }),
  id: unlessEmpty(z.string().regex(ID_PREFIX)).meta({
    description: 'Only jobs whose id begins with this text; `sync-` may be omitted.',
    example: 'eaebd6e7',
  }),
})

// Accepts states in any case, and ignores empty items of the list.
function tidyStates(text: string): string {
  const names = text.split(',').filter((name) => name !== '')
  return names.join(',').toUpperCase()
}

/** Page size of `/requests` (HLT-10). */
export const PageSizeQuery = z.object({
  limit: clampedInteger(1, MAX_LISTED, JOB_DEFAULTS.requests).meta({
    description: 'Maximum number of jobs; a value outside the range is clamped.',
  }),
})

export const RequestsQuery = JobFilterQuery.extend({
  cursor: z.string().optional().meta({ description: '`nextCursor` of the previous page.' }),
  ...PageSizeQuery.shape,
})

/** Query of a job's stream (STR-6, STR-10). */
export const StreamQuery = z.object({
  wait: clampedInteger(MIN_HOLD_MS, MAX_HOLD_MS, JOB_DEFAULTS.streamWait).meta({
    description: 'Milliseconds to wait for a chunk; a value outside the range is clamped.',
  }),
  from: queryInteger(0, MAX_EVENT, 0).meta({ description: 'Only for events: the last id received. `Last-Event-ID` takes precedence.' }),
})

/** Query of a call that waits for a job (RUN-4, STA-1). */
export const WaitQuery = z.object({
  wait: clampedInteger(MIN_HOLD_MS, MAX_HOLD_MS, JOB_DEFAULTS.wait).meta({
    description: 'Milliseconds to wait for the job; a value outside the range is clamped.',
  }),
})

/** Query of the series of finished jobs (HLT-12). */
export const SeriesQuery = z.object({
  interval: z.enum(['m', 'h', 'd']).default(JOB_DEFAULTS.interval).meta({ description: 'The last 60 minutes, 24 hours or 7 days.' }),
})

/** Query of a bulk change (JOB-44). */
export const BulkQuery = z.object({ dryRun: queryFlag().meta({ description: 'Returns the plan and changes nothing.' }) })

export const SubmitQuery = z.object({
  ttl: z
    .number()
    .int()
    .min(MIN_TTL_MS)
    .max(MAX_LIFE_MS)
    .optional()
    .meta({ description: 'The same as `policy.ttl`, which takes precedence.' }),
})

/** Headers of a submit (RUN-13). */
export const SubmitHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[!-~]{1,255}$/)
    .optional()
    .meta({
      description: 'Within 24 hours the same request with the same key returns the first job, with `idempotency-replayed: true`.',
      example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
      param: { name: 'Idempotency-Key', in: 'header' },
    }),
})

/** Headers of a job's stream (STR-10). */
export const StreamHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({ description: 'Only for events: resume after this event.', param: { name: 'Last-Event-ID', in: 'header' } }),
})

/** The values of a query, or its first fault. */
export type Read<Schema extends z.ZodType> = { ok: true; values: z.infer<Schema> } | { ok: false; fault: string }

/**
 * Parses a query with a schema. Returns its values, or the first fault with its location (ERR-4). If a name appears twice, the first value
 * counts.
 */
export function readQuery<Schema extends z.ZodObject>(schema: Schema, query: URLSearchParams): Read<Schema> {
  const said = Object.fromEntries(Object.keys(schema.shape).flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : [])))
  const result = schema.safeParse(said)
  if (result.success) return { ok: true, values: result.data }
  return { ok: false, fault: describeIssues(result.error.issues, said)[0] ?? '$: cannot be read' }
}
