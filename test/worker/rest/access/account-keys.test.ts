import { dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createKey,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { Browser } from '../../../support/http/browser.ts'

const PATH = '/v2/account/keys'
const TIME = expect.stringMatching(/^\d{4}-/)

async function memberKey(owner: Account, role: 'ADMIN' | 'DEV'): Promise<Account> {
  const [team, member] = [await teamOf(owner), await createAccount()]
  await joinTeam(team, member, role)
  await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, member.keyId).run()
  return member
}

describe('keys of an account', () => {
  it('[TEAM-20] a key makes another, which acts for the same account; lists show no secret', async () => {
    const owner = await createAccount()
    const made = await api(owner.key).post(PATH, { name: 'ci', permission: 'READ_ONLY', expiresAt: '2100-01-01T00:00:00Z' })
    expect(made.status).toBe(201)
    const { key, ...shown } = made.body
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{10}$/),
      prefix: `pp_${shown.id}`,
      name: 'ci',
      userId: owner.userId,
      permission: 'READ_ONLY',
      scopes: [],
      createdAt: TIME,
      expiresAt: '2100-01-01T00:00:00Z',
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    })
    expect(key.startsWith(`${shown.prefix}_`)).toBe(true)
    const list = await api(key).get(PATH)
    expect(list.body.keys.map(({ id }: { id: string }) => id)).toEqual([shown.id, owner.keyId])
    expect(JSON.stringify(list.body)).not.toContain(key.slice(shown.prefix.length + 1))
    expect((await api(key).post('/v2/serverless', {})).status).toBe(403)
  })

  it('[TEAM-20] a key of another account gets the reply for an unknown one, and stays valid', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const before = await env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(theirs.keyId).first()
    expect((await api(mine.key).delete(`${PATH}/${theirs.keyId}`)).status).toBe(404)
    expect((await api(mine.key).post(`${PATH}/${theirs.keyId}/rotate`, {})).status).toBe(404)
    expect(await env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(theirs.keyId).first()).toEqual(before)
    expect((await api(theirs.key).get(PATH)).status).toBe(200)
  })

  it('[TEAM-20] without account:write a key changes none, not even its own', async () => {
    const owner = await createAccount()
    const { id, key } = await createKey(owner.userId, { permission: 'READ_ONLY' })
    for (const reply of [
      await api(key).post(PATH, { name: 'more' }),
      await api(key).post(`${PATH}/${id}/rotate`, {}),
      await api(key).delete(`${PATH}/${id}`),
    ]) {
      expect(reply).toMatchObject({ status: 403, body: { errors: ['the key lacks the scope account:write'] } })
    }
    expect((await api(owner.key).get(PATH)).body.keys).toHaveLength(2)
  })

  it("[TEAM-20] an ADMIN sees and revokes a DEV's key; a DEV's key reads its own maker's alone", async () => {
    const owner = await createAccount()
    const [boss, dev] = [await memberKey(owner, 'ADMIN'), await memberKey(owner, 'DEV')]
    expect((await api(dev.key).get(PATH)).body.keys.map(({ id }: { id: string }) => id)).toEqual([dev.keyId])
    expect((await api(boss.key).get(PATH)).body.keys).toHaveLength(3)
    expect((await api(boss.key).post(`${PATH}/${dev.keyId}/rotate`, {})).status).toBe(404)
    expect((await api(boss.key).delete(`${PATH}/${dev.keyId}`)).status).toBe(204)
    expect((await api(dev.key).get(PATH)).status).toBe(401)
  })

  it('[TEAM-21] no key grants more than its maker holds', async () => {
    const owner = await createAccount()
    const few = await createKey(owner.userId, { permission: 'RESTRICTED', scopes: ['account:write', 'jobs:write@e1'] })
    const lacks = (scope: string) => ({ status: 403, body: { errors: [`the key lacks the scope ${scope}`] } })
    const asked = (scopes: string[]) => api(few.key).post(PATH, { name: 'more', permission: 'RESTRICTED', scopes })
    expect(await api(few.key).post(PATH, { name: 'all' })).toMatchObject(lacks('pods:read'))
    expect(await asked(['jobs:write'])).toMatchObject(lacks('jobs:write'))
    expect(await asked(['jobs:write@e2'])).toMatchObject(lacks('jobs:write@e2'))
    expect(await api(few.key).post(`${PATH}/${owner.keyId}/rotate`, {})).toMatchObject(lacks('pods:read'))
    expect((await api(owner.key).get(PATH)).body.keys).toHaveLength(2)
    expect((await asked(['jobs:write@e1'])).status).toBe(201)
  })

  it('[ACC-8] an expiring key leaves no other that is valid for longer, by itself or in a browser', async () => {
    const owner = await createAccount()
    const [early, late] = ['2099-01-01T00:00:00Z', '2100-01-01T00:00:00Z']
    const mine = await createKey(owner.userId, { expiresAt: early })
    const browser = await Browser.signedIn(mine.key)
    const before = (await api(owner.key).get(PATH)).body.keys
    const refused = { status: 403, body: { errors: [expect.stringContaining('expires at 2099-01-01T00:00:00.000Z')] } }
    for (const reply of [
      await api(mine.key).post(PATH, { name: 'for ever' }),
      await api(mine.key).post(PATH, { name: 'longer', expiresAt: late }),
      await api(mine.key).post(`${PATH}/${owner.keyId}/rotate`, {}),
      await browser.page('POST', PATH, { name: 'for ever' }),
    ]) {
      expect(reply).toMatchObject(refused)
    }
    const unused = (keys: object[]) => keys.map((key) => ({ ...key, lastUsedAt: null }))
    expect(unused((await api(owner.key).get(PATH)).body.keys)).toEqual(unused(before))
    expect((await api(mine.key).post(PATH, { name: 'as long', expiresAt: early })).status).toBe(201)
    expect((await api(mine.key).post(`${PATH}/${mine.id}/rotate`, {})).body.expiresAt).toBe(early)
    expect((await api(owner.key).post(PATH, { name: 'for ever' })).status).toBe(201)
  })

  it('[ACC-8] a key that was rotated away cannot rotate a key that outlives it', async () => {
    const owner = await createAccount()
    const next = (await api(owner.key).post(`${PATH}/${owner.keyId}/rotate`, { overlapSeconds: 3600 })).body
    expect((await api(owner.key).get(PATH)).status).toBe(200)
    expect((await api(owner.key).post(`${PATH}/${next.id}/rotate`, {})).status).toBe(403)
    expect((await api(next.key).get(PATH)).body.keys.find(({ id }: { id: string }) => id === next.id)).toMatchObject({
      replacedBy: null,
      expiresAt: null,
    })
  })

  it('[TEAM-22] a rotated key is valid as long as requested, and no longer than before', async () => {
    const owner = await createAccount()
    const rotated = await api(owner.key).post(`${PATH}/${owner.keyId}/rotate`, { overlapSeconds: 3600 })
    expect(rotated).toMatchObject({ status: 201, body: { name: 'test', permission: 'ALL', expiresAt: null } })
    expect((await api(rotated.body.key).get(PATH)).status).toBe(200)
    expect((await api(owner.key).get(PATH)).status).toBe(200)
    const previous = (await api(rotated.body.key).get(PATH)).body.keys.find(({ id }: { id: string }) => id === owner.keyId)
    expect(previous.replacedBy).toBe(rotated.body.id)
    expect(Math.abs(Date.parse(previous.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(60_000)
    expect((await api(owner.key).post(`${PATH}/${owner.keyId}/rotate`, {})).status).toBe(409)
    expect((await api(rotated.body.key).post(`${PATH}/${rotated.body.id}/rotate`, { overlapSeconds: 0 })).status).toBe(201)
    expect((await api(rotated.body.key).get(PATH)).status).toBe(401)
    const soon = await createKey(owner.userId, { expiresAt: '2100-01-01T00:00:00Z' })
    expect((await api(soon.key).post(`${PATH}/${soon.id}/rotate`, {})).body.expiresAt).toBe('2100-01-01T00:00:00Z')
  })

  it('[TEAM-20][KEY-2] a repeated Idempotency-Key makes no second key, and shows no secret: none is stored', async () => {
    const owner = await createAccount()
    const create = () => api(owner.key).post(PATH, { name: 'once' }, { 'Idempotency-Key': 'k1' })
    const [first, again] = [await create(), await create()]
    expect(again).toMatchObject({ status: 201, body: { ...first.body, key: null } })
    expect((await api(owner.key).get(PATH)).body.keys).toHaveLength(2)
  })

  it('[BUDGET-1] the number of keys is limited, also for simultaneous requests', async () => {
    const owner = await createAccount()
    await admin().put(`/admin/v1/users/${owner.userId}/budgets`, { apiKeys: 3 })
    const replies = await Promise.all(Array.from({ length: 6 }, (_, n) => api(owner.key).post(PATH, { name: `k${n}` })))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400])
    expect(replies.find(({ status }) => status === 400)?.body.detail).toContain('budget apiKeys')
    expect((await api(owner.key).get('/v2/account/limits')).body.apiKeys).toEqual({ used: 3, bound: 3, unit: 'count', shared: false })
  })

  it('[AUD-1] making, rotating and revoking are in the audit log, without the secret', async () => {
    const owner = await createAccount()
    const { body } = await api(owner.key).post(PATH, { name: 'ci' })
    const next = await api(owner.key).post(`${PATH}/${body.id}/rotate`, { overlapSeconds: 0 })
    await api(owner.key).delete(`${PATH}/${next.body.id}`)
    dropCachedDecisions()
    const { results } = await env.DB.prepare(
      `SELECT action, resource_id AS id, before, after FROM audit WHERE team_id = ? AND actor_kind = 'KEY' ORDER BY rowid`,
    )
      .bind(await teamOf(owner))
      .all<Record<string, string>>()
    expect(results.filter(({ action }) => action?.startsWith('keys.')).map(({ action, id }) => [action, id])).toEqual([
      ['keys.create', body.id],
      ['keys.rotate', body.id],
      ['keys.revoke', next.body.id],
    ])
    for (const { key } of [body, next.body]) expect(JSON.stringify(results)).not.toContain(key.slice(14, 57))
  })
})

describe('the acting user', () => {
  it('[ACC-7] is the maker of the key', async () => {
    const { userId, email, key } = await createAccount()
    expect(await api(key).get('/v2/user')).toMatchObject({ status: 200, body: { id: userId, email } })
    const blind = await createKey(userId, { permission: 'RESTRICTED', scopes: ['pods:read'] })
    expect((await api(blind.key).get('/v2/user')).status).toBe(403)
  })
})
