import type { OpenAPIHono } from '@hono/zod-openapi'
import { ExecQuery } from '../../../contract/pods/exec.ts'
import { isStillGood } from '../../../services/authenticate.ts'
import { execInPod } from '../../../services/pods/ingress/exec.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { protocolsOf } from '../../callers/authorization.ts'
import { credentialOf } from '../../callers/console-credential.ts'
import { INGRESS_CHECKS } from '../../ingress/ingress-checks.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'
import { socketWhile } from '../../watched/socket-while.ts'

/** Subprotocols in order of preference; the answer to a client that offers none names none. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const SWITCHING = 101

const route = restRoutes('Pods')

const execRoute = route('get', '/v2/pods/{id}/exec', scoped('pods:write', 'id'), {
  operationId: 'execInPod',
  summary: 'Run a command or a shell in a pod, over a WebSocket',
  description:
    'Binary messages as in `v5.channel.k8s.io`. The first byte is the channel: 0 stdin, 1 stdout, 2 stderr, 3 exit status (JSON, last), ' +
    '4 terminal size (JSON `{"Width":80,"Height":24}`), 5 credit (with `flow`), 6 signal; 255 and then 0 is the end of stdin. A browser sends ' +
    'its key as a subprotocol, `base64url.bearer.authorization.podplane.<key in base64url>`. The command ends with the connection, and the ' +
    'connection ends within a minute of its pod or key.',
  request: { params: idParams('Pod id.'), query: ExecQuery },
  responses: { 101: { description: 'The connection has become a WebSocket.', headers: RATE_HEADERS } },
  problems: [400, 409],
})

/** Registers commands in pods (NET-6 to NET-10). */
export function registerPodExec(app: OpenAPIHono<AppEnv>): void {
  app.openapi(execRoute, async (c) => {
    const { command, tty, rows, cols, term, flow } = c.req.valid('query')
    const request = c.req.raw
    const isSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
    const terminal = tty ? { name: term, rows, cols } : null
    const target = { kind: 'exec', command: command ?? null, terminal, flow } as const
    const { socket, isRunning } = await execInPod(verbContext(c), c.req.valid('param').id, { target, isSocket, signal: request.signal })
    const isGood = async () =>
      (await isStillGood(c.env, credentialOf(request), c.var.principal, Date.now(), INGRESS_CHECKS.maxAgeMs)) && (await isRunning())
    const offered = protocolsOf(request)
    const protocol = PROTOCOLS.find((name) => offered.includes(name))
    const headers = protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }
    const why = 'the pod does not run, or the key is not valid'
    const webSocket = socketWhile(socket, { isGood, everyMs: INGRESS_CHECKS.everyMs, why })
    return new Response(null, { status: SWITCHING, webSocket, headers })
  })
}
