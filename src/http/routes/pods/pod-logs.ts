import type { OpenAPIHono } from '@hono/zod-openapi'
import { LogLinesQuery, LogLinesResponse } from '../../../contract/logs/lines.ts'
import { LogHeaders, LogQuery } from '../../../contract/logs/stream.ts'
import { followPodLog, readPodLines } from '../../../services/logs/pod-logs.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'
import { LINES_TEXT, LOG_RESPONSES, linesAnswers, logResponse, readingOf } from '../log-stream.ts'

const Params = idParams('Pod id.')
const route = restRoutes('Pods')

const logsRoute = route('get', '/v2/pods/{id}/logs', scoped('pods:read', 'id'), {
  operationId: 'getPodLogs',
  summary: 'Stream the log of a pod: its newest lines, then every new line',
  description: 'Server-sent events. `Last-Event-ID` resumes after an event; a stream ends after an hour.',
  request: { params: Params, query: LogQuery, headers: LogHeaders },
  responses: LOG_RESPONSES,
})

const linesRoute = route('get', '/v2/pods/{id}/logs/lines', scoped('pods:read', 'id'), {
  operationId: 'listPodLogLines',
  summary: 'Read or search the log of a pod, by pages',
  description: LINES_TEXT,
  request: { params: Params, query: LogLinesQuery },
  ...linesAnswers(LogLinesResponse),
})

/** Registers the logs of pods (LOG-1 to LOG-6). */
export function registerPodLogs(app: OpenAPIHono<AppEnv>): void {
  app.openapi(logsRoute, async (c) => {
    const reading = readingOf(c.req.valid('query'), c.req.valid('header'), c.req.raw)
    return logResponse(c, await followPodLog(verbContext(c), c.req.valid('param').id, reading))
  })
  app.openapi(linesRoute, async (c) => c.json(await readPodLines(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200))
}
