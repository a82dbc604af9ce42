import type { CreateSignInLinkRequest, DescribedLink, SignInLink } from '../../contract/console/sign-in-links.ts'
import { SIGN_IN_LINK_DEFAULTS } from '../../contract/defaults.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findUser, type UserRow } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { findSignInLink, insertSignInLink, type SignInLinkRow, takeSignInLink } from '../../db/sessions/sign-in-links.ts'
import { CONSOLE_SESSION_TTL_MS } from '../../domain/session/console.ts'
import { readParent, writeParent } from '../../domain/session/parent.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import { newSessionSecret } from '../../platform/ids.ts'
import { chargeRequest } from '../accounts/rate-limit.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { INVALID, type Refused, type Visit } from '../credentials/authentication.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { digestOfOperatorKey } from '../credentials/operator-key.ts'
import { isParentGood } from '../credentials/parents.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { type Opened, openSession } from './console-sessions.ts'
import { CREDENTIAL_CHARS } from './session-callers.ts'

/** Form of all links; a text of another form is not looked up. */
const LINK_FORM = /^[\w-]{43}$/
const USED: Refused = { ...INVALID, errors: ['this link was already used or has expired: ask for a new one'] }

type Where = Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>

/** A valid link with its user. */
interface GoodLink {
  row: SignInLinkRow
  user: UserRow
}

/**
 * Creates a link for one sign-in without a key (SESSION-15). It ends with the credential that creates it (DER-3), and a session by link
 * creates none for operators (DER-4). Throws 403 and 404.
 */
export async function createSignInLink(
  ctx: OperatorContext,
  { userId, isOperator = SIGN_IN_LINK_DEFAULTS.isOperator }: CreateSignInLinkRequest,
): Promise<SignInLink> {
  const { env, nowMs, operator } = ctx
  if (isOperator && operator?.isByLink) {
    const detail =
      'isOperator: a session from a sign-in link cannot create operator links: use the operator key, or sign in at the identity provider'
    throw new Problem('accessDenied', { detail })
  }
  const user = await findUserOrThrow(env, userId)
  const link = newSessionSecret()
  const parent = writeParent(operator?.parent ?? { kind: 'OPERATOR_KEY', id: await digestOfOperatorKey(env) })
  const row = { id: await idOf(env, link), userId, isOperator, createdAt: nowMs, expiresAt: nowMs + CONSOLE_SESSION_TTL_MS, parent }
  const expiresAt = formatTime(row.expiresAt)
  const change = { action: 'sign-in-links.create', resourceKind: 'session', resourceId: row.id.slice(0, CREDENTIAL_CHARS), before: null }
  const note = noteByOperator(ctx, user.personalTeamId, { ...change, after: { userId, isOperator, expiresAt } })
  await insertSignInLink(openDatabase(env.DB), row, note)
  return { link, path: `/console/sign-in#link=${link}`, expiresAt }
}

/**
 * Returns the user that a link would sign in, so that a page can ask for confirmation first (DER-15); or the refusal. Does not use the link
 * up.
 */
export async function describeLink(where: Where, link: string, visit: Visit): Promise<DescribedLink | Refused> {
  const found = await findLink(where, link, visit)
  if ('problem' in found) return found
  const { user, row } = found
  return { user: { id: user.id, email: user.email }, isOperator: row.isOperator, expiresAt: formatTime(row.expiresAt) }
}

/**
 * Opens the session of a link and uses the link up; or returns the refusal. Counts as a request of the link's user (DER-13). Throws 429.
 */
export async function signInWithLink(where: Where, link: string, visit: Visit): Promise<Opened | Refused> {
  const { env, nowMs } = where
  const found = await findLink(where, link, visit)
  if ('problem' in found) return found
  const { user, row } = found
  const charge = await chargeRequest(env, { userId: user.id, teamId: user.personalTeamId }, nowMs)
  if (!(await takeSignInLink(openDatabase(env.DB), row.id, nowMs))) return USED
  const { isOperator, parent } = row
  const made = { made: 'LINK', userId: user.id, keyId: null, isOperator, teamId: user.personalTeamId } as const
  return openSession(where, { ...made, charge, parent })
}

async function findLink({ env, nowMs }: Where, link: string, visit: Visit): Promise<GoodLink | Refused> {
  if (!LINK_FORM.test(link)) return USED
  const id = await idOf(env, link)
  const source = visit.source()
  const find = () => findGoodLink(env, id, nowMs)
  const lookup = source === null ? { found: await find() } : await lookUpFor(`link ${source}`, nowMs, find)
  if ('waitSeconds' in lookup) return { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds }
  return lookup.found ?? USED
}

async function findGoodLink(env: Env, id: string, nowMs: number): Promise<GoodLink | null> {
  const db = openDatabase(env.DB)
  const row = await findSignInLink(db, id, nowMs)
  if (!row || !(await isParentGood(env, readParent(row.parent), nowMs))) return null
  const user = await findUser(db, row.userId)
  return user ? { row, user } : null
}

function idOf(env: Env, link: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, `link ${link}`)
}
