import { oneCase } from '../text/letter-case.ts'

/** The identity provider whose sessions the plane accepts, as configured by the operator (OIDC-1). */
export interface Provider {
  issuer: string
  /** Accepted audiences; a token must name one of them. */
  audiences: readonly string[]
  /** URL of the provider's keys; null: taken from its discovery document. */
  jwksUrl: string | null
  algorithms: readonly string[]
  /** Domains whose addresses may sign in for the first time; null: all domains. */
  emailDomains: readonly string[] | null
}

/** Null: no provider. A fault: a provider is configured, but the settings are invalid. */
export type SessionSettings = Provider | { fault: string } | null

/** Variables of the operator, unparsed. */
export interface SessionVariables {
  OIDC_ISSUER?: string
  OIDC_AUDIENCE?: string
  OIDC_JWKS_URL?: string
  OIDC_ALGORITHMS?: string
  OIDC_EMAIL_DOMAINS?: string
}

/** Asymmetric algorithms only: with a shared secret, every party that can verify a token could also sign one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const DEFAULT_ALGORITHMS = ['RS256', 'ES256']
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Parses the settings of the provider (OIDC-1). A fault disables sessions, with a text that names the variable; API keys still work. */
export function parseSessionSettings(vars: SessionVariables): SessionSettings {
  const issuer = (vars.OIDC_ISSUER ?? '').trim()
  if (issuer === '') return null
  if (!isSafeUrl(issuer)) return { fault: 'OIDC_ISSUER is no https:// address' }
  const audiences = listOf(vars.OIDC_AUDIENCE)
  if (audiences.length === 0) return { fault: 'OIDC_AUDIENCE is not set' }
  const jwksUrl = (vars.OIDC_JWKS_URL ?? '').trim() || null
  if (jwksUrl !== null && !isSafeUrl(jwksUrl)) return { fault: 'OIDC_JWKS_URL is no https:// address' }
  const algorithms = listOf(vars.OIDC_ALGORITHMS)
  const unsafe = algorithms.filter((name) => !ALGORITHMS.includes(name))
  if (unsafe.length > 0) return { fault: `OIDC_ALGORITHMS names ${unsafe.join(', ')}: it may hold ${ALGORITHMS.join(', ')}` }
  const domains = listOf(vars.OIDC_EMAIL_DOMAINS).map((domain) => oneCase(domain).replace(/^@/, ''))
  return {
    issuer,
    audiences,
    jwksUrl,
    algorithms: algorithms.length > 0 ? algorithms : DEFAULT_ALGORITHMS,
    emailDomains: domains.length > 0 ? domains : null,
  }
}

/** Whether keys may be fetched from a URL: https, or plain http on this machine, to try out a provider. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
}

function listOf(text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}
