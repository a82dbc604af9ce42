import { z } from 'zod'
import type { LogHeaders, LogQuery } from '../../contract/logs/stream.ts'
import { EVENT_STREAM_HEADERS } from '../../domain/text/sse.ts'
import type { LogReading } from '../../services/logs/follow-log.ts'
import type { AppContext } from '../app-env.ts'
import { credentialOf } from '../callers/console-credential.ts'
import { ok, RATE_HEADERS } from '../openapi/rest-components.ts'
import { watchedByKey } from '../watched/watched-stream.ts'

// Shared parts of the log routes (LOG-1 to LOG-6).

const EVENTS = z.string().meta({
  description: 'Server-sent events, one per line of the log; comments while there are no lines.',
  example: 'id: 2026-06-01T12:02:03Z/000000000001\ndata: {"ts":"2026-06-01T12:02:03Z","source":"container","line":"loading the model"}\n\n',
})

/** Headers of a log stream (LOG-1). */
const STREAM_HEADERS = { ...EVENT_STREAM_HEADERS, connection: 'keep-alive' }
const text = (example: string) => ({ schema: { type: 'string' as const }, example })
const DOCUMENTED_HEADERS = {
  ...RATE_HEADERS,
  'Cache-Control': text(STREAM_HEADERS['cache-control']),
  Connection: text(STREAM_HEADERS.connection),
  'X-Accel-Buffering': text(STREAM_HEADERS['x-accel-buffering']),
}

/** Responses that a log stream's route documents. */
export const LOG_RESPONSES = {
  200: { description: 'The stream.', headers: DOCUMENTED_HEADERS, content: { 'text/event-stream': { schema: EVENTS } } },
}

/** Answers of a page of lines, of one log (LOG-30) or of all workers of an endpoint (LOG-34). */
export const linesAnswers = <Schema extends z.ZodType>(schema: Schema) => ({ responses: { 200: ok('The page.', schema) }, problems: [503] })

export const LINES_TEXT =
  '`older` and `newer` are the cursors of the adjacent pages. `q`, `source`, `since` and `until` select lines. ' +
  'A search reads 10,000 lines at a time; `truncatedAt` continues it.'

/** Builds the parameters of a log read from validated parts of a request. */
export function readingOf(query: LogQuery, headers: z.infer<typeof LogHeaders>, { signal }: Request): LogReading {
  return { query, lastEventId: headers['Last-Event-ID'], signal }
}

/** Returns the answer that streams a log, for as long as the reader's key is valid. */
export function logResponse(c: AppContext, body: ReadableStream): Response {
  return watchedByKey(new Response(body, { headers: STREAM_HEADERS }), c.env, credentialOf(c.req.raw), c.var.principal)
}
