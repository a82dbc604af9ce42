import { openDatabase } from '../db/client.ts'
import { findSealedRegistry } from '../db/resources/registries.ts'
import type { Env } from '../env.ts'
import { logEvent } from '../platform/log.ts'
import { type FormerSeal, type Place, vaultOf } from '../platform/seal.ts'

/** What a host needs to pull a private image. Never part of a reply or a log line. */
export interface RegistryLogin {
  username: string
  password: string
}

/** Whose login it is, which is sealed with it. */
interface RegistryKey {
  id: string
  teamId: string
}

interface SealedLogin {
  usernameSealed: string
  passwordSealed: string
}

/** A login as D1 keeps it (RES-3). */
export function sealLogin(env: Env, registry: RegistryKey, { username, password }: RegistryLogin): SealedLogin {
  const vault = vaultOf(env)
  return {
    usernameSealed: vault.seal(placeOf(registry, 'username'), username),
    passwordSealed: vault.seal(placeOf(registry, 'password'), password),
  }
}

/** The login behind a team's credential, for the host that pulls; null when it is unknown or was sealed under another TOKEN_SECRET. */
export async function openLogin(env: Env, teamId: string, id: string): Promise<RegistryLogin | null> {
  const row = await findSealedRegistry(openDatabase(env.DB), teamId, id)
  if (!row) return null
  const login = openSealedLogin(env, row)
  if (login) return login
  logEvent('warn', 'registryUnreadable', { registryId: id, teamId })
  return null
}

/** A login as it is kept, opened; null when it was sealed under a secret that is gone. */
export function openSealedLogin(env: Env, row: RegistryKey & SealedLogin): RegistryLogin | null {
  const vault = vaultOf(env)
  const open = (field: 'username' | 'password', sealed: string) => vault.open(placeOf(row, field), sealed, formerSeal(row, field))
  const username = open('username', row.usernameSealed)
  const password = open('password', row.passwordSealed)
  return username === null || password === null ? null : { username, password }
}

/** Table, row, field and team: a sealed text that is copied elsewhere does not open there. */
function placeOf({ id, teamId }: RegistryKey, field: 'username' | 'password'): Place {
  return ['registries', id, field, teamId]
}

/** As logins were sealed when their key was one for all of D1. */
function formerSeal(registry: RegistryKey, field: 'username' | 'password'): FormerSeal {
  return { info: 'D1 fields', boundTo: JSON.stringify(placeOf(registry, field)) }
}
