import { openDatabase } from '../../db/client.ts'
import { type FoundSession, findConsoleSession, touchConsoleSession } from '../../db/sessions/console-sessions.ts'
import type { CookieShown } from '../../domain/session/bearer.ts'
import { SEEN_EVERY_MS } from '../../domain/session/console.ts'
import { type Parent, parentOfLinkBy, parentOfSession } from '../../domain/session/parent.ts'
import { type Env, readSettings } from '../../env.ts'
import { hashKeySecret } from '../../platform/crypto.ts'
import type { Operator, Principal } from '../context.ts'
import { type Authentication, INVALID, type Refused, type Visit } from '../credentials/authentication.ts'
import { CachedDecisions } from '../credentials/cached-decisions.ts'
import { isWithin } from '../credentials/key-callers.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { isParentGood } from '../credentials/parents.ts'
import { isExpired, type KeyDecision, verifyKeyAgain } from '../credentials/verify-key.ts'
import { actAs, CREDENTIAL_CHARS, isMember } from './session-callers.ts'

/** A session of the console as an isolate caches it. */
export interface ConsoleSession extends FoundSession {
  credentialId: string
  /** The key that the session acts as; null: none. */
  key: KeyDecision | null
}

/** A secret of another form was never issued, so it is not looked up. */
const SECRET_FORM = /^[\w-]{43}$/
const EXPIRED: Refused = { ...INVALID, errors: ['the session has expired: sign in again'] }
const OF_OPERATOR: Refused = {
  ...INVALID,
  errors: ['this session belongs to the operator and to no account: it is valid for /admin/v1 only'],
}
const NO_OPERATOR: Refused = { ...INVALID, errors: ['this session is not an operator session'] }

/** Indexed by hashes, so that no secret stays in memory longer than its request. */
const sessions = new CachedDecisions<ConsoleSession, true>()

/** Returns the caller behind a session's cookie (SESSION-2), with the account that it acts for (AUT-7). Zero D1 queries when warm. */
export async function authenticateByCookie(env: Env, shown: CookieShown, nowMs: number, visit: Visit | undefined): Promise<Authentication> {
  const session = await findByCookie(env, shown, nowMs, visit)
  return 'problem' in session ? session : answerOf(session, visit?.askedTeam ?? null, nowMs)
}

/** Returns the operator behind a session's cookie, or the refusal (SESSION-13). */
export async function operatorByCookie(
  env: Env,
  shown: CookieShown,
  nowMs: number,
  visit: Visit,
): Promise<{ ok: true; operator: Operator } | Refused> {
  const session = await findByCookie(env, shown, nowMs, visit)
  if ('problem' in session) return session
  if (!isOperator(env, session)) return NO_OPERATOR
  const { row, user, credentialId } = session
  return { ok: true, operator: { userId: user?.id ?? null, credentialId, parent: parentOfLinkBy(row), isByLink: row.made === 'LINK' } }
}

/** Whether a session still has the rights on its account that it had when `principal` was made (DER-42). */
export async function isCookieStillGood(
  env: Env,
  { secret }: CookieShown,
  principal: Principal,
  nowMs: number,
  maxAgeMs: number,
): Promise<boolean> {
  const id = await consoleSessionId(env, secret)
  const holds = (session: ConsoleSession) => {
    const answer = answerOf(session, principal.teamId, nowMs)
    if (!answer.ok || answer.principal.teamId !== principal.teamId) return false
    return session.key === null ? answer.principal.scopes === principal.scopes : isWithin(principal, answer.principal)
  }
  return sessions.isStillGood(id, nowMs, maxAgeMs, holds, async () => {
    const session = await open(env, id, nowMs, undefined)
    return session !== null && holds(session)
  })
}

/**
 * Returns the principal of a session for an account at present, and the parent of credentials that it makes; null: the session may not act
 * for it (DER-7).
 */
export async function actAgain(
  env: Env,
  sessionId: string,
  teamId: string,
  nowMs: number,
): Promise<{ principal: Principal; parent: Parent | null } | null> {
  const session = await open(env, sessionId, nowMs, undefined)
  if (session === null) return null
  const answer = answerOf(session, teamId, nowMs)
  return answer.ok && answer.principal.teamId === teamId ? { principal: answer.principal, parent: parentOfSession(session.row) } : null
}

/** Returns the session of a cookie, of any user, or the refusal. */
export async function findByCookie(
  env: Env,
  { secret, fault }: CookieShown,
  nowMs: number,
  visit: Visit | undefined,
): Promise<ConsoleSession | Refused> {
  if (fault !== null) return { ...INVALID, errors: [fault] }
  if (!SECRET_FORM.test(secret)) return INVALID
  const id = await consoleSessionId(env, secret)
  if (sessions.badOf(id, nowMs)) return INVALID
  const known = sessions.goodOf(id, nowMs)
  const current = known && !saysEnough(known, visit) ? sessions.youngOf(id, nowMs) : known
  const found = current ?? (await lookUp(env, id, nowMs, visit))
  if (found === null) return INVALID
  if ('problem' in found) return found
  return hasEnded(found, nowMs) ? EXPIRED : found
}

// A session that acts as a key does not depend on memberships.
function saysEnough({ key, user }: ConsoleSession, visit: Visit | undefined): boolean {
  return key !== null || user === null || isMember(user.accounts, visit)
}

/** Whether a session opens the operator API: one of a sign-in at the provider does while the user is listed as an operator (SESSION-13). */
export function isOperator(env: Env, { row, user }: FoundSession): boolean {
  if (!row.isOperator || user?.isDeleted || isSuspended(user)) return false
  return row.made !== 'OIDC' || (user !== null && readSettings(env).console.operators.includes(user.email))
}

/** Returns the hash of a session's secret, which is stored in its place. */
export function consoleSessionId(env: Env, secret: string): Promise<string> {
  return hashKeySecret(env.KEY_PEPPER, secret)
}

async function lookUp(env: Env, id: string, nowMs: number, visit: Visit | undefined): Promise<ConsoleSession | Refused | null> {
  const source = visit?.source() ?? null
  const find = () => open(env, id, nowMs, visit)
  const lookup = source === null ? { found: await find() } : await lookUpFor(`session ${source}`, nowMs, find)
  return 'waitSeconds' in lookup ? { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds } : lookup.found
}

async function open(env: Env, id: string, nowMs: number, visit: Visit | undefined): Promise<ConsoleSession | null> {
  const mark = sessions.mark()
  const db = openDatabase(env.DB)
  const found = await findConsoleSession(db, id)
  const session = found && (await withParent(env, found, nowMs))
  if (!session) {
    sessions.keepBad(id, true, nowMs, mark)
    return null
  }
  sessions.keepGood(id, session, nowMs, mark)
  if (nowMs - session.row.seenAt >= SEEN_EVERY_MS) visit?.waitUntil(touchConsoleSession(db, id, nowMs))
  return session
}

// DER-1: a session ends with its parent.
async function withParent(env: Env, found: FoundSession, nowMs: number): Promise<ConsoleSession | null> {
  const session = { ...found, credentialId: found.row.id.slice(0, CREDENTIAL_CHARS), key: null }
  const parent = parentOfSession(found.row)
  if (parent === null) return session
  if (parent.kind !== 'KEY' || found.row.made !== 'KEY') return (await isParentGood(env, parent, nowMs)) ? session : null
  const key = await verifyKeyAgain(env, parent.id, nowMs)
  return key && { ...session, key }
}

function answerOf(session: ConsoleSession, askedTeam: string | null, nowMs: number): Authentication {
  const { key, user, credentialId } = session
  if (hasEnded(session, nowMs)) return EXPIRED
  if (key?.isSuspended) return { ok: false, problem: 'accountSuspended', sessionAccount: null }
  if (key) return { ok: true, principal: key.principal }
  if (user === null) return OF_OPERATOR
  if (user.isDeleted) return { ok: false, problem: 'accessDenied', detail: 'this account was deleted: contact the operator of the plane' }
  return actAs({ credentialId, userId: user.id, accounts: user.accounts }, askedTeam)
}

function hasEnded({ row, key }: ConsoleSession, nowMs: number): boolean {
  return row.expiresAt <= nowMs || (key !== null && isExpired(key, nowMs))
}

function isSuspended(user: FoundSession['user']): boolean {
  return user !== null && user.accounts.all.get(user.accounts.own)?.isSuspended === true
}
