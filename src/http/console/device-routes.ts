import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Next } from 'hono'
import { z } from 'zod'
import {
  ApproveDeviceRequest,
  DenyDeviceRequest,
  DeviceToken,
  type DeviceTokenError,
  DeviceTokenError as DeviceTokenErrorSchema,
  DeviceTokenRequest,
  StartDeviceRequest,
  StartedDevice,
  WaitingDevice,
} from '../../contract/console/device.ts'
import { Problem } from '../../contract/problems.ts'
import type { DeviceRefusal } from '../../domain/session/device-login.ts'
import { readSettings } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'
import { authenticate } from '../../services/authenticate.ts'
import { consoleSessionId } from '../../services/sessions/console-callers.ts'
import * as devices from '../../services/sessions/device-logins.ts'
import { type AppContext, type AppEnv, callerlessContext, verbContext } from '../app-env.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { clientSource } from '../callers/client-address.ts'
import { credentialOf, ownCookie, publicUrl } from '../callers/console-credential.ts'
import { visitOf } from '../callers/session-headers.ts'
import { limitRate } from '../middleware/rate-limit.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { answer, json, pathParam, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/console/device'
const WINDOW_MS = 60_000
/** Device logins that one address may start in a minute. */
export const MAX_STARTS = 30
/**
 * Polls of one address in a minute: 50 waiting devices that poll every 5 s (SESSION-20). Polls with an invented code count as well, because
 * the plane also decrypts and compares those.
 */
export const MAX_POLLS = 600
const MAX_SOURCES = 10_000
const MAX_SAID_CHARS = 191

interface Window {
  count: number
  endsAtMs: number
}

const starts = new ExpiringCache<Window>(WINDOW_MS, MAX_SOURCES)
const polls = new ExpiringCache<Window>(WINDOW_MS, MAX_SOURCES)

const LABELS: Readonly<Record<DeviceRefusal, string>> = {
  authorization_pending: 'no user has approved the device yet',
  slow_down: 'the device polls too often',
  expired_token: 'the code has expired or was already used: start again',
  access_denied: 'a user has denied the device',
}

const common = { tags: ['Devices'] }
const ofDevices = { ...common, security: [{}], middleware: strictJson }
const ofUsers = { ...common, security: [{ cookie: [] }] }

const fromLink = (name: string, description: string) =>
  z
    .string()
    .max(MAX_SAID_CHARS)
    .optional()
    .meta({ param: { name, in: 'query' }, description })

const startRoute = createRoute({
  ...ofDevices,
  method: 'post',
  path: PATH,
  operationId: 'startDeviceLogin',
  summary: 'Start a device login (RFC 8628)',
  description:
    'It needs no key, and the plane stores nothing before a user decides. Show the code, open the address, and poll for the token.',
  request: { body: json(StartDeviceRequest) },
  responses: { 200: answer('The codes.', StartedDevice), ...problemResponses([400, 413, 415, 422, 429]) },
})

const tokenRoute = createRoute({
  ...ofDevices,
  method: 'post',
  path: `${PATH}/token`,
  operationId: 'pollDeviceLogin',
  summary: 'Poll for the key of a device',
  description: 'Returns the key once; before and after that, 400 with an error code of RFC 8628.',
  request: { body: json(DeviceTokenRequest) },
  responses: {
    200: answer('The key, shown only once.', DeviceToken),
    ...problemResponses([403, 409, 413, 415, 422, 429]),
    400: {
      description: 'The login is pending, refused or expired; problem details if the body is not JSON.',
      content: { ...answer('', DeviceTokenErrorSchema).content, ...problemResponses([400])[400]?.content },
    },
  },
})

const readRoute = createRoute({
  ...ofUsers,
  method: 'get',
  path: `${PATH}/{userCode}`,
  operationId: 'getWaitingDevice',
  summary: 'Read the device that shows a code',
  description:
    'The console shows it before the approval, so that the user recognizes the device. The name is unknown if the user typed the code.',
  middleware: [requireSession] as const,
  request: {
    params: z.object({ userCode: pathParam('userCode', 'The code.') }),
    query: z.object({
      name: fromLink('name', 'The name in `verification_uri_complete`.'),
      proof: fromLink('proof', 'The proof of the name in `verification_uri_complete`.'),
    }),
  },
  responses: { 200: answer('The device.', WaitingDevice), ...problemResponses([401, 403, 404, 422, 429]) },
})

const approveRoute = createRoute({
  ...ofUsers,
  method: 'post',
  path: `${PATH}/approve`,
  operationId: 'approveDevice',
  summary: 'Approve a device: it gets a key of the current account',
  description:
    '`X-Team-Id` selects another account. The key has no scope that the session lacks, is created while the session is valid, and ends with the credential that the session is derived from.',
  middleware: [requireSession, limitRate, strictJson] as const,
  request: { body: json(ApproveDeviceRequest) },
  responses: {
    200: { ...answer('The device.', WaitingDevice), headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const denyRoute = createRoute({
  ...ofUsers,
  method: 'post',
  path: `${PATH}/deny`,
  operationId: 'denyDevice',
  summary: 'Refuse a device',
  description: 'The next poll of the device is answered with the refusal.',
  middleware: [requireSession, limitRate, strictJson] as const,
  request: { body: json(DenyDeviceRequest) },
  responses: {
    204: { description: 'The device is refused.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 413, 415, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/console/device` (SESSION-18 to SESSION-21). */
export function registerConsoleDevices(app: OpenAPIHono<AppEnv>): void {
  app.openapi(startRoute, async (c) => {
    countIn(starts, c.req.raw, MAX_STARTS, `this address started more than ${MAX_STARTS} device logins in a minute`)
    const { name } = c.req.valid('json')
    const { deviceCode, userCode, nameProof, expiresInSeconds, intervalSeconds } = devices.startDeviceLogin(callerlessContext(c), name)
    const page = publicUrl(c.req.raw, PATH, readSettings(c.env).baseUrl)
    const body = {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?${new URLSearchParams({ code: userCode, name, proof: nameProof })}`,
      expires_in: expiresInSeconds,
      interval: intervalSeconds,
    }
    return c.json(body, 200)
  })
  app.openapi(tokenRoute, async (c) => {
    countIn(polls, c.req.raw, MAX_POLLS, `devices at this address polled more than ${MAX_POLLS} times in a minute`)
    const polled = await devices.pollDevice(callerlessContext(c), c.req.valid('json').device_code)
    return 'refusal' in polled ? c.json(errorOf(polled), 400) : c.json(polled, 200)
  })
  app.openapi(readRoute, async (c) =>
    c.json(await devices.findDevice(verbContext(c), c.req.valid('param').userCode, c.req.valid('query')), 200),
  )
  app.openapi(approveRoute, async (c) => {
    const sessionId = await consoleSessionId(c.env, ownCookie(c.req.raw, 'session') ?? '')
    return c.json(await devices.approveDevice(verbContext(c), sessionId, c.req.valid('json')), 200)
  })
  app.openapi(denyRoute, async (c) => {
    await devices.denyDevice(verbContext(c), c.req.valid('json').userCode)
    return c.body(null, 204)
  })
}

/** Admits only a caller with a browser session. A key must not approve devices, because it could then create further keys unnoticed. */
async function requireSession(c: AppContext, next: Next): Promise<void> {
  const shown = credentialOf(c.req.raw)
  if (typeof shown === 'string')
    throw new Problem('accessDenied', { detail: 'only a user who is signed in at the console can approve a device' })
  const result = await authenticate(c.env, shown, Date.now(), visitOf(c.req.raw, c.executionCtx))
  if (!result.ok) throw authenticationProblem(result)
  c.set('principal', result.principal)
  await next()
}

function errorOf({ refusal, intervalSeconds }: { refusal: DeviceRefusal; intervalSeconds: number }): DeviceTokenError {
  return { error: refusal, error_description: LABELS[refusal], code: refusal, interval: intervalSeconds }
}

/** Counts a request from an address that has no key (DER-35). Throws 429 with the end of the window in `Retry-After`. */
function countIn(windows: ExpiringCache<Window>, request: Request, most: number, detail: string): void {
  const source = clientSource(request)
  if (source === null) return
  const nowMs = Date.now()
  const window = windows.get(source, nowMs) ?? { count: 0, endsAtMs: nowMs + WINDOW_MS }
  window.count += 1
  if (window.count === 1) windows.set(source, window, nowMs)
  if (window.count <= most) return
  const waitSeconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000))
  throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(waitSeconds) } })
}
