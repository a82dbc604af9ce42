import type { ContainerSpec, SecretGrants } from './container.ts'
import { referencedSecrets } from './secret-references.ts'

/** Fields of a principal that decide about grants (CAP-10). */
export interface Granter {
  userId: string
  /** Whether the principal may read the account's secrets, and so may grant them to a workload. */
  mayGrant: boolean
}

/** A container with its grants, or the names of the secrets that the principal may not grant. */
export type GrantResult = { ok: true; container: ContainerSpec } | { ok: false; names: string[] }

/**
 * Container as a principal may write it (CAP-10). The principal grants secrets that the variables newly name, if it may; earlier grants, of
 * the container or in `held`, stay in force regardless of who writes. Grants of secrets that are not named are dropped. Without the right
 * to grant, returns the names of the ungranted secrets.
 */
export function grantSecrets(
  container: ContainerSpec,
  held: readonly (SecretGrants | undefined)[],
  { userId, mayGrant }: Granter,
): GrantResult {
  const named = referencedSecrets(container.env)
  const before = [container.secretGrants, ...held]
  const granterOf = (name: string) => before.find((grants) => grants && Object.hasOwn(grants, name))?.[name]
  const missing = mayGrant ? [] : named.filter((name) => granterOf(name) === undefined)
  if (missing.length > 0) return { ok: false, names: missing }
  const { secretGrants: _secretGrants, ...rest } = container
  if (named.length === 0) return { ok: true, container: rest }
  return { ok: true, container: { ...rest, secretGrants: Object.fromEntries(named.map((name) => [name, granterOf(name) ?? userId])) } }
}

/**
 * Grants for variables written under a plane version without grants: all secrets that they name (CAP-12). Undefined where they name none.
 */
export function legacyGrants(env: ContainerSpec['env']): SecretGrants | undefined {
  const named = referencedSecrets(env)
  return named.length > 0 ? Object.fromEntries(named.map((name) => [name, ''])) : undefined
}

/** Why a container is not started (CAP-11): its variables name secrets that were not granted to it. Null when all were granted. */
export function refuseUngranted({ env, secretGrants = {} }: Pick<ContainerSpec, 'env' | 'secretGrants'>): string | null {
  const missing = referencedSecrets(env).filter((name) => !Object.hasOwn(secretGrants, name))
  if (missing.length === 0) return null
  return `env refers to secrets without a grant: ${missing.join(', ')}; set env again with a key that has the scope account:read`
}
