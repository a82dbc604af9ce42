import { type CookieShown, readBearer, type Shown } from '../domain/session/bearer.ts'
import type { Env } from '../env.ts'
import type { Operator, Principal } from './context.ts'
import { type Authentication, INVALID, type Refused, type Visit } from './credentials/authentication.ts'
import { authenticateKey, isKeyStillGood } from './credentials/key-callers.ts'
import { authenticateOperator } from './credentials/operator-key.ts'
import { authenticateByCookie, isCookieStillGood, operatorByCookie } from './sessions/console-callers.ts'
import { authenticateSession, isSessionStillGood } from './sessions/session-callers.ts'

const BY_KEY: Operator = { userId: null, credentialId: null, parent: null, isByLink: false }

const TOO_LONG: Authentication = {
  ...INVALID,
  errors: ['the token is too long: configure the identity provider to put fewer claims into it'],
}

/** Returns the caller behind a credential (ERR-8, SESSION-2). Zero D1 queries when warm. */
export async function authenticate(env: Env, authorization: Shown, nowMs: number, visit?: Visit): Promise<Authentication> {
  if (isCookie(authorization)) return authenticateByCookie(env, authorization, nowMs, visit)
  const bearer = readBearer(authorization)
  switch (bearer.kind) {
    case 'NONE':
      return { ok: false, problem: 'missingToken' }
    case 'TOO_LONG':
      return TOO_LONG
    case 'KEY':
      return authenticateKey(env, bearer.text, nowMs, visit)
    case 'TOKEN':
      return authenticateSession(env, bearer.text, nowMs, visit)
  }
}

/**
 * Whether the credential of an open stream is still valid for the same principal, by a lookup at most `maxAgeMs` old that all streams of
 * the credential share (DER-42).
 */
export async function isStillGood(env: Env, authorization: Shown, principal: Principal, nowMs: number, maxAgeMs: number): Promise<boolean> {
  if (isCookie(authorization)) return isCookieStillGood(env, authorization, principal, nowMs, maxAgeMs)
  const bearer = readBearer(authorization)
  if (bearer.kind === 'KEY') return isKeyStillGood(env, bearer.text, principal, nowMs, maxAgeMs)
  return bearer.kind === 'TOKEN' && isSessionStillGood(env, bearer.text, principal, nowMs, maxAgeMs)
}

/** Returns the operator who calls, by key or by session (SESSION-13), or the refusal. */
export async function identifyOperator(
  env: Env,
  shown: Shown,
  nowMs: number,
  visit: Visit,
): Promise<{ ok: true; operator: Operator } | Refused> {
  if (isCookie(shown)) return operatorByCookie(env, shown, nowMs, visit)
  const problem = await authenticateOperator(env, shown)
  return problem === null ? { ok: true, operator: BY_KEY } : { ok: false, problem }
}

function isCookie(shown: Shown): shown is CookieShown {
  return typeof shown === 'object' && shown !== null
}
