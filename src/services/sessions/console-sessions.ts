import type { SignedIn } from '../../contract/console/session.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/sessions/console-sessions.ts'
import { scopesOfRole } from '../../domain/access.ts'
import type { CookieShown } from '../../domain/session/bearer.ts'
import { CONSOLE_SESSION_TTL_MS } from '../../domain/session/console.ts'
import { auditStatement } from '../../effects/audit.ts'
import type { Env } from '../../env.ts'
import { newSessionSecret } from '../../platform/ids.ts'
import { byCaller, byOperator } from '../../rpc/cause.ts'
import { type Counted, countedBy } from '../../rpc/counted.ts'
import { type Charge, chargeRequest } from '../accounts/rate-limit.ts'
import type { RateLimitHeaders } from '../accounts/rate-limit-headers.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { INVALID, type Refused, type Visit } from '../credentials/authentication.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { authenticateKey } from '../credentials/key-callers.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { authenticateOperator, digestOfOperatorKey } from '../credentials/operator-key.ts'
import { verifyKeyAgain } from '../credentials/verify-key.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { authenticateByCookie, type ConsoleSession, consoleSessionId, findByCookie, isOperator } from './console-callers.ts'
import { CREDENTIAL_CHARS } from './session-callers.ts'

/** The signed-in user, without the fields that are equal for all users. */
type SessionView = Omit<SignedIn, 'ways' | 'podProxyDomain'>

/** A new session for a page: the secret goes into the cookie only. */
export interface Opened {
  secret: string
  expiresAtMs: number
  /** The requests left to the user (RATE-2); null: they are not counted. */
  rateLimit: RateLimitHeaders | null
}

/** The user of a session, the credential that it ends with, and the rate limit charge of the sign-in. */
type Made = Pick<table.ConsoleSessionRow, 'made' | 'userId' | 'keyId' | 'isOperator'> & {
  teamId: string | null
  untilMs?: number | null
  parent?: string | null
  charge: Charge
}

type Where = Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>

/** A text with this prefix is handled as an operator key, so that wrong ones are counted (KEY-10). */
const OPERATOR_PREFIX = /^ppo_/

/**
 * Opens a session that acts as a key and ends with it (SESSION-3), or returns the refusal. Counts as a request of the key's user (DER-13).
 * Throws 429.
 */
export async function signInWithKey(where: Where, key: string, visit: Visit): Promise<Opened | Refused> {
  const { env, nowMs } = where
  if (OPERATOR_PREFIX.test(key)) return signInAsOperator(where, key, visit)
  const known = await authenticateKey(env, key, nowMs, visit)
  if (!known.ok) return known
  const { via, userId, teamId, credentialId } = known.principal
  // The key of a pod opens no session, because it is for that pod only.
  if (via !== 'KEY') return INVALID
  const charge = await chargeRequest(env, { userId, teamId }, nowMs)
  const verdict = await verifyKeyAgain(env, credentialId, nowMs)
  if (verdict === null) return INVALID
  return openSession(where, { made: 'KEY', userId, keyId: credentialId, isOperator: false, teamId, untilMs: verdict.expiresAtMs, charge })
}

async function signInAsOperator(where: Where, key: string, visit: Visit): Promise<Opened | Refused> {
  const { env, nowMs } = where
  const check = async () => ((await authenticateOperator(env, `Bearer ${key}`)) === null ? true : null)
  const source = visit.source()
  const lookup = source === null ? { found: await check() } : await lookUpFor(`operator ${source}`, nowMs, check)
  if ('waitSeconds' in lookup) return { ok: false, problem: 'rateLimited', waitSeconds: lookup.waitSeconds }
  if (!lookup.found) return INVALID
  const charge = { counted: countedBy('operatorKey'), rateLimit: null }
  return openSession(where, {
    made: 'OPERATOR_KEY',
    userId: null,
    keyId: await digestOfOperatorKey(env),
    isOperator: true,
    teamId: null,
    charge,
  })
}

/** Stores a session under a new secret, whatever cookie the browser had before (SESSION-9), with its audit row. */
export async function openSession({ env, nowMs, requestId }: Where, made: Made): Promise<Opened> {
  const secret = newSessionSecret()
  const id = await consoleSessionId(env, secret)
  const expiresAt = Math.min(nowMs + CONSOLE_SESSION_TTL_MS, made.untilMs ?? Number.POSITIVE_INFINITY)
  const { made: way, userId, keyId, isOperator, teamId, parent = null, charge } = made
  const row = { id, made: way, userId, keyId, isOperator, createdAt: nowMs, expiresAt, seenAt: nowMs, revokedAt: null, parent }
  const after = { signedInBy: way, isOperator, expiresAt: formatTime(expiresAt) }
  const note = noteSession({ env, nowMs, requestId }, row, teamId, 'sessions.create', { before: null, after }, charge.counted)
  await table.insertConsoleSession(openDatabase(env.DB), row, [note])
  return { secret, expiresAtMs: expiresAt, rateLimit: charge.rateLimit }
}

/** Ends the session of a cookie: at once in this isolate, within 60 s everywhere. Does nothing for a session that has ended. */
export async function signOut(where: Where, shown: CookieShown, visit: Visit): Promise<void> {
  const { env, nowMs } = where
  const session = await findByCookie(env, shown, nowMs, visit)
  if ('problem' in session) return
  const teamId = session.key?.principal.teamId ?? session.user?.accounts.own ?? null
  const note = noteSession(where, session.row, teamId, 'sessions.end', { before: {}, after: null }, countedBy('signIn'))
  await table.revokeConsoleSession(openDatabase(env.DB), session.row.id, nowMs, [note])
  dropCachedDecisions()
}

/**
 * Ends all sessions of a user (SESSION-17), open sign-in links and what the user made as an operator (DER-6): at once in this isolate,
 * within 60 s elsewhere. Idempotent. Throws 404.
 */
export async function endSessionsOf(ctx: OperatorContext, userId: string): Promise<void> {
  const { env, nowMs } = ctx
  const user = await findUserOrThrow(env, userId)
  const note = (action: string) =>
    noteByOperator(ctx, user.personalTeamId, { action, resourceKind: 'user', resourceId: userId, before: {}, after: {} })
  await table.revokeSessionsOf(openDatabase(env.DB), userId, nowMs, [note('users.end-sessions'), note('users.end-sign-in-links')])
  dropCachedDecisions()
}

/** Returns the signed-in user of a cookie, for a page to show (SESSION-7); null when no user is signed in. */
export async function describeSession(env: Env, shown: CookieShown, nowMs: number, visit: Visit): Promise<SessionView | Refused | null> {
  const session = await findByCookie(env, shown, nowMs, visit)
  if ('problem' in session) return session.problem === 'invalidToken' ? null : session
  const { row, user } = session
  const answer = await authenticateByCookie(env, shown, nowMs, visit)
  const suspended = !answer.ok && answer.problem === 'accountSuspended' ? answer.sessionAccount : null
  return {
    signedIn: true,
    user: user && { id: user.id, email: user.email, name: user.email.split('@', 1)[0] ?? user.email },
    accounts: user === null ? [] : await accountsOf(env, session),
    accountId: answer.ok ? answer.principal.teamId : (suspended ?? session.key?.principal.teamId ?? null),
    isOperator: isOperator(env, session),
    signedInBy: row.made,
    createdAt: formatTime(row.createdAt),
    expiresAt: formatTime(row.expiresAt),
  }
}

/** Returns the accounts of a session; a session that acts as a key has only the key's account, with the scopes of the key. */
async function accountsOf(env: Env, { user, key }: ConsoleSession): Promise<SessionView['accounts']> {
  if (user === null) return []
  const rows = await table.listAccounts(openDatabase(env.DB), user.id)
  const seen = key ? rows.filter(({ id }) => id === key.principal.teamId) : rows
  return seen.map(({ id, name, kind, role }) => ({
    id,
    name,
    kind: kind === 'PERSONAL' ? ('USER' as const) : kind,
    role,
    scopes: [...(key?.principal.scopes ?? scopesOfRole(role))],
    isSuspended: key?.isSuspended ?? user.accounts.all.get(id)?.isSuspended ?? false,
  }))
}

function noteSession(
  { env, nowMs, requestId }: Where,
  { id, made, userId, keyId }: Pick<table.ConsoleSessionRow, 'id' | 'made' | 'userId' | 'keyId'>,
  teamId: string | null,
  action: string,
  contents: { before: Record<string, unknown> | null; after: Record<string, unknown> | null },
  counted: Counted,
) {
  const resourceId = id.slice(0, CREDENTIAL_CHARS)
  const shown =
    made === 'KEY' ? ({ actorKind: 'KEY', credentialId: keyId } as const) : ({ actorKind: 'SESSION', credentialId: resourceId } as const)
  const cause =
    made === 'OPERATOR_KEY' ? byOperator({ userId, credentialId: null, requestId }) : byCaller(counted, { ...shown, userId, requestId })
  return auditStatement(env, nowMs, cause, teamId, { action, resourceKind: 'session', resourceId, ...contents })
}
