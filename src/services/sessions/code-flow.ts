import {
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  type ClientAuth,
  ClientSecretPost,
  clockTolerance,
  None,
  processAuthorizationCodeResponse,
  processUserInfoResponse,
  ResponseBodyError,
  userInfoRequest,
  validateAuthResponse,
} from 'oauth4webapi'
import { CLOCK_TOLERANCE_SECONDS, type Claims, judgeFirstSight } from '../../domain/session/claims.ts'
import { type Attempt, authorizationQuery, readCallback, SIGN_IN_TTL_MS, type SignInFailure } from '../../domain/session/code-flow.ts'
import { returnPath } from '../../domain/session/console.ts'
import type { Provider } from '../../domain/session/settings.ts'
import { type Env, readSettings } from '../../env.ts'
import { sha256Base64Url, sha256Hex } from '../../platform/crypto.ts'
import { newSessionSecret } from '../../platform/ids.ts'
import { logEvent } from '../../platform/log.ts'
import { vaultOf } from '../../platform/seal.ts'
import { tryCharge } from '../accounts/rate-limit.ts'
import type { OperatorContext } from '../context.ts'
import type { Visit } from '../credentials/authentication.ts'
import { lookUpFor } from '../credentials/lookups.ts'
import { type Opened, openSession } from './console-sessions.ts'
import { requestOptions, serverOf } from './provider-endpoints.ts'
import { CREDENTIAL_CHARS } from './session-callers.ts'
import { NO_ACCOUNT, OUTDATED, signIn } from './sign-in.ts'
import { verifyToken } from './verify-token.ts'

const PLACE = ['console sign-in'] as const
const OPTIONS = requestOptions(64 * 1024)

/** The provider, and the client that the console is registered as there. */
interface Client {
  provider: Provider
  id: string
  secret: string | null
}

/** The user's return from the provider. */
interface Return {
  code: string
  query: URLSearchParams
  attempt: Attempt
  redirectUri: string
}

type Where = Pick<OperatorContext, 'env' | 'nowMs' | 'requestId'>

/** Returns the provider's address for a sign-in and the sealed state for the browser's cookie (SESSION-22); or the failure. */
export async function beginSignIn(
  { env, nowMs }: Where,
  { redirectUri, asked }: { redirectUri: string; asked: string | null },
): Promise<{ location: string; sealed: string } | { failure: SignInFailure }> {
  const client = clientOf(env)
  if (client === null) return { failure: 'provider' }
  const [state, nonce, verifier] = [newSessionSecret(), newSessionSecret(), newSessionSecret()]
  const attempt: Attempt = { state, nonce, verifier, returnTo: returnPath(asked), expiresAtMs: nowMs + SIGN_IN_TTL_MS }
  try {
    const location = new URL((await serverOf(client.provider, nowMs)).authorization_endpoint ?? '')
    const query = authorizationQuery(attempt, { clientId: client.id, redirectUri, challenge: await sha256Base64Url(verifier) })
    for (const [name, value] of query) location.searchParams.set(name, value)
    return { location: location.href, sealed: vaultOf(env).seal(PLACE, JSON.stringify(attempt)) }
  } catch (error) {
    return providerFailure(client, error)
  }
}

/** Signs in the user that the provider has sent back (SESSION-23), or returns the failure (SESSION-25). */
export async function completeSignIn(
  where: Where,
  { query, sealed, redirectUri }: { query: URLSearchParams; sealed: string | null; redirectUri: string },
  visit: Visit,
): Promise<{ opened: Opened; returnTo: string } | { failure: SignInFailure }> {
  const { env, nowMs } = where
  const client = clientOf(env)
  const attempt = openAttempt(env, sealed)
  if (client === null) return { failure: 'provider' }
  const read = readCallback(query, attempt, nowMs)
  if ('failure' in read || attempt === null) return 'failure' in read ? read : { failure: 'expired' }
  let failure: SignInFailure = 'failed'
  const exchange = async () => {
    const done = await enter(where, client, { code: read.code, query, attempt, redirectUri }, visit)
    if (!('failure' in done)) return done
    failure = done.failure
    return null
  }
  // KEY-10: limits the requests to the provider that a client with invented codes can cause.
  const source = visit.source()
  const lookup = source === null ? { found: await exchange() } : await lookUpFor(`sign-in ${source}`, nowMs, exchange)
  const opened = 'found' in lookup ? lookup.found : null
  return opened === null ? { failure } : { opened, returnTo: attempt.returnTo }
}

async function enter(where: Where, client: Client, back: Return, visit: Visit): Promise<Opened | { failure: SignInFailure }> {
  const { env, nowMs } = where
  const claims = await claimsOf(client, back, nowMs, visit)
  if ('failure' in claims) return { failure: claims.failure as SignInFailure }
  const credentialId = (await sha256Hex(`${back.attempt.state} ${back.code}`)).slice(0, CREDENTIAL_CHARS)
  const found = await signIn(env, client.provider, { subject: String(claims.sub), claims, credentialId }, nowMs)
  if (found === OUTDATED) return { failure: 'expired' }
  if ('refusal' in found) return { failure: NO_ACCOUNT.includes(found) ? 'account' : 'email' }
  const { userId, accounts } = found
  if (accounts.all.get(accounts.own)?.isSuspended !== false) return { failure: 'suspended' }
  const charge = await tryCharge(env, { userId, teamId: accounts.own }, nowMs)
  if ('exceeded' in charge) return { failure: 'often' }
  const isOperator = isListed(env, client.provider, claims)
  return openSession(where, { made: 'OIDC', userId, keyId: null, isOperator, teamId: accounts.own, charge })
}

/** Exchanges the code for the provider's claims about the user; failures go to the log. */
async function claimsOf(client: Client, back: Return, nowMs: number, visit: Visit): Promise<Claims | { failure: SignInFailure }> {
  const { provider, id, secret } = client
  const { query, attempt, redirectUri } = back
  try {
    const server = { ...(await serverOf(provider, nowMs)), id_token_signing_alg_values_supported: [...provider.algorithms] }
    const registered = { client_id: id, [clockTolerance]: CLOCK_TOLERANCE_SECONDS }
    const callback = validateAuthResponse(server, registered, query, attempt.state)
    const auth = secret === null ? None() : takesBasic(server) ? basic(id, secret) : ClientSecretPost(secret)
    const response = await authorizationCodeGrantRequest(server, registered, auth, callback, redirectUri, attempt.verifier, OPTIONS)
    const checks = { expectedNonce: attempt.nonce, requireIdToken: true }
    const answer = await processAuthorizationCodeResponse(server, registered, response, checks)
    // The library has checked the claims; the signature is checked with the same cached keys as sessions (OIDC-4).
    const token = answer.id_token ?? ''
    const verified = await verifyToken({ ...provider, audiences: [id] }, token, nowMs, (promise) => visit.waitUntil(promise))
    if (verified === 'UNAVAILABLE') throw new Error('the keys of the identity provider are not available')
    if ('fault' in verified) throw new Error(`the ID token is refused: ${verified.fault ?? 'it is not signed by the provider'}`)
    const { claims, subject } = verified
    // The library checks this only if there are several audiences.
    if (claims.azp !== undefined && claims.azp !== id) throw new Error('the ID token belongs to another client (azp)')
    if (claims.email !== undefined || server.userinfo_endpoint === undefined) return claims
    // A user with a known identity needs no address, so a failure here does not prevent their sign-in.
    const received = await userInfoRequest(server, registered, answer.access_token, OPTIONS)
      .then((info) => processUserInfoResponse(server, registered, subject, info))
      .catch((error: unknown) => {
        providerFailure(client, error)
        return null
      })
    return received === null ? claims : { ...claims, email: received.email, email_verified: received.email_verified }
  } catch (error) {
    return providerFailure(client, error)
  }
}

function takesBasic({ token_endpoint_auth_methods_supported: methods }: AuthorizationServer): boolean {
  return !Array.isArray(methods) || methods.includes('client_secret_basic')
}

/** Basic authentication. The library also encodes `-_.!~*'()`, which some providers do not decode. */
function basic(id: string, secret: string): ClientAuth {
  return (_server, _client, _body, headers) =>
    headers.set('authorization', `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`)
}

function clientOf(env: Env): Client | null {
  const { sessions, console } = readSettings(env)
  if (sessions === null || 'fault' in sessions || console.client === null) return null
  return { provider: sessions, ...console.client }
}

// SESSION-13: uses the address that the provider has verified in this sign-in, not a stored one.
function isListed(env: Env, provider: Provider, claims: Claims): boolean {
  const sight = judgeFirstSight(claims, provider.emailDomains)
  return 'email' in sight && readSettings(env).console.operators.includes(sight.email)
}

function openAttempt(env: Env, sealed: string | null): Attempt | null {
  const text = sealed === null ? null : vaultOf(env).open(PLACE, sealed)
  return text === null ? null : (JSON.parse(text) as Attempt)
}

function providerFailure({ provider }: Client, error: unknown): { failure: 'provider' } {
  // Not an error of the plane, because a client with invented codes can cause it.
  const detail = error instanceof ResponseBodyError ? `: ${error.error}` : ''
  const reason = error instanceof Error ? error.message + detail : String(error)
  logEvent('warn', 'a user cannot sign in at the identity provider', { issuer: provider.issuer, reason })
  return { failure: 'provider' }
}
