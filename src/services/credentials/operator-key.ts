import { readBearer } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret, sameSecret } from '../../platform/crypto.ts'
import type { KeyProblem } from './authentication.ts'

/** An operator key shorter than this is taken as "not set": an empty or toy secret must not open the operator API. */
const MIN_OPERATOR_KEY_LENGTH = 16

/** Characters kept of a digest's 64, enough to distinguish operator keys. */
const DIGEST_CHARS = 32

/**
 * Returns an identifier of the present operator key, so that sessions made with another key end (SESSION-3). It reveals nothing about the
 * key.
 */
export async function digestOfOperatorKey(env: Env): Promise<string> {
  return (await hashKeySecret(env.KEY_PEPPER, `operator key ${env.OPERATOR_KEY ?? ''}`)).slice(0, DIGEST_CHARS)
}

/** Returns null when a header carries the operator's key (AUT-4a), else the problem. */
export async function authenticateOperator(env: Env, authorization: string | null): Promise<KeyProblem | null> {
  const bearer = readBearer(authorization)
  if (bearer.kind === 'NONE') return 'missingToken'
  const operatorKey = env.OPERATOR_KEY ?? ''
  const isSet = operatorKey.length >= MIN_OPERATOR_KEY_LENGTH
  return isSet && 'text' in bearer && (await sameSecret(bearer.text, operatorKey)) ? null : 'invalidToken'
}
