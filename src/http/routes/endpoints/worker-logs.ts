import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { LogLinesQuery } from '../../../contract/logs/lines.ts'
import { MergedLinesQuery } from '../../../contract/logs/merged.ts'
import { LogHeaders, LogQuery } from '../../../contract/pods/logs.ts'
import { readEndpointLines } from '../../../services/logs/endpoint-logs.ts'
import { followWorkerLog, readWorkerLines } from '../../../services/logs/worker-logs.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { BEARER } from '../../openapi/rest-components.ts'
import { LINES_RESPONSES, LINES_TEXT, LOG_RESPONSES, logResponse, MERGED_RESPONSES, readingOf } from '../log-stream.ts'

const WorkerParams = z.object({
  id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Endpoint id.' }),
  workerId: z.string().meta({ param: { name: 'workerId', in: 'path' }, description: 'Worker id.' }),
})

const logsRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/workers/{workerId}/logs',
  operationId: 'getWorkerLogs',
  summary: 'Stream the log of a worker: its newest lines, then every new line',
  description: 'Server-sent events. `Last-Event-ID` resumes after an event; a stream ends after an hour.',
  ...scoped('serverless:read', []),
  request: {
    params: WorkerParams,
    query: LogQuery,
    headers: LogHeaders,
  },
  responses: LOG_RESPONSES,
})

const linesRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/workers/{workerId}/logs/lines',
  operationId: 'listWorkerLogLines',
  summary: 'Read or search the log of a worker, by pages',
  description: LINES_TEXT,
  ...scoped('serverless:read', []),
  request: { params: WorkerParams, query: LogLinesQuery },
  responses: LINES_RESPONSES,
})

const mergedRoute = createRoute({
  tags: ['Serverless'],
  security: BEARER,
  method: 'get',
  path: '/v2/serverless/{id}/logs/lines',
  operationId: 'listEndpointLogLines',
  summary: 'Read or search the logs of all workers of an endpoint, by pages in order of time',
  description: `Includes ended workers while their logs are stored. ${LINES_TEXT}`,
  ...scoped('serverless:read', []),
  request: { params: WorkerParams.pick({ id: true }), query: MergedLinesQuery },
  responses: MERGED_RESPONSES,
})

/** Registers the logs of workers (SCALE-8, LOG-1 to LOG-6). */
export function registerWorkerLogs(app: OpenAPIHono<AppEnv>): void {
  app.openapi(logsRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    const reading = readingOf(c.req.valid('query'), c.req.valid('header'), c.req.raw)
    return logResponse(c, await followWorkerLog(verbContext(c), id, workerId, reading))
  })
  app.openapi(mergedRoute, async (c) => {
    return c.json(await readEndpointLines(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200)
  })
  app.openapi(linesRoute, async (c) => {
    const { id, workerId } = c.req.valid('param')
    return c.json(await readWorkerLines(verbContext(c), id, workerId, c.req.valid('query')), 200)
  })
}
