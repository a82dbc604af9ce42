import type { Env } from '../../../src/env.ts'
import type { Visit } from '../../../src/services/credentials/authentication.ts'
import { type Account, createAccount, createKeyIn, createOrganization, env, joinTeam } from '../harness.ts'

/** Who makes and ends credentials in a test of what is derived. */
export interface World {
  /** Of the plane as it is now: another operator key or list of operators makes another one. */
  env: Env
  /** An administrator of an organization, with a key that acts for it. */
  user: Account
  key: { id: string; key: string }
  org: string
  /** The owner's key of the organization. */
  ownerKey: string
  /** An operator by listed address. */
  maker: Account
  /** Of every session that was opened. */
  secrets: string[]
}

export const VISIT: Visit = { source: () => null, waitUntil: () => undefined }
export const where = (of: Env) => ({ env: of, nowMs: Date.now(), requestId: 'test' })

/** A new one. */
export async function makeWorld(): Promise<World> {
  const [user, maker, owner] = [await createAccount(), await createAccount(), await createAccount()]
  const org = await createOrganization(owner.key)
  const { key: ownerKey } = await createKeyIn(org, owner)
  await joinTeam(org, user, 'ADMIN')
  const key = await createKeyIn(org, user)
  return { env: { ...env, OIDC_OPERATORS: maker.email }, user, maker, key, org, ownerKey, secrets: [] }
}
