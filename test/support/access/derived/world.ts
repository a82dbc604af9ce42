import type { Env } from '../../../../src/env.ts'
import type { Visit } from '../../../../src/services/credentials/authentication.ts'
import { type Account, createAccount, createKeyIn, createOrganization, env, joinTeam } from '../../harness.ts'

/** The accounts that create and end credentials in a test of derived credentials. */
export interface World {
  /** The present settings of the plane: another operator key or list of operators makes another `env`. */
  env: Env
  /** An administrator of an organization, with a key that acts for it. */
  user: Account
  key: { id: string; key: string }
  org: string
  /** The owner's key of the organization. */
  ownerKey: string
  /** An operator by listed address. */
  maker: Account
  /** Secrets of all opened sessions. */
  secrets: string[]
}

export const VISIT: Visit = { source: () => null, waitUntil: () => undefined }
export const where = (of: Env) => ({ env: of, nowMs: Date.now(), requestId: 'test' })

/** Creates a new world. */
export async function makeWorld(): Promise<World> {
  const [user, maker, owner] = [await createAccount(), await createAccount(), await createAccount()]
  const org = await createOrganization(owner.key)
  const { key: ownerKey } = await createKeyIn(org, owner)
  await joinTeam(org, user, 'ADMIN')
  const key = await createKeyIn(org, user)
  return { env: { ...env, OIDC_OPERATORS: maker.email }, user, maker, key, org, ownerKey, secrets: [] }
}
