import { readBearer } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { sameSecret } from '../../platform/crypto.ts'
import type { Principal } from '../context.ts'
import { type Authentication, INVALID, type KeyProblem, type Visit } from '../credentials/authentication.ts'
import { authenticateKey, forgetKeys, isKeyStillGood } from '../credentials/key-callers.ts'
import { authenticateSession, forgetSessions, isSessionStillGood } from '../sessions/session-callers.ts'
import { forgetMisses } from './lookups.ts'

/** An operator key shorter than this is taken as "not set": an empty or toy secret must not open the operator API. */
const MIN_OPERATOR_KEY_LENGTH = 16

const TOO_LONG: Authentication = { ...INVALID, errors: ['the token is too long: have the provider put fewer claims into it'] }

/** Tells who an `Authorization` header belongs to (ERR-8). Zero D1 queries when warm. */
export async function authenticate(env: Env, authorization: string | null, nowMs: number, visit?: Visit): Promise<Authentication> {
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
 * Whether what a header carries is still good for whom it stood when a stream was opened, by a look that is at most `maxAgeMs` old, whoever
 * needed it (PP-215).
 */
export async function isStillGood(
  env: Env,
  authorization: string | null,
  principal: Principal,
  nowMs: number,
  maxAgeMs: number,
): Promise<boolean> {
  const bearer = readBearer(authorization)
  if (bearer.kind === 'KEY') return isKeyStillGood(env, bearer.text, nowMs, maxAgeMs)
  return bearer.kind === 'TOKEN' && isSessionStillGood(env, bearer.text, principal, nowMs, maxAgeMs)
}

/** Says whether a header carries the operator's key (AUT-4a); null means it does, else why not. */
export async function authenticateOperator(env: Env, authorization: string | null): Promise<KeyProblem | null> {
  const bearer = readBearer(authorization)
  if (bearer.kind === 'NONE') return 'missingToken'
  const operatorKey = env.OPERATOR_KEY ?? ''
  const isSet = operatorKey.length >= MIN_OPERATOR_KEY_LENGTH
  return isSet && 'text' in bearer && (await sameSecret(bearer.text, operatorKey)) ? null : 'invalidToken'
}

/** Forgets every verdict of this isolate: a revocation made here, or a role that was changed here, bites here at once. */
export function forgetVerdicts(): void {
  forgetKeys()
  forgetSessions()
  forgetMisses()
}
