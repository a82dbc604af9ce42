import { Hono, type Next } from 'hono'
import { z } from 'zod'
import { Problem } from '../contract/problems.ts'
import { announcedBytes } from '../domain/text/body-length.ts'
import { ownByWorkerToken } from '../effects/workers/worker-token.ts'
import { EnrolRequest, TokenRequest } from '../host-protocol/enrolment.ts'
import { LogsRequest } from '../host-protocol/logs.ts'
import { EventsRequest } from '../host-protocol/messages.ts'
import { OverlaysRequest } from '../host-protocol/overlays.ts'
import { TUNNEL_ABILITIES_HEADER } from '../host-protocol/tunnel/frames.ts'
import { VolumesRequest } from '../host-protocol/volumes.ts'
import { CHANNEL_KEY_HEADER, CHANNEL_WORKER_HEADER } from '../host-protocol/worker-channel.ts'
import { openHostLink } from '../objects/host-link.ts'
import type { Owned } from '../objects/owned.ts'
import { openHostTunnel } from '../objects/tunnel/host-tunnel-calls.ts'
import { openWorkerChannel } from '../objects/worker-channel.ts'
import { exchangeVolumes } from '../services/hosts/exchange-volumes.ts'
import { enrolHost, renewHostToken, verifyHostToken } from '../services/hosts/host-enrolment.ts'
import { inHostTurn } from '../services/hosts/host-turns.ts'
import { takeOverlayReports } from '../services/hosts/take-overlay-reports.ts'
import { takeReports } from '../services/hosts/take-reports.ts'
import { takeLogs } from '../services/logs/take-logs.ts'
import type { AppContext, AppEnv } from './app-env.ts'
import { clientAddress, clientSource } from './callers/client-address.ts'

/**
 * Largest body that an agent may send, bytes. It holds 128 reports with their reasons many times over; agents bound their logs to half of
 * it.
 */
const MAX_BODY_BYTES = 1024 * 1024
const SWITCHING_PROTOCOLS = 101

/** The host protocol, `/host/v1`: a private contract between the plane and its agents, in no public document. */
export function hostApi(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(withDate)
  app.post('/enrol', async (c) => c.json(await enrolHost(c.env, await readBody(c, EnrolRequest), clientSource(c.req.raw), Date.now())))
  app.post('/token', async (c) =>
    c.json(await renewHostToken(c.env, (await readBody(c, TokenRequest)).assertion, clientSource(c.req.raw), Date.now())),
  )
  app.post('/events', async (c) => {
    const host = await requireHost(c)
    const { reports } = await readBody(c, EventsRequest)
    await takeReports(c.env, host, reports)
    return c.json({})
  })
  app.post('/overlays', async (c) => {
    const host = await requireHost(c)
    const { reports } = await readBody(c, OverlaysRequest)
    await takeOverlayReports(c.env, host, reports)
    return c.json({})
  })
  app.post('/logs', async (c) => {
    const host = await requireHost(c)
    const { batches } = await readBody(c, LogsRequest)
    return c.json(await takeLogs(c.env, host, batches))
  })
  app.post('/volumes', async (c) => {
    const host = await requireHost(c)
    return c.json(await exchangeVolumes(c.env, host, await readBody(c, VolumesRequest), Date.now()))
  })
  app.get('/link', async (c) => {
    const host = await requireHost(c)
    requireUpgrade(c)
    return await inHostTurn(host, () => openHostLink(c.env, host, c.req.raw, clientAddress(c.req.raw)))
  })
  app.get('/tunnel', async (c) => {
    const host = await requireHost(c)
    requireUpgrade(c)
    return openHostTunnel(c.env, host, c.req.header(TUNNEL_ABILITIES_HEADER) ?? null)
  })
  app.get('/endpoints/:endpointId/channel', async (c) => {
    const host = await requireHost(c)
    requireUpgrade(c)
    const workerId = c.req.header(CHANNEL_WORKER_HEADER) ?? ''
    const call = { operation: 'job-take', endpointId: c.req.param('endpointId'), workerId }
    const endpoint = await ownByWorkerToken(c.env, call, c.req.header(CHANNEL_KEY_HEADER) ?? null)
    if (endpoint === null) throw new Problem('accessDenied', { detail: 'the key of a worker of this endpoint is missing or wrong' })
    return openWorkerChannel(c.env, endpoint, host, workerId)
  })
  return app
}

/**
 * Sets `Date`, because agents sign by the plane's clock (HOST-43). The network dates the answers of a deployed plane; a runtime on one
 * machine does not.
 */
async function withDate(c: AppContext, next: Next): Promise<void> {
  await next()
  if (c.res.status !== SWITCHING_PROTOCOLS) c.header('date', new Date().toUTCString())
}

async function requireHost(c: AppContext): Promise<Owned<'host'>> {
  const host = await verifyHostToken(c.env, c.req.header('authorization') ?? null, Date.now())
  if (host === null) throw new Problem('invalidToken', { detail: 'host access token is missing, not valid, expired or revoked' })
  return host
}

function requireUpgrade(c: AppContext): void {
  if (c.req.header('upgrade')?.toLowerCase() === 'websocket') return
  throw new Problem('badRequest', { detail: 'this path accepts WebSocket connections only: send Upgrade: websocket' })
}

async function readBody<T>(c: AppContext, schema: z.ZodType<T>): Promise<T> {
  if ((announcedBytes(c.req.raw.headers) ?? Number.POSITIVE_INFINITY) > MAX_BODY_BYTES) {
    throw new Problem('payloadTooLarge', { detail: `request body exceeds ${MAX_BODY_BYTES} bytes, or its length is not given` })
  }
  const parsed = schema.safeParse(await c.req.json().catch(() => null))
  if (!parsed.success) throw new Problem('validationFailed', { errors: [z.prettifyError(parsed.error)] })
  return parsed.data
}
