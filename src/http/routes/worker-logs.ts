import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { LogHeaders, LogQuery } from '../../contract/logs.ts'
import { EVENT_STREAM_HEADERS } from '../../domain/sse.ts'
import { followWorkerLog } from '../../services/worker-logs.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { needsScope } from '../middleware/scope.ts'
import { problemResponses } from '../openapi-app.ts'
import { BEARER, RATE_HEADERS } from '../rest-components.ts'

const EVENTS = z.string().meta({
  description: 'Server-sent events, one a line of the log; comments while it is silent.',
  example: 'id: 2026-06-01T12:02:03Z/000000000001\ndata: {"ts":"2026-06-01T12:02:03Z","source":"container","line":"loading the model"}\n\n',
})

/** LOG-1. */
const STREAM_HEADERS = { ...EVENT_STREAM_HEADERS, connection: 'keep-alive' }

const logsRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/workers/{workerId}/logs',
  operationId: 'getWorkerLogs',
  summary: "A worker's log: its newest lines, then every line as it comes",
  'x-scope': 'serverless:read',
  middleware: [needsScope('serverless:read')] as const,
  request: {
    params: z.object({
      id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }),
      workerId: z.string().meta({ param: { name: 'workerId', in: 'path' }, description: 'Worker id.' }),
    }),
    query: LogQuery,
    headers: LogHeaders,
  },
  responses: {
    200: { description: 'The stream.', headers: RATE_HEADERS, content: { 'text/event-stream': { schema: EVENTS } } },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers the logs of workers (SCALE-8, LOG-1 to LOG-6). */
export function registerWorkerLogs(app: OpenAPIHono<AppEnv>): void {
  app.openapi(logsRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    const lastEventId = c.req.valid('header')['Last-Event-ID']
    const body = await followWorkerLog(verbContext(c), id, workerId, c.req.valid('query'), lastEventId, c.req.raw.signal)
    return new Response(body, { headers: STREAM_HEADERS })
  })
}
