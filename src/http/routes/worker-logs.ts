import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { LogHeaders, LogQuery } from '../../contract/pods/logs.ts'
import { followWorkerLog } from '../../services/logs/worker-logs.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { BEARER } from '../openapi/rest-components.ts'
import { LOG_RESPONSES, logResponse, readingOf } from './log-stream.ts'

const logsRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/workers/{workerId}/logs',
  operationId: 'getWorkerLogs',
  summary: "A worker's log: its newest lines, then every line as it comes",
  description: 'Server-sent events. `Last-Event-ID` goes on behind an event; a stream ends after an hour.',
  ...scoped('serverless:read', []),
  request: {
    params: z.object({
      id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }),
      workerId: z.string().meta({ param: { name: 'workerId', in: 'path' }, description: 'Worker id.' }),
    }),
    query: LogQuery,
    headers: LogHeaders,
  },
  responses: LOG_RESPONSES,
})

/** Registers the logs of workers (SCALE-8, LOG-1 to LOG-6). */
export function registerWorkerLogs(app: OpenAPIHono<AppEnv>): void {
  app.openapi(logsRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    const reading = readingOf(c.req.valid('query'), c.req.valid('header'), c.req.raw)
    return logResponse(c, await followWorkerLog(verbContext(c), id, workerId, reading))
  })
}
