import type { Env } from '../../env.ts'
import { hashKeySecret } from '../../platform/crypto.ts'

/** Of a digest's 64 characters as many as tell operator keys apart. */
const DIGEST_CHARS = 32

/** Which operator key it is that the plane has now, so that sessions made of another one end (CS-3). It tells nothing of the key. */
export async function digestOfOperatorKey(env: Env): Promise<string> {
  return (await hashKeySecret(env.KEY_PEPPER, `operator key ${env.OPERATOR_KEY ?? ''}`)).slice(0, DIGEST_CHARS)
}
