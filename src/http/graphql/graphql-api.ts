import { Hono, type Next } from 'hono'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { Problem } from '../../contract/problems.ts'
import { readSettings } from '../../env.ts'
import { authenticate } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { failureResponse } from '../answers/problem-response.ts'
import { type AppContext, type AppEnv, verbContext } from '../app-env.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { credentialOf } from '../callers/console-credential.ts'
import { visitOf } from '../callers/session-headers.ts'
import { readCapped } from '../middleware/body-limit.ts'
import { limitRateBy } from '../middleware/rate-limit.ts'
import { refuseDryRun } from '../middleware/refuse-dry-run.ts'
import { countAnonymous } from './anonymous.ts'
import type { Call } from './call.ts'
import { editorPage } from './editor-page.ts'
import { endHeaders } from './end-headers.ts'
import { readParams } from './params.ts'

/** Largest body, bytes (GQL-10). */
const MAX_BODY_BYTES = 1024 * 1024
/**
 * Longest body, in characters, that is parsed to find out whether it ends something after the caller's window is used up. The bound keeps
 * refusals cheap.
 */
const MAX_ENDING_LENGTH = 8 * 1024
/** The principal of a request without a key: it has no scope (GQL-3). */
const ANONYMOUS: Principal = { via: 'KEY', credentialId: '', userId: '', teamId: '', scopes: new Set() }

/** `POST /graphql` (GQL-1). The checks run in the order size, key, rate, document, as in REST (ERR-6). */
export function graphqlApi(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.onError((error, c) => failureResponse(c, error, 'graphql'))
  app.use('*', markPrivate)
  app.get('/', editor)
  app.post('/', limitSize, knowCaller, countRequest, refuseDryRun, answer)
  app.all('/', notPost)
  return app
}

function notPost(): never {
  throw new Problem('methodNotAllowed', { headers: { Allow: 'POST' } })
}

/** Serves an editor for documents, for development only (GQL-31). Throws 405 if it is switched off or the client wants no HTML. */
function editor(c: AppContext): Response {
  const { hasEditor } = readSettings(c.env).graphql
  if (!hasEditor || !c.req.header('accept')?.includes('text/html')) return notPost()
  return editorPage(c)
}

// The address may hold a key, so it goes into no cache and no `Referer`.
async function markPrivate(c: AppContext, next: Next): Promise<void> {
  await next()
  for (const [name, value] of Object.entries(endHeaders(readSettings(c.env).graphql))) c.res.headers.set(name, value)
  c.res.headers.set('Cache-Control', 'no-store')
  c.res.headers.set('Referrer-Policy', 'no-referrer')
}

async function limitSize(c: AppContext, next: Next): Promise<void> {
  const body = c.req.raw.body && (await readCapped(c.req.raw.body, MAX_BODY_BYTES))
  if (c.req.raw.body && !body) throw new Problem('payloadTooLarge', { detail: `request body exceeds ${MAX_BODY_BYTES} bytes` })
  c.req.raw = new Request(c.req.raw, { body })
  await next()
}

/** Authenticates the caller. The parameter `api_key` takes precedence over the header (GQL-2); an empty one counts as absent. */
async function knowCaller(c: AppContext, next: Next): Promise<void> {
  const parameter = c.req.query('api_key')
  const shown = parameter ? `Bearer ${parameter}` : credentialOf(c.req.raw)
  if (shown !== null) {
    const result = await authenticate(c.env, shown, Date.now(), visitOf(c.req.raw, c.executionCtx))
    if (!result.ok) throw authenticationProblem(result)
    c.set('principal', result.principal)
  }
  await next()
}

async function countRequest(c: AppContext, next: Next): Promise<void> {
  if (isKnown(c)) return limitRateBy(endsThingsOf, c, next)
  countAnonymous(c.req.raw, Date.now())
  await next()
}

async function endsThingsOf(c: AppContext): Promise<boolean> {
  const text = await c.req.text()
  if (text.length > MAX_ENDING_LENGTH) return false
  const { endsThings } = await import('./server.ts')
  return endsThings(c.req.header('content-type'), text)
}

async function answer(c: AppContext): Promise<Response> {
  const params = readParams(c.req.header('content-type'), await c.req.text())
  const known = isKnown(c)
  const ctx = known ? verbContext(c) : { ...verbContext(c), principal: ANONYMOUS }
  const call: Call = { ctx, isKnown: known, key: idempotencyKey(c), memory: new Map(), mutations: 0, listed: 0 }
  // The first document loads the server lazily, because no other path needs it.
  const { runDocument } = await import('./server.ts')
  return runDocument(params, call)
}

function isKnown(c: AppContext): boolean {
  return (c.var.principal as Principal | undefined) !== undefined
}

function idempotencyKey(c: AppContext): string | undefined {
  const headers = CreateHeaders.safeParse({ 'Idempotency-Key': c.req.header('Idempotency-Key') })
  if (!headers.success) throw new Problem('badRequest', { detail: 'the header Idempotency-Key is not valid' })
  return headers.data['Idempotency-Key']
}
