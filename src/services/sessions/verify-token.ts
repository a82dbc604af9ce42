import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { CLOCK_TOLERANCE_SECONDS, isCallersType, type Subject, subjectOf } from '../../domain/session/claims.ts'
import type { Provider } from '../../domain/session/settings.ts'
import { currentKeys, type Later, newerKeys, type ProviderKeys } from './provider-keys.ts'

/** A token that the provider has signed for this plane. */
export interface Verified extends Subject {
  claims: JWTPayload
}

/**
 * The result of a verification: verified, invalid with the reason (null: not the provider's token), or UNAVAILABLE while it cannot be
 * checked.
 */
export type TokenVerdict = Verified | { fault: string | null } | 'UNAVAILABLE'

/** Explanations for invalid claims of a token with a valid signature: the name of the claim, never the expected value. */
const FAULTS: Readonly<Record<string, string>> = {
  iss: 'the issuer of the token (iss) is not OIDC_ISSUER of this plane',
  aud: 'the audience of the token (aud) is not OIDC_AUDIENCE of this plane',
  nbf: 'the token is not valid yet (nbf)',
  exp: 'the token has no expiry (exp)',
  sub: 'the token has no subject (sub)',
}

/**
 * Verifies a token against the provider's keys (OIDC-2). Ignores keys that its header contains or points to (`jwk`, `jku`, `x5u`, `x5c`).
 */
export async function verifyToken(provider: Provider, token: string, nowMs: number, later: Later): Promise<TokenVerdict> {
  const keys = await currentKeys(provider, nowMs, later)
  if (keys === null) return isOf(provider, token) ? 'UNAVAILABLE' : { fault: null }
  const verdict = await verifyWith(keys, provider, token, nowMs)
  if (verdict !== 'UNKNOWN_KEY') return verdict
  if (!isOf(provider, token)) return { fault: null }
  const newer = await newerKeys(provider, keys, nowMs, later)
  if (newer === null) return 'UNAVAILABLE'
  const again = newer === keys ? 'UNKNOWN_KEY' : await verifyWith(newer, provider, token, nowMs)
  return again === 'UNKNOWN_KEY' ? { fault: null } : again
}

/**
 * Whether a token claims to be the provider's, which proves nothing: a token of another issuer, such as a host's, is refused whether or not
 * the keys can be fetched.
 */
function isOf({ issuer }: Provider, token: string): boolean {
  try {
    return decodeJwt(token).iss === issuer
  } catch {
    return false
  }
}

async function verifyWith(
  keys: ProviderKeys,
  provider: Provider,
  token: string,
  nowMs: number,
): Promise<Verified | { fault: string | null } | 'UNKNOWN_KEY'> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms: [...provider.algorithms],
      issuer: provider.issuer,
      audience: [...provider.audiences],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(nowMs),
    })
    if (!isCallersType(protectedHeader.typ)) return { fault: 'the type of the token (typ) is for other uses' }
    const subject = subjectOf(payload)
    if (typeof subject === 'string') return { fault: subject }
    return subject.expiresAtMs <= nowMs ? EXPIRED : { ...subject, claims: payload }
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'UNKNOWN_KEY'
    if (error instanceof errors.JWTExpired) return EXPIRED
    return { fault: error instanceof errors.JWTClaimValidationFailed ? (FAULTS[error.claim] ?? null) : null }
  }
}

const EXPIRED = { fault: 'the session has expired: sign in again' }
