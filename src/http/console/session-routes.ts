import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { ConsoleState, SignInRequest } from '../../contract/console/session.ts'
import { DescribedLink, DescribeLinkRequest } from '../../contract/console/sign-in-links.ts'
import { CONSOLE_SESSION_TTL_MS } from '../../domain/session/console.ts'
import { readSettings } from '../../env.ts'
import type { Refused } from '../../services/credentials/authentication.ts'
import { describeSession, type Opened, signInWithKey, signOut } from '../../services/sessions/console-sessions.ts'
import { describeLink, signInWithLink } from '../../services/sessions/sign-in-links.ts'
import { type AppContext, type AppEnv, callerlessContext } from '../app-env.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { ownCookie, setOwnCookie } from '../callers/console-credential.ts'
import { visitOf } from '../callers/session-headers.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { answer, json, RATE_HEADERS } from '../openapi/rest-components.ts'
import { requireOwnPage } from './own-page.ts'

const PATH = '/console/session'
const common = { tags: ['Session'], security: [{ cookie: [] }, {}] }
const state = (description: string) => answer(description, ConsoleState)

const stateRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'getConsoleState',
  summary: 'Read the current session and the ways to sign in',
  description: 'Needs no session: without one, `signedIn` is false.',
  responses: { 200: state('The session.'), ...problemResponses([429]) },
})

const signInRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'signIn',
  summary: 'Sign in with a key or a link',
  description:
    'Sets the cookie of a new session and ends the previous session of the browser. It counts as a request of the user who signs in.',
  middleware: [requireOwnPage, strictJson] as const,
  request: { body: json(SignInRequest) },
  responses: {
    201: { ...state('Signed in; the cookie is in `Set-Cookie`.'), headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const linkRoute = createRoute({
  ...common,
  method: 'post',
  path: `${PATH}/link`,
  operationId: 'describeLink',
  summary: 'Read the user of a sign-in link',
  description: 'The console shows the user before it signs in. The link stays unused.',
  middleware: [requireOwnPage, strictJson] as const,
  request: { body: json(DescribeLinkRequest) },
  responses: { 200: answer('The user of the link.', DescribedLink), ...problemResponses([400, 401, 403, 413, 415, 422, 429]) },
})

const signOutRoute = createRoute({
  ...common,
  method: 'delete',
  path: PATH,
  operationId: 'signOut',
  summary: 'Sign out; the session ends everywhere within 60 s',
  description: 'A repeated call changes nothing.',
  middleware: [requireOwnPage] as const,
  responses: { 204: { description: 'Signed out.' }, ...problemResponses([403, 429]) },
})

/** Registers `/console/session` (SESSION-1 to SESSION-10). */
export function registerConsoleSession(app: OpenAPIHono<AppEnv>): void {
  app.openapi(stateRoute, async (c) => c.json(await stateOf(c, ownCookie(c.req.raw, 'session')), 200))
  app.openapi(signInRoute, async (c) => {
    const { key = '', link } = c.req.valid('json')
    const visit = visitOf(c.req.raw, c.executionCtx)
    const opened = await (link === undefined
      ? signInWithKey(callerlessContext(c), key, visit)
      : signInWithLink(callerlessContext(c), link, visit))
    return c.json(await begin(c, opened), 201)
  })
  app.openapi(linkRoute, async (c) => {
    const described = await describeLink(callerlessContext(c), c.req.valid('json').link, visitOf(c.req.raw, c.executionCtx))
    if ('problem' in described) throw authenticationProblem(described)
    return c.json(described, 200)
  })
  app.openapi(signOutRoute, async (c) => {
    await endPrevious(c)
    c.header('Set-Cookie', setOwnCookie(c.req.raw, 'session', '', 0), { append: true })
    return c.body(null, 204)
  })
}

/** Replaces the browser's previous session with a new one (SESSION-9) and returns the state of the new session. */
async function begin(c: AppContext, opened: Opened | Refused): Promise<ConsoleState> {
  if ('problem' in opened) throw authenticationProblem(opened)
  await endPrevious(c)
  setSession(c, opened)
  return stateOf(c, opened.secret)
}

/** Sets the session cookie and the rate limit headers of its user. */
export function setSession(c: AppContext, { secret, rateLimit }: Opened): void {
  for (const [name, value] of Object.entries(rateLimit ?? {})) c.header(name, value)
  c.header('Set-Cookie', setOwnCookie(c.req.raw, 'session', secret, CONSOLE_SESSION_TTL_MS / 1000), { append: true })
}

/** Ends the session that the browser has, if any. */
export async function endPrevious(c: AppContext): Promise<void> {
  const previous = ownCookie(c.req.raw, 'session')
  if (previous !== null) await signOut(callerlessContext(c), { secret: previous, fault: null }, visitOf(c.req.raw, c.executionCtx))
}

async function stateOf(c: AppContext, secret: string | null): Promise<ConsoleState> {
  const visit = visitOf(c.req.raw, c.executionCtx)
  const session = secret === null ? null : await describeSession(c.env, { secret, fault: null }, Date.now(), visit)
  if (session !== null && 'problem' in session) throw authenticationProblem(session)
  const { sessions, console, podProxyDomain } = readSettings(c.env)
  const oidc = console.client !== null && sessions !== null && !('fault' in sessions)
  const ways = { oidc, key: true }
  return session === null ? { signedIn: false, ways } : { ...session, ways, podProxyDomain }
}
