import type { Claims } from './claims.ts'

/** Signing in at the provider by its code flow with PKCE (RFC 7636), as far as it needs no clock and no network. */

/** Somebody has to be back from the provider within this time. */
export const SIGN_IN_TTL_MS = 10 * 60_000
/** Longest text of a code or state that is looked at. */
const MAX_PARAMETER_CHARS = 4096

/** Why somebody is not signed in, in words that the page of the console knows (CS-25). */
export type SignInFailure = 'denied' | 'expired' | 'email' | 'account' | 'suspended' | 'often' | 'provider' | 'failed'

/** What a browser keeps, sealed, until it is back (CS-22). */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
  returnTo: string
  expiresAtMs: number
}

/** What the provider is asked for. */
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

/** Judges what the provider has led a browser back with: the code, or why there is none. */
export function readCallback(
  query: URLSearchParams,
  attempt: Attempt | null,
  issuer: string,
  nowMs: number,
): { code: string } | { failure: SignInFailure } {
  if (attempt === null || attempt.expiresAtMs <= nowMs || query.get('state') !== attempt.state) return { failure: 'expired' }
  // RFC 9207: what another provider says is not this one's.
  const said = query.get('iss')
  if (said !== null && said !== issuer) return { failure: 'provider' }
  const error = query.get('error')
  if (error !== null) return { failure: error === 'access_denied' ? 'denied' : 'provider' }
  const code = query.get('code')
  return code === null || code === '' || code.length > MAX_PARAMETER_CHARS ? { failure: 'provider' } : { code }
}

/** Whether a verified ID token is the answer to an attempt of this client (OpenID Connect Core, 3.1.3.7). */
export function answersAttempt(claims: Claims, attempt: Attempt, clientId: string): boolean {
  const isForClient = claims.azp === undefined || claims.azp === clientId
  const isAlone = !Array.isArray(claims.aud) || claims.aud.length === 1 || claims.azp === clientId
  return claims.nonce === attempt.nonce && isForClient && isAlone
}

/** The claims of an ID token with those that the provider tells apart from it, of the same subject. */
export function withUserInfo(claims: Claims, told: unknown): Claims {
  if (typeof told !== 'object' || told === null) return claims
  const { sub, email, email_verified: verified } = told as Record<string, unknown>
  return sub === claims.sub ? { ...claims, email, email_verified: verified } : claims
}
