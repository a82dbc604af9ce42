import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { LogLinesQuery } from '../../../contract/logs/lines.ts'
import { LogHeaders, LogQuery } from '../../../contract/pods/logs.ts'
import { followPodLog, readPodLines } from '../../../services/logs/pod-logs.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { BEARER } from '../../openapi/rest-components.ts'
import { LINES_RESPONSES, LINES_TEXT, LOG_RESPONSES, logResponse, readingOf } from '../log-stream.ts'

const logsRoute = createRoute({
  tags: ['Pods'],
  security: BEARER,
  method: 'get',
  path: '/v2/pods/{id}/logs',
  operationId: 'getPodLogs',
  summary: 'Stream the log of a pod: its newest lines, then every new line',
  description: 'Server-sent events. `Last-Event-ID` resumes after an event; a stream ends after an hour.',
  ...scoped('pods:read', [], 'id'),
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Pod id.' }) }),
    query: LogQuery,
    headers: LogHeaders,
  },
  responses: LOG_RESPONSES,
})

const linesRoute = createRoute({
  tags: ['Pods'],
  security: BEARER,
  method: 'get',
  path: '/v2/pods/{id}/logs/lines',
  operationId: 'listPodLogLines',
  summary: 'Read or search the log of a pod, by pages',
  description: LINES_TEXT,
  ...scoped('pods:read', [], 'id'),
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Pod id.' }) }),
    query: LogLinesQuery,
  },
  responses: LINES_RESPONSES,
})

/** Registers the logs of pods (LOG-1 to LOG-6). */
export function registerPodLogs(app: OpenAPIHono<AppEnv>): void {
  app.openapi(logsRoute, async (c) => {
    const reading = readingOf(c.req.valid('query'), c.req.valid('header'), c.req.raw)
    return logResponse(c, await followPodLog(verbContext(c), c.req.valid('param').id, reading))
  })
  app.openapi(linesRoute, async (c) => c.json(await readPodLines(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200))
}
