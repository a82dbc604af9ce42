import { openDatabase } from '../../../src/db/client.ts'
import { linkIdentity } from '../../../src/db/sessions/identities.ts'
import { newAuditId } from '../../../src/platform/ids.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { asSession, FakeProvider, ISSUER } from '../../support/access/provider.ts'
import { type Account, admin, afterEach, beforeEach, createAccount, describe, env, expect, it, teamOf, vi } from '../../support/harness.ts'

const PATH = '/v2/serverless'

let provider: FakeProvider
let account: Account
beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  provider = await FakeProvider.start()
  account = await createAccount()
})
afterEach(() => vi.restoreAllMocks())

/** An issue time later than everything that happens in a test. */
const inMinute = () => Math.floor(Date.now() / 1000) + 60

async function identitiesOf(userId: string) {
  return (await env.DB.prepare('SELECT issuer, subject FROM identities WHERE user_id = ?').bind(userId).all()).results
}

async function countAll() {
  return env.DB.prepare(
    'SELECT (SELECT COUNT(*) FROM users) users, (SELECT COUNT(*) FROM identities) ids, (SELECT COUNT(*) FROM audit) n',
  ).first()
}

describe('a user whose identities the operator has forgotten', () => {
  it.each([
    ['from before', 0],
    ['of a clock that is ahead', 29],
    ['without a time', null],
  ])('[DER-31] is not linked again by a token %s, once the operator has removed it', async (_what, ahead) => {
    const { email, userId } = account
    const sub = crypto.randomUUID()
    const iat = ahead === null ? undefined : Math.floor(Date.now() / 1000) + ahead
    const token = await provider.token({ sub, email, iat })
    expect((await asSession(token, PATH)).status).toBe(200)
    expect((await admin().delete(`/admin/v1/users/${userId}/identities`)).status).toBe(204)
    const before = await countAll()
    for (const tried of [token, await provider.token({ sub: crypto.randomUUID(), email, iat })]) {
      dropCachedDecisions()
      const { status, body } = await asSession(tried, PATH)
      expect([status, body.errors]).toEqual([401, [expect.stringContaining('sign in at the identity provider again')]])
    }
    expect(await countAll()).toEqual(before)
    expect(await identitiesOf(userId)).toEqual([])
    expect((await asSession(await provider.token({ sub, email, iat: inMinute() }), PATH)).account).toBe(await teamOf(account))
    expect(await identitiesOf(userId)).toEqual([{ issuer: ISSUER, subject: sub }])
  })

  it('[DER-31] is not linked by a sign-in that was checked before the removal', async () => {
    const { userId } = account
    const identity = { issuer: ISSUER, subject: crypto.randomUUID(), userId, createdAt: 1 }
    const note = { id: newAuditId(1), at: Date.now(), credentialId: 'test', teamId: await teamOf(account) }
    expect((await admin().delete(`/admin/v1/users/${userId}/identities`)).status).toBe(204)
    await linkIdentity(openDatabase(env.DB), identity, null, note)
    expect(await identitiesOf(userId)).toEqual([])
  })
})
