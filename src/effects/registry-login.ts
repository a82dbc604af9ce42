import { registryHostOf } from '../contract/registry-host.ts'
import { openDatabase } from '../db/client.ts'
import { findDelegations } from '../db/resources/delegations.ts'
import { findSealedRegistry } from '../db/resources/registries.ts'
import type { ContainerSpec } from '../domain/resources/container.ts'
import { type EcrRepository, ecrArn, ecrHost, ecrRepositoryOf } from '../domain/resources/ecr.ts'
import type { Env } from '../env.ts'
import { logEvent } from '../platform/log.ts'
import { type LegacySeal, type Place, vaultOf } from '../platform/seal.ts'
import { delegatedToken } from './ecr/delegated-token.ts'

/** Login to pull a private image. Never part of a reply or a log line. */
export interface RegistryLogin {
  username: string
  password: string
}

/** A login together with the registry that it may be sent to. */
export interface PullLogin extends RegistryLogin {
  host: string
}

/** The login for a workload's image pull, or null; or the reason why there can be none. */
export type PullWith = { ok: true; login: PullLogin | null } | { ok: false; reason: string }

/** The owner of a login, which is sealed with it. */
interface RegistryKey {
  id: string
  teamId: string
}

interface SealedLogin {
  usernameSealed: string
  passwordSealed: string
}

/** Seals a login for storage in D1 (RES-3). */
export function sealLogin(env: Env, registry: RegistryKey, { username, password }: RegistryLogin): SealedLogin {
  const vault = vaultOf(env)
  return {
    usernameSealed: vault.seal(placeOf(registry, 'username'), username),
    passwordSealed: vault.seal(placeOf(registry, 'password'), password),
  }
}

/** Returns the login for a team's container: that of the named credential, or one by a delegation of its repository (REG-5). */
export async function pullWith(
  env: Env,
  teamId: string,
  { registry, image }: Pick<ContainerSpec, 'registry' | 'image'>,
): Promise<PullWith> {
  if (registry !== null) return { ok: true, login: await openLogin(env, teamId, registry, image) }
  const repository = ecrRepositoryOf(image)
  const [newest, ...older] = repository === null ? [] : await findDelegations(openDatabase(env.DB), teamId, repository)
  if (!repository || !newest) return { ok: true, login: null }
  const delegation = [newest, ...older].find(({ endedBecause }) => endedBecause === null)
  // DER-24: AWS is not asked in the name of a user who has lost the right to delegate.
  if (!delegation) return { ok: false, reason: endedReason(repository, newest.endedBecause) }
  const token = await delegatedToken(env, { teamId, userId: delegation.delegatorUserId }, repository)
  return token.ok ? { ok: true, login: { username: token.username, password: token.password, host: ecrHost(repository) } } : token
}

function endedReason(repository: EcrRepository, why: string | null): string {
  return `the image is pulled by delegation, but the delegation of ${ecrArn(repository)} is not valid: ${why}; delegate the repository again`
}

/**
 * Returns the login of a team's credential for the host that pulls `image`; null when it is unknown, belongs to another registry (REG-20)
 * or was sealed under another TOKEN_SECRET.
 */
export async function openLogin(env: Env, teamId: string, id: string, image: string): Promise<PullLogin | null> {
  const row = await findSealedRegistry(openDatabase(env.DB), teamId, id)
  if (!row) return null
  const host = registryHostOf(image)
  if (row.host !== null && row.host !== host) {
    logEvent('warn', 'registryOfAnotherHost', { registryId: id, teamId })
    return null
  }
  const login = openSealedLogin(env, row)
  if (login) return { ...login, host }
  logEvent('warn', 'registryUnreadable', { registryId: id, teamId })
  return null
}

/** Opens a stored login; null when it was sealed under a secret that is gone. */
export function openSealedLogin(env: Env, row: RegistryKey & SealedLogin): RegistryLogin | null {
  const vault = vaultOf(env)
  const open = (field: 'username' | 'password', sealed: string) => vault.open(placeOf(row, field), sealed, legacySeal(row, field))
  const username = open('username', row.usernameSealed)
  const password = open('password', row.passwordSealed)
  return username === null || password === null ? null : { username, password }
}

/** Table, row, field and team: a sealed text that is copied to another place does not open there. */
function placeOf({ id, teamId }: RegistryKey, field: 'username' | 'password'): Place {
  return ['registries', id, field, teamId]
}

/** The seal format of logins that used one key for all of D1. */
function legacySeal(registry: RegistryKey, field: 'username' | 'password'): LegacySeal {
  return { info: 'D1 fields', boundTo: JSON.stringify(placeOf(registry, field)) }
}
