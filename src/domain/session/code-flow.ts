/** Sign-in at the provider by the authorization code flow with PKCE (RFC 7636), without clock and network. */

/** Time that a user has to return from the provider. */
export const SIGN_IN_TTL_MS = 10 * 60_000
/** Maximum length of a code that is accepted. */
const MAX_PARAMETER_CHARS = 4096

/** Why a sign-in failed; the console page has a text for each (SESSION-25). */
export type SignInFailure = 'denied' | 'expired' | 'email' | 'account' | 'suspended' | 'provider' | 'often' | 'failed'

/** State of a sign-in attempt, which the browser holds in sealed form until the user returns (SESSION-22). */
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
  nowMs: number,
): { code: string } | { failure: SignInFailure } {
  if (attempt === null || attempt.expiresAtMs <= nowMs || query.get('state') !== attempt.state) return { failure: 'expired' }
  const error = query.get('error')
  if (error !== null) return { failure: error === 'access_denied' ? 'denied' : 'provider' }
  const code = query.get('code')
  return code === null || code === '' || code.length > MAX_PARAMETER_CHARS ? { failure: 'provider' } : { code }
}
