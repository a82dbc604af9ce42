import { type AuthorizationServer, allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi'
import { isSafeUrl, type Provider } from '../../domain/session/settings.ts'
import { boundedFetch } from '../../platform/fetch-json.ts'

const MAX_DOCUMENT_BYTES = 256 * 1024
/** How long the addresses of a discovery document are reused. */
const KNOWN_TTL_MS = 3_600_000

const known = new Map<string, { server: AuthorizationServer; atMs: number }>()

/** Returns the discovery document of a provider (SESSION-22). Throws when it cannot be fetched or is invalid. */
export async function serverOf({ issuer }: Provider, nowMs: number): Promise<AuthorizationServer> {
  const found = known.get(issuer)
  if (found && nowMs - found.atMs < KNOWN_TTL_MS) return found.server
  const url = new URL(issuer)
  const server = await processDiscoveryResponse(url, await discoveryRequest(url, requestOptions(MAX_DOCUMENT_BYTES)))
  if (server.issuer !== issuer) throw new Error(`${url} has the issuer ${server.issuer}: OIDC_ISSUER must match it exactly`)
  const used = ['authorization_endpoint', 'token_endpoint', ...(server.userinfo_endpoint === undefined ? [] : ['userinfo_endpoint'])]
  const unsafe = used.find((name) => !isSafeUrl(String(server[name])))
  if (unsafe !== undefined) throw new Error(`${url} has no https:// URL as ${unsafe}`)
  known.set(issuer, { server, atMs: nowMs })
  return server
}

/** Bounds of a request to a provider. Its addresses are https:// or of this machine, so the library need not check that. */
export function requestOptions(maxBytes: number) {
  return { [customFetch]: boundedFetch(maxBytes), [allowInsecureRequests]: true }
}

/** Drops the cached addresses of all providers. */
export function dropProviderEndpoints(): void {
  known.clear()
}
