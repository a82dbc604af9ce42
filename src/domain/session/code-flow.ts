import type { Claims } from './claims.ts'

/** Sign-in at the provider by the authorization code flow with PKCE (RFC 7636), without clock and network. */

/** Time that a user has to return from the provider. */
export const SIGN_IN_TTL_MS = 10 * 60_000
/** Maximum length of a code that is accepted. */
const MAX_PARAMETER_CHARS = 4096

/** Why a sign-in failed; the console page has a text for each (CS-25). */
export type SignInFailure = 'denied' | 'expired' | 'email' | 'account' | 'suspended' | 'provider' | 'often' | 'failed'

/** State of a sign-in attempt, which the browser holds in sealed form until the user returns (CS-22). */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
  returnTo: string
  expiresAtMs: number
}

/** Query of the authorization request. */
export function authorizationQuery(
  { state, nonce }: Attempt,
  { clientId, redirectUri, challenge }: { clientId: string; redirectUri: string; challenge: string },
): URLSearchParams {
  return new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email',
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
}

/** Reads the provider's redirect back to the plane: the code, or why there is none. */
export function readCallback(
  query: URLSearchParams,
  attempt: Attempt | null,
  issuer: string,
  nowMs: number,
): { code: string } | { failure: SignInFailure } {
  if (attempt === null || attempt.expiresAtMs <= nowMs || query.get('state') !== attempt.state) return { failure: 'expired' }
  // RFC 9207: an answer of another issuer is refused.
  const said = query.get('iss')
  if (said !== null && said !== issuer) return { failure: 'provider' }
  const error = query.get('error')
  if (error !== null) return { failure: error === 'access_denied' ? 'denied' : 'provider' }
  const code = query.get('code')
  return code === null || code === '' || code.length > MAX_PARAMETER_CHARS ? { failure: 'provider' } : { code }
}

/** Whether a verified ID token belongs to an attempt of this client (OpenID Connect Core, 3.1.3.7). */
export function answersAttempt(claims: Claims, attempt: Attempt, clientId: string): boolean {
  const isForClient = claims.azp === undefined || claims.azp === clientId
  const isAlone = !Array.isArray(claims.aud) || claims.aud.length === 1 || claims.azp === clientId
  return claims.nonce === attempt.nonce && isForClient && isAlone
}

/** Claims of an ID token, with the e-mail claims of the provider's UserInfo answer if it has the same subject. */
export function withUserInfo(claims: Claims, told: unknown): Claims {
  if (typeof told !== 'object' || told === null) return claims
  const { sub, email, email_verified: verified } = told as Record<string, unknown>
  return sub === claims.sub ? { ...claims, email, email_verified: verified } : claims
}
