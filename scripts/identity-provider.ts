/// <reference path="./oidc-provider.d.ts" />
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** The values with which a plane is configured for this provider. */
export const IDP_AUDIENCE = 'podplane'
export const IDP_CLIENT = 'podplane-console'
export const IDP_REDIRECT = 'http://127.0.0.1/signed-in'
/** The redirect URI of a plane's console. */
const IDP_CONSOLE = 'http://127.0.0.1/console/callback'
/** The resource that a client requests (RFC 8707); the audience of its tokens follows from it. */
export const IDP_RESOURCE = 'urn:podplane'
const LOOPBACK = '127.0.0.1'
const TOKEN_TTL_SECONDS = 3600

export interface IdentityProvider {
  issuer: string
  stop(): Promise<void>
}

/**
 * A certified OpenID Connect provider on loopback, for trying out sessions (DEV-15). It signs in any address with any password, so it must
 * not be reachable from other machines. It stores nothing: its key, too, is lost when it stops.
 */
export async function startIdentityProvider(port: number): Promise<IdentityProvider> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, LOOPBACK, resolve))
  const issuer = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), alg: 'ES256', use: 'sig' }
  server.on('request', new Provider(issuer, configuration(key)).callback())
  const stop = () => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { issuer, stop }
}

function configuration(key: object) {
  const emailOf = (accountId: string) => ({ email: accountId, email_verified: true })
  return {
    jwks: { keys: [key] },
    cookies: { keys: [crypto.randomUUID()] },
    clients: [
      {
        client_id: IDP_CLIENT,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        // The port of a redirect URI is not compared (RFC 8252 §7.3).
        redirect_uris: [IDP_REDIRECT, IDP_CONSOLE],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    // The console reads the e-mail address from the ID token.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId, ...emailOf(accountId) }) }),
    extraTokenClaims: (_context: unknown, token: { accountId: string }) => emailOf(token.accountId),
    ttl: {
      AccessToken: TOKEN_TTL_SECONDS,
      Grant: TOKEN_TTL_SECONDS,
      IdToken: TOKEN_TTL_SECONDS,
      Interaction: 600,
      Session: TOKEN_TTL_SECONDS,
    },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => IDP_RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid email',
          audience: IDP_AUDIENCE,
          accessTokenTTL: TOKEN_TTL_SECONDS,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  }
}
