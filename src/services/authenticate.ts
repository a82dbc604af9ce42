import { type CookieShown, readBearer, type Shown } from '../domain/session/bearer.ts'
import type { Env } from '../env.ts'
import type { Operator, Principal } from './context.ts'
import { type Authentication, INVALID, type Refused, type Visit } from './credentials/authentication.ts'
import { authenticateKey, isKeyStillGood } from './credentials/key-callers.ts'
import { authenticateOperator } from './credentials/operator-key.ts'
import { authenticateByCookie, isCookieStillGood, operatorByCookie } from './sessions/console-callers.ts'
import { authenticateSession, isSessionStillGood } from './sessions/session-callers.ts'

const BY_KEY: Operator = { userId: null, credentialId: null, parent: null, isByLink: false }

const TOO_LONG: Authentication = { ...INVALID, errors: ['the token is too long: have the provider put fewer claims into it'] }

/** Tells whose what a request shows is (ERR-8, CS-2). Zero D1 queries when warm. */
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
 * Whether what was shown is still good for whom it stood when a stream was opened, by a look that is at most `maxAgeMs` old, whoever
 * needed it (PP-215).
 */
export async function isStillGood(env: Env, authorization: Shown, principal: Principal, nowMs: number, maxAgeMs: number): Promise<boolean> {
  if (isCookie(authorization)) return isCookieStillGood(env, authorization, principal, nowMs, maxAgeMs)
  const bearer = readBearer(authorization)
  if (bearer.kind === 'KEY') return isKeyStillGood(env, bearer.text, principal, nowMs, maxAgeMs)
  return bearer.kind === 'TOKEN' && isSessionStillGood(env, bearer.text, principal, nowMs, maxAgeMs)
}

/** Who of the operators calls, by key or by the session of one (CS-13), or why it is none of them. */
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
