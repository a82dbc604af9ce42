import type { ContainerSpec, SecretGrants } from './container.ts'
import { referencedSecrets } from './secret-references.ts'

/** A principal as far as it grants (CAP-10). */
export interface Granter {
  userId: string
  /** Whether it may read the account's secrets, and so let a workload have them. */
  mayGrant: boolean
}

export type GrantResult = { ok: true; container: ContainerSpec } | { ok: false; names: string[] }

/**
 * A container as a principal may write it (CAP-10): what its variables name anew is granted by this principal, if it may; what `held` or the
 * container had been granted stays so, whoever writes. What is named no more is granted no more.
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
  const { secretGrants: _former, ...rest } = container
  if (named.length === 0) return { ok: true, container: rest }
  return { ok: true, container: { ...rest, secretGrants: Object.fromEntries(named.map((name) => [name, granterOf(name) ?? userId])) } }
}

/** What variables of a release without grants name: all of it counts as granted (CAP-12). Undefined where they name nothing. */
export function formerGrants(env: ContainerSpec['env']): SecretGrants | undefined {
  const named = referencedSecrets(env)
  return named.length > 0 ? Object.fromEntries(named.map((name) => [name, ''])) : undefined
}

/** Why a container is not started (CAP-11): its variables name secrets that it was not granted. Null when it was granted all. */
export function refuseUngranted({ env, secretGrants = {} }: Pick<ContainerSpec, 'env' | 'secretGrants'>): string | null {
  const missing = referencedSecrets(env).filter((name) => !Object.hasOwn(secretGrants, name))
  if (missing.length === 0) return null
  return `env names secrets that were not granted: ${missing.join(', ')}; write env again with a key that has the scope account:read`
}
