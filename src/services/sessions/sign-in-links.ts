import type { CreateSignInLinkRequest, SignInLink } from '../../contract/console/sign-in-links.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findUser } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { insertSignInLink, takeSignInLink } from '../../db/sessions/sign-in-links.ts'
import { CONSOLE_SESSION_TTL_MS } from '../../domain/session/console.ts'
import type { Env } from '../../env.ts'
import { countedBy } from '../../objects/counted.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import { newSessionSecret } from '../../platform/ids.ts'
import { findUserOrThrow } from '../accounts/accounts.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { INVALID, type Refused, type Visit } from '../credentials/authentication.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { type Opened, openSession } from './console-sessions.ts'
import { CREDENTIAL_CHARS } from './session-callers.ts'

/** Another form was never given out. */
const LINK_FORM = /^[\w-]{43}$/
const USED: Refused = { ...INVALID, errors: ['this link was used already, or its time is over: ask for a new one'] }

/** Makes a link with which somebody signs in once, without a key (CS-15). Throws 404. */
export async function createSignInLink(ctx: OperatorContext, { userId, isOperator = false }: CreateSignInLinkRequest): Promise<SignInLink> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  const link = newSessionSecret()
  const row = { id: await idOf(env, link), userId, isOperator, createdAt: nowMs, expiresAt: nowMs + CONSOLE_SESSION_TTL_MS }
  const expiresAt = formatTime(row.expiresAt)
  const change = { action: 'sign-in-links.create', resourceKind: 'session', resourceId: row.id.slice(0, CREDENTIAL_CHARS), before: null }
  const note = noteByOperator(ctx, user.personalTeamId, { ...change, after: { userId, isOperator, expiresAt } })
  await insertSignInLink(openDatabase(env.DB), row, note)
  return { link, path: `/console/sign-in#link=${link}`, expiresAt }
}

/** Opens the session of a link, which is used up by it; or says why not. */
export async function signInWithLink(
  where: Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>,
  link: string,
  visit: Visit,
): Promise<Opened | Refused> {
  const { env, nowMs } = where
  if (!LINK_FORM.test(link)) return USED
  const id = await idOf(env, link)
  const take = async () => (await takeSignInLink(openDatabase(env.DB), id, nowMs)) ?? null
  const source = visit.source()
  const lookup = source === null ? { found: await take() } : await lookUpFor(`link ${source}`, nowMs, take)
  if ('waitSeconds' in lookup) return { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds }
  const user = lookup.found && (await findUser(openDatabase(env.DB), lookup.found.userId))
  if (!lookup.found || !user) return USED
  const { isOperator } = lookup.found
  return openSession(where, { made: 'LINK', userId: user.id, keyId: null, isOperator, teamId: user.personalTeamId }, countedBy('link'))
}

function idOf(env: Env, link: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, `link ${link}`)
}
