import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { mayFetchKeys, planKeys } from '../../domain/session/key-set.ts'
import { isSafeUrl, type Provider } from '../../domain/session/settings.ts'
import { FETCH_TIMEOUT_MS, fetchJson } from '../../platform/fetch-json.ts'
import { logEvent } from '../../platform/log.ts'

/** Returns the key that a token's header names. */
export type ProviderKeys = JWTVerifyGetKey

/** Lets a fetch outlive the response that it was started for. */
export type Later = (promise: Promise<unknown>) => void

const MAX_DOCUMENT_BYTES = 256 * 1024
const DISCOVERY_PATH = '/.well-known/openid-configuration'
/** How long the key address of a discovery document is reused. */
const DISCOVERED_TTL_MS = 3_600_000
/** Interval at which a request checks whether another request's fetch of the keys has ended. */
const REFRESH_EVERY_MS = 20

/** An isolate's cached keys of a provider. */
interface KeySet {
  keys: ProviderKeys | null
  fetchedAtMs: number | null
  triedAtMs: number | null
  isUnderWay: boolean
  hasFailed: boolean
  discovered: { jwksUrl: string; atMs: number } | null
}

/** Indexed by issuer and key address, both set by the operator, so there is one entry. */
const sets = new Map<string, KeySet>()

/** Returns the keys of a provider, at most an hour old; null when they cannot be fetched at present (OIDC-4). */
export async function currentKeys(provider: Provider, nowMs: number, later: Later): Promise<ProviderKeys | null> {
  const set = setOf(provider)
  const plan = planKeys(set, nowMs)
  if (plan === 'USE') return set.keys
  if (plan === 'USE_AND_REFRESH') {
    later(refresh(provider, set, nowMs))
    return set.keys
  }
  if (plan === 'UNAVAILABLE') return isBeingFetched(set, nowMs) ? untilFetched(set) : null
  const fetching = refresh(provider, set, nowMs)
  later(fetching)
  return (await fetching) ? set.keys : null
}

/**
 * Returns the keys of a provider after `before`, which lacks the requested key (OIDC-3): fetched once per cooldown for all callers. Returns
 * `before` itself when there are no others, and null when the keys cannot be fetched.
 */
export async function newerKeys(provider: Provider, before: ProviderKeys, nowMs: number, later: Later): Promise<ProviderKeys | null> {
  const set = setOf(provider)
  if (set.keys !== before) return set.keys
  if (isBeingFetched(set, nowMs)) return (await untilFetched(set)) ?? null
  if (!mayFetchKeys(set.triedAtMs, nowMs)) return set.hasFailed ? null : before
  const fetching = refresh(provider, set, nowMs)
  later(fetching)
  return (await fetching) ? set.keys : null
}

/** Drops the cached keys of all providers. */
export function dropProviderKeys(): void {
  sets.clear()
}

function setOf({ issuer, jwksUrl }: Provider): KeySet {
  const name = `${issuer}\n${jwksUrl ?? ''}`
  const set = sets.get(name) ?? {
    keys: null,
    fetchedAtMs: null,
    triedAtMs: null,
    isUnderWay: false,
    hasFailed: false,
    discovered: null,
  }
  sets.set(name, set)
  return set
}

/** Fetches the keys again; false when that fails, which is logged for the operator at most once per cooldown. */
async function refresh(provider: Provider, set: KeySet, nowMs: number): Promise<boolean> {
  set.triedAtMs = nowMs
  set.isUnderWay = true
  try {
    const jwks = await fetchJson(await addressOfKeys(provider, set, nowMs), MAX_DOCUMENT_BYTES)
    set.keys = createLocalJWKSet(keySetOf(jwks))
    set.fetchedAtMs = nowMs
    set.hasFailed = false
  } catch (error) {
    set.hasFailed = true
    set.discovered = null
    const ageMs = set.fetchedAtMs === null ? null : nowMs - set.fetchedAtMs
    logEvent('error', 'the keys of the identity provider cannot be fetched', { issuer: provider.issuer, ageMs, error })
  } finally {
    set.isUnderWay = false
  }
  return !set.hasFailed
}

async function addressOfKeys(provider: Provider, set: KeySet, nowMs: number): Promise<string> {
  if (provider.jwksUrl !== null) return provider.jwksUrl
  if (set.discovered && nowMs - set.discovered.atMs < DISCOVERED_TTL_MS) return set.discovered.jwksUrl
  const url = provider.issuer.replace(/\/$/, '') + DISCOVERY_PATH
  const { issuer, jwks_uri: jwksUrl } = (await fetchJson(url, MAX_DOCUMENT_BYTES)) as Record<string, unknown>
  if (issuer !== provider.issuer) throw new Error(`${url} has the issuer ${String(issuer)}: OIDC_ISSUER must match it exactly`)
  if (typeof jwksUrl !== 'string' || !isSafeUrl(jwksUrl)) throw new Error(`${url} has no https:// URL as jwks_uri`)
  set.discovered = { jwksUrl, atMs: nowMs }
  return jwksUrl
}

// An empty set would invalidate every session: it counts as an error of the provider, and the previous keys stay.
function keySetOf(document: unknown): JSONWebKeySet {
  const { keys } = document as Record<string, unknown>
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('the key set holds no keys')
  return document as JSONWebKeySet
}

/** The time limit covers a request that was aborted and left `isUnderWay` set. */
function isBeingFetched(set: KeySet, nowMs: number): boolean {
  return set.isUnderWay && set.triedAtMs !== null && nowMs - set.triedAtMs < FETCH_TIMEOUT_MS
}

// A request may not await the fetch of another one, so it polls with a timer of its own.
async function untilFetched(set: KeySet): Promise<ProviderKeys | null> {
  for (let waitedMs = 0; set.isUnderWay && waitedMs < FETCH_TIMEOUT_MS; waitedMs += REFRESH_EVERY_MS) await scheduler.wait(REFRESH_EVERY_MS)
  return set.hasFailed ? null : set.keys
}
