import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { SIGN_IN_TTL_MS, type SignInFailure } from '../../domain/session/code-flow.ts'
import { readSettings } from '../../env.ts'
import { beginSignIn, completeSignIn } from '../../services/sessions/code-flow.ts'
import { type AppContext, type AppEnv, callerlessContext } from '../app-env.ts'
import { ownCookie, publicUrl, setOwnCookie } from '../callers/console-credential.ts'
import { visitOf } from '../callers/session-headers.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { RATE_HEADERS } from '../openapi/rest-components.ts'
import { endPrevious, setSession } from './session-routes.ts'

const CALLBACK = '/console/callback'
const FAILED = '/console/sign-in'
const FOUND = 302
const common = { tags: ['Session'], security: [{}], method: 'get' as const }
const led = { [FOUND]: { description: 'The redirect.', headers: RATE_HEADERS }, ...problemResponses([429]) }
/**
 * A query parameter of which the first value counts. The caller is a person with a browser, so a repeated parameter must not fail with a
 * JSON problem (SESSION-25).
 */
const text = (name: string, description: string) =>
  z
    .preprocess((value) => (Array.isArray(value) ? value[0] : value), z.string().optional())
    .meta({ param: { name, in: 'query' }, description })

const startRoute = createRoute({
  ...common,
  path: '/console/sign-in/start',
  operationId: 'startSignIn',
  summary: 'Redirect a browser to the identity provider',
  description: 'Authorization code flow with PKCE. A sealed cookie holds the state of the flow for ten minutes.',
  request: { query: z.object({ return: text('return', 'The page of the console to open after the sign-in.') }) },
  responses: led,
})

const callbackRoute = createRoute({
  ...common,
  path: CALLBACK,
  operationId: 'completeSignIn',
  summary: 'Receive a user from the identity provider',
  description: 'Signs the user in and redirects to the requested page. An error redirects to `/console/sign-in?reason=`.',
  request: {
    query: z.object({
      code: text('code', 'The code for the token endpoint of the provider.'),
      state: text('state', 'The state that the plane sent to the provider.'),
      iss: text('iss', 'The issuer of the answer (RFC 9207).'),
      error: text('error', 'The reason why the provider has not signed the user in.'),
    }),
  },
  responses: led,
})

/** Registers the sign-in at the identity provider (SESSION-22 to SESSION-25). */
export function registerConsoleProvider(app: OpenAPIHono<AppEnv>): void {
  app.openapi(startRoute, async (c) => {
    const begun = await beginSignIn(callerlessContext(c), { redirectUri: redirectUri(c), asked: c.req.query('return') ?? null })
    if ('failure' in begun) return lead(c, failed(begun.failure))
    c.header('Set-Cookie', setOwnCookie(c.req.raw, 'signIn', begun.sealed, SIGN_IN_TTL_MS / 1000), { append: true })
    return lead(c, begun.location)
  })
  app.openapi(callbackRoute, async (c) => {
    const query = new URL(c.req.url).searchParams
    const back = { query, sealed: ownCookie(c.req.raw, 'signIn'), redirectUri: redirectUri(c) }
    const done = await completeSignIn(callerlessContext(c), back, visitOf(c.req.raw, c.executionCtx))
    c.header('Set-Cookie', setOwnCookie(c.req.raw, 'signIn', '', 0), { append: true })
    if ('failure' in done) return lead(c, failed(done.failure))
    await endPrevious(c)
    setSession(c, done.opened)
    return lead(c, done.returnTo)
  })
}

// The address holds the authorization code, so it goes into no `Referer` and no cache.
function lead(c: AppContext, location: string): Response {
  c.header('Cache-Control', 'no-store')
  c.header('Referrer-Policy', 'no-referrer')
  return c.redirect(location, FOUND)
}

function failed(failure: SignInFailure): string {
  return `${FAILED}?reason=${failure}`
}

function redirectUri(c: AppContext): string {
  return publicUrl(c.req.raw, CALLBACK, readSettings(c.env).baseUrl)
}
