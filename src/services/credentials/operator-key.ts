import { readBearer } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { hashKeySecret, sameSecret } from '../../platform/crypto.ts'
import type { KeyProblem } from './authentication.ts'

/** An operator key shorter than this is taken as "not set": an empty or toy secret must not open the operator API. */
const MIN_OPERATOR_KEY_LENGTH = 16

/** Of a digest's 64 characters as many as tell operator keys apart. */
const DIGEST_CHARS = 32

/** Which operator key it is that the plane has now, so that sessions made of another one end (CS-3). It tells nothing of the key. */
export async function digestOfOperatorKey(env: Env): Promise<string> {
  return (await hashKeySecret(env.KEY_PEPPER, `operator key ${env.OPERATOR_KEY ?? ''}`)).slice(0, DIGEST_CHARS)
}

/** Says whether a header carries the operator's key (AUT-4a); null means it does, else why not. */
export async function authenticateOperator(env: Env, authorization: string | null): Promise<KeyProblem | null> {
  const bearer = readBearer(authorization)
  if (bearer.kind === 'NONE') return 'missingToken'
  const operatorKey = env.OPERATOR_KEY ?? ''
  const isSet = operatorKey.length >= MIN_OPERATOR_KEY_LENGTH
  return isSet && 'text' in bearer && (await sameSecret(bearer.text, operatorKey)) ? null : 'invalidToken'
}
