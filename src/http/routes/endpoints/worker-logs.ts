import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { LogLinesQuery, LogLinesResponse } from '../../../contract/logs/lines.ts'
import { MergedLinesQuery, MergedLinesResponse } from '../../../contract/logs/merged.ts'
import { LogHeaders, LogQuery } from '../../../contract/logs/stream.ts'
import { readEndpointLines } from '../../../services/logs/endpoint-logs.ts'
import { followWorkerLog, readWorkerLines } from '../../../services/logs/worker-logs.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { pathParam } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'
import { LINES_TEXT, LOG_RESPONSES, linesAnswers, logResponse, readingOf } from '../log-stream.ts'

const WorkerParams = z.object({
  id: pathParam('id', 'Endpoint id.'),
  workerId: pathParam('workerId', 'Worker id.'),
})

const route = restRoutes('Serverless')

const logsRoute = route('get', '/v2/serverless/{id}/workers/{workerId}/logs', 'serverless:read', {
  operationId: 'getWorkerLogs',
  summary: 'Stream the log of a worker: its newest lines, then every new line',
  description: 'Server-sent events. `Last-Event-ID` resumes after an event; a stream ends after an hour.',
  request: { params: WorkerParams, query: LogQuery, headers: LogHeaders },
  responses: LOG_RESPONSES,
})

const linesRoute = route('get', '/v2/serverless/{id}/workers/{workerId}/logs/lines', 'serverless:read', {
  operationId: 'listWorkerLogLines',
  summary: 'Read or search the log of a worker, by pages',
  description: LINES_TEXT,
  request: { params: WorkerParams, query: LogLinesQuery },
  ...linesAnswers(LogLinesResponse),
})

const mergedRoute = route('get', '/v2/serverless/{id}/logs/lines', 'serverless:read', {
  operationId: 'listEndpointLogLines',
  summary: 'Read or search the logs of all workers of an endpoint, by pages in order of time',
  description: `Includes ended workers while their logs are stored. ${LINES_TEXT}`,
  request: { params: WorkerParams.pick({ id: true }), query: MergedLinesQuery },
  ...linesAnswers(MergedLinesResponse),
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
