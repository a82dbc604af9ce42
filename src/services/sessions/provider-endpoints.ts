import { isSafeUrl, type Provider } from '../../domain/session/settings.ts'
import { fetchJson } from '../../platform/fetch-json.ts'

/** Addresses for signing in at a provider, from its discovery document. */
export interface ProviderEndpoints {
  authorization: string
  token: string
  /** Address of the claims that its ID tokens omit; null: there is none. */
  userInfo: string | null
  /** Whether the client secret goes into the request's header; else it goes into the body. */
  takesBasic: boolean
}

const DISCOVERY_PATH = '/.well-known/openid-configuration'
const MAX_DOCUMENT_BYTES = 256 * 1024
/** How long the addresses of a discovery document are reused. */
const KNOWN_TTL_MS = 3_600_000
/** Default of a provider that lists no methods (OpenID Connect Discovery, 3). */
const USUAL_METHODS = ['client_secret_basic']

const known = new Map<string, { endpoints: ProviderEndpoints; atMs: number }>()

/** Returns the sign-in addresses of a provider (CS-22). Throws when its document cannot be fetched or is invalid. */
export async function endpointsOf({ issuer }: Provider, nowMs: number): Promise<ProviderEndpoints> {
  const found = known.get(issuer)
  if (found && nowMs - found.atMs < KNOWN_TTL_MS) return found.endpoints
  const url = issuer.replace(/\/$/, '') + DISCOVERY_PATH
  const document = (await fetchJson(url, MAX_DOCUMENT_BYTES)) as Record<string, unknown>
  if (document.issuer !== issuer) throw new Error(`${url} has the issuer ${String(document.issuer)}: OIDC_ISSUER must match it exactly`)
  const methods = document.token_endpoint_auth_methods_supported
  const endpoints = {
    authorization: addressIn(document, 'authorization_endpoint', url),
    token: addressIn(document, 'token_endpoint', url),
    userInfo: document.userinfo_endpoint === undefined ? null : addressIn(document, 'userinfo_endpoint', url),
    takesBasic: (Array.isArray(methods) ? methods : USUAL_METHODS).includes('client_secret_basic'),
  }
  known.set(issuer, { endpoints, atMs: nowMs })
  return endpoints
}

/** Drops the cached addresses of all providers. */
export function forgetProviderEndpoints(): void {
  known.clear()
}

function addressIn(document: Record<string, unknown>, name: string, url: string): string {
  const address = document[name]
  if (typeof address !== 'string' || !isSafeUrl(address)) throw new Error(`${url} has no https:// URL as ${name}`)
  return address
}
