import { scopesOfRole } from '../../../../src/domain/access.ts'
import { countedAsRequest } from '../../../../src/rpc/counted.ts'
import { rotateOwnKey } from '../../../../src/services/accounts/own-keys.ts'
import { dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import { signOut } from '../../../../src/services/sessions/console-sessions.ts'
import { admin, api, env, expect } from '../../harness.ts'
import { VISIT, type World, where } from './world.ts'

/** A way in which the parent of a credential ends, and the reason why credentials that it leaves alone remain valid. */
interface Ending {
  end: (world: World) => Promise<unknown>
  elsewhere: string
}

const ended = (status: Promise<{ status: number }>) => status.then((reply) => expect([200, 204]).toContain(reply.status))
const NOT_OF_KEY = 'it comes from no such key'
const NOT_OF_OPERATOR = 'no operator has made it, or another one'
const NOT_OF_USER = 'it is of no user, or of another one'
const NOT_OF_ORG = 'it acts for no organization'

/** Every way in which a parent ends. Tests of derived credentials run all of them. */
export const ENDINGS = {
  'the key is revoked': { end: ({ key }) => ended(admin().delete(`/admin/v1/keys/${key.id}`)), elsewhere: NOT_OF_KEY },
  'the key expires': {
    end: ({ key }) => env.DB.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?').bind(Date.now(), key.id).run(),
    elsewhere: NOT_OF_KEY,
  },
  'the key is rotated': {
    end: ({ key, user, org }) => {
      const principal = { via: 'SESSION', credentialId: 'test', userId: user.userId, teamId: org, scopes: scopesOfRole('ADMIN') } as const
      return rotateOwnKey({ ...where(env), principal, counted: countedAsRequest() }, key.id, { overlapSeconds: 0 })
    },
    elsewhere: NOT_OF_KEY,
  },
  'the operator key is rotated': {
    end: async (world) => {
      world.env = { ...world.env, OPERATOR_KEY: 'ppo_another-operator-key-of-the-plane' }
    },
    elsewhere: 'the operator key has not made it',
  },
  'the address is unlisted': {
    end: async (world) => {
      world.env = { ...world.env, OIDC_OPERATORS: 'ops@example.com' }
    },
    elsewhere: NOT_OF_OPERATOR,
  },
  'the operator is suspended': {
    end: ({ maker }) => ended(admin().post(`/admin/v1/users/${maker.userId}/suspend`)),
    elsewhere: NOT_OF_OPERATOR,
  },
  'the operator is deleted': { end: ({ maker }) => ended(admin().delete(`/admin/v1/users/${maker.userId}`)), elsewhere: NOT_OF_OPERATOR },
  'the operator’s sessions are ended': {
    end: ({ maker }) => ended(admin().delete(`/admin/v1/users/${maker.userId}/sessions`)),
    elsewhere: NOT_OF_OPERATOR,
  },
  'the user is suspended': { end: ({ user }) => ended(admin().post(`/admin/v1/users/${user.userId}/suspend`)), elsewhere: NOT_OF_USER },
  'the user is deleted': { end: ({ user }) => ended(admin().delete(`/admin/v1/users/${user.userId}`)), elsewhere: NOT_OF_USER },
  'the user’s sessions are ended': {
    end: ({ user }) => ended(admin().delete(`/admin/v1/users/${user.userId}/sessions`)),
    elsewhere: `${NOT_OF_USER}; a key that was handed out is the account’s, and listed`,
  },
  'the member is removed': {
    end: ({ ownerKey, org, user }) => ended(api(ownerKey).delete(`/v2/organizations/${org}/members/${user.userId}`)),
    elsewhere: NOT_OF_ORG,
  },
  'the member is demoted': {
    end: ({ ownerKey, org, user }) => ended(api(ownerKey).patch(`/v2/organizations/${org}/members/${user.userId}`, { role: 'BASIC' })),
    elsewhere: NOT_OF_ORG,
  },
  'the organization is deleted': {
    end: async ({ ownerKey, org, user }) => {
      // The plane requires that the keys of others are revoked first.
      const { results } = await env.DB.prepare('SELECT id FROM api_keys WHERE team_id = ? AND user_id = ? AND revoked_at IS NULL')
        .bind(org, user.userId)
        .all<{ id: string }>()
      for (const { id } of results) await ended(api(ownerKey).delete(`/v2/account/keys/${id}`))
      await ended(api(ownerKey).delete(`/v2/organizations/${org}`))
    },
    elsewhere: NOT_OF_ORG,
  },
  'the session is signed out': {
    end: async (world) => {
      for (const secret of world.secrets) await signOut(where(world.env), { secret, fault: null }, VISIT)
    },
    elsewhere: 'it comes from what the session came from, and no session is its own',
  },
} as const satisfies Record<string, Ending>

export type EndingName = keyof typeof ENDINGS
export const ENDING_NAMES = Object.keys(ENDINGS) as EndingName[]

/** Ends a parent of a world, visibly to all isolates at once. */
export async function endIn(world: World, name: EndingName): Promise<void> {
  await ENDINGS[name].end(world)
  dropCachedDecisions()
}
