import { registryHostOf } from '../contract/registry-host.ts'
import { openDatabase } from '../db/client.ts'
import { findSealedRegistry } from '../db/resources/registries.ts'
import type { Env } from '../env.ts'
import { logEvent } from '../platform/log.ts'
import { deriveSealKey, openText, sealText } from '../platform/seal.ts'

/** What a host needs to pull a private image. Never part of a reply or a log line. */
export interface RegistryLogin {
  username: string
  password: string
}

/** A login together with the registry that it may be sent to. */
interface PullLogin extends RegistryLogin {
  host: string
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
export async function sealLogin(env: Env, registry: RegistryKey, { username, password }: RegistryLogin): Promise<SealedLogin> {
  const key = await sealKey(env)
  return {
    usernameSealed: await sealText(key, username, boundTo(registry, 'username')),
    passwordSealed: await sealText(key, password, boundTo(registry, 'password')),
  }
}

/**
 * The login behind a team's credential, for the host that pulls `image`; null when it is unknown, belongs to another registry (PP-195) or was
 * sealed under another TOKEN_SECRET.
 */
export async function openLogin(env: Env, teamId: string, id: string, image: string): Promise<PullLogin | null> {
  const row = await findSealedRegistry(openDatabase(env.DB), teamId, id)
  if (!row) return null
  const host = registryHostOf(image)
  if (row.host !== null && row.host !== host) {
    logEvent('warn', 'registryOfAnotherHost', { registryId: id, teamId })
    return null
  }
  const key = await sealKey(env)
  const username = await openText(key, row.usernameSealed, boundTo(row, 'username'))
  const password = await openText(key, row.passwordSealed, boundTo(row, 'password'))
  if (username !== null && password !== null) return { username, password, host }
  logEvent('warn', 'registryUnreadable', { registryId: id, teamId })
  return null
}

function sealKey(env: Env): Promise<CryptoKey> {
  return deriveSealKey(env.TOKEN_SECRET, 'D1 fields')
}

/** Table, row, field and team: a sealed text that is copied elsewhere does not open there. */
function boundTo({ id, teamId }: RegistryKey, field: 'username' | 'password'): string {
  return JSON.stringify(['registries', id, field, teamId])
}
