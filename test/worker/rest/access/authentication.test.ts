import type { Role } from '../../../../src/domain/access.ts'
import { formatApiKey } from '../../../../src/domain/key-text.ts'
import { authenticate } from '../../../../src/services/authenticate.ts'
import { DECISION_TTL_MS, dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createEndpoint,
  createKey,
  describe,
  endpointBody,
  env,
  expect,
  it,
  joinTeam,
  send,
  teamOf,
  vi,
} from '../../../support/harness.ts'

const PATH = '/v2/serverless'
const withHeader = async (value: string | null) => {
  const response = await send(PATH, value === null ? {} : { headers: { Authorization: value } })
  return { status: response.status, body: await response.json(), headers: response.headers }
}
const unauthorized = (detail: string) => ({ status: 401, body: { title: 'Unauthorized', status: 401, detail } })

describe('bearer token', () => {
  it('[ERR-8] no header, or one that is not `Bearer <token>`, is "missing bearer token"', async () => {
    const { key } = await createAccount()
    for (const header of [null, '', 'Bearer', 'Bearer ', key, `Basic ${key}`, `Bearer ${key} extra`]) {
      expect(await withHeader(header), String(header)).toMatchObject(unauthorized('missing bearer token'))
    }
  })

  it('[ERR-8][AUT-1] malformed, bad checksum and unknown are "invalid bearer token"', async () => {
    const { key } = await createAccount()
    const unknown = formatApiKey('0000000000', new Uint8Array(32))
    const broken = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
    for (const token of ['x', 'rpa_abcdef', broken, unknown, env.OPERATOR_KEY, 'ppw_worker']) {
      expect(await withHeader(`Bearer ${token}`), token).toMatchObject(unauthorized('invalid bearer token'))
    }
  })

  it('[AUT-1] a known id with another secret is refused', async () => {
    const { keyId } = await createAccount()
    const forged = formatApiKey(keyId, new Uint8Array(32).fill(7))
    expect(await withHeader(`Bearer ${forged}`)).toMatchObject(unauthorized('invalid bearer token'))
  })

  it('[KEY-1] the case of the scheme does not matter', async () => {
    const { key } = await createAccount()
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect((await withHeader(`${scheme} ${key}`)).status).toBe(200)
  })

  it.each([
    ['', 'invalidToken'],
    ['fifteen-letters', 'invalidToken'],
    ['sixteen-letters-', null],
  ])('[KEY-3] an operator key %j: %s', async (key, problem) => {
    const { authenticateOperator } = await import('../../../../src/services/credentials/operator-key.ts')
    expect(await authenticateOperator({ ...env, OPERATOR_KEY: key }, `Bearer ${key}`)).toBe(key === '' ? 'missingToken' : problem)
  })

  it('[RATE-3] a 401 carries no rate limit headers', async () => {
    const reply = await withHeader(null)
    expect(reply.headers.get('ratelimit')).toBeNull()
    expect(reply.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('a revoked key is refused at once where it was revoked', async () => {
    const { key, keyId } = await createAccount()
    expect((await withHeader(`Bearer ${key}`)).status).toBe(200)
    expect((await admin().delete(`/admin/v1/keys/${keyId}`)).status).toBe(204)
    expect(await withHeader(`Bearer ${key}`)).toMatchObject(unauthorized('invalid bearer token'))
  })

  it('an expired key is refused', async () => {
    const { userId } = await createAccount()
    const { key } = await createKey(userId, { expiresAt: '2020-01-01T00:00:00Z' })
    expect(await withHeader(`Bearer ${key}`)).toMatchObject(unauthorized('invalid bearer token'))
  })
})

describe('a key of a team', () => {
  async function keyInTeam(role: Role): Promise<{ key: string; team: string; owner: Account; member: Account }> {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await teamOf(owner)
    await joinTeam(team, member, role)
    await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, member.keyId).run()
    return { key: member.key, team, owner, member }
  }

  it('[TEAM-1] acts for the team, and is refused once its maker has left; the keys of others stay valid', async () => {
    const { key, team, owner, member } = await keyInTeam('DEV')
    const { body } = await api(key).post('/v2/serverless', endpointBody())
    expect((await api(owner.key).get(`/v2/serverless/${body.id}`)).status).toBe(200)
    await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, member.userId).run()
    dropCachedDecisions()
    expect(await withHeader(`Bearer ${key}`)).toMatchObject(unauthorized('invalid bearer token'))
    expect((await api(owner.key).get(`/v2/serverless/${body.id}`)).status).toBe(200)
  })

  it("[TEAM-2] loses what its maker's role loses", async () => {
    const { key, team, member } = await keyInTeam('DEV')
    expect((await api(key).post('/v2/serverless', endpointBody())).status).toBe(201)
    await joinTeam(team, member, 'BASIC')
    dropCachedDecisions()
    expect((await api(key).post('/v2/serverless', endpointBody())).body.errors).toEqual(['the key lacks the scope serverless:write'])
    expect((await api(key).get('/v2/serverless')).status).toBe(200)
  })
})

describe('cache of decisions', () => {
  const NOW = Date.UTC(2030, 0, 1)

  it('[KEY-2] a key revoked elsewhere is refused after 60 seconds, not one millisecond later', async () => {
    const { key, keyId } = await createAccount()
    const header = `Bearer ${key}`
    expect((await authenticate(env, header, NOW)).ok).toBe(true)
    await env.DB.prepare('UPDATE api_keys SET revoked_at = 1 WHERE id = ?').bind(keyId).run()
    expect((await authenticate(env, header, NOW + DECISION_TTL_MS - 1)).ok).toBe(true)
    expect(await authenticate(env, header, NOW + DECISION_TTL_MS)).toEqual({ ok: false, problem: 'invalidToken' })
  })

  it('[KEY-2] an expiry within the cached minute is noticed at once', async () => {
    const { userId } = await createAccount()
    const { key } = await createKey(userId, { expiresAt: '2030-01-01T00:00:30Z' })
    expect((await authenticate(env, `Bearer ${key}`, NOW)).ok).toBe(true)
    expect((await authenticate(env, `Bearer ${key}`, NOW + 29_999)).ok).toBe(true)
    expect((await authenticate(env, `Bearer ${key}`, NOW + 30_000)).ok).toBe(false)
  })

  it('a warm key causes no D1 query, and a malformed one never does', async () => {
    const { key } = await createAccount()
    dropCachedDecisions()
    const prepare = vi.spyOn(env.DB, 'prepare')
    const watched = { ...env, DB: env.DB }
    await authenticate(watched, `Bearer ${key}`, NOW)
    const cold = prepare.mock.calls.length
    await authenticate(watched, `Bearer ${key}`, NOW + 1)
    await authenticate(watched, 'Bearer pp_nonsense', NOW)
    expect(prepare.mock.calls.length).toBe(cold)
    expect(cold).toBe(1)
    prepare.mockRestore()
  })

  it('the last use is noted once per cache entry', async () => {
    const { key, keyId } = await createAccount()
    const pending: Promise<unknown>[] = []
    const visit = { source: () => 'here', waitUntil: (promise: Promise<unknown>) => void pending.push(promise) }
    await authenticate(env, `Bearer ${key}`, NOW, visit)
    await authenticate(env, `Bearer ${key}`, NOW + 5, visit)
    await Promise.all(pending)
    expect(pending).toHaveLength(1)
    expect(await env.DB.prepare('SELECT last_used_at AS at FROM api_keys WHERE id = ?').bind(keyId).first()).toEqual({ at: NOW })
  })
})

describe('scopes', () => {
  it('[AUT-4] READ_ONLY reads and does not write', async () => {
    const { userId, key } = await createAccount()
    const id = await createEndpoint(key)
    const reader = api((await createKey(userId, { permission: 'READ_ONLY' })).key)
    expect((await reader.get(PATH)).status).toBe(200)
    expect((await reader.get(`${PATH}/${id}`)).status).toBe(200)
    for (const reply of [
      await reader.post(PATH, { any: 1 }),
      await reader.patch(`${PATH}/${id}`, {}),
      await reader.delete(`${PATH}/${id}`),
    ]) {
      expect(reply).toMatchObject({ status: 403, body: { title: 'Forbidden', status: 403, detail: 'access denied' } })
    }
  })

  it('[AUT-5][ERR-6] a missing scope is reported before the body and the id are checked', async () => {
    const { userId } = await createAccount()
    const jobs = api((await createKey(userId, { permission: 'RESTRICTED', scopes: ['jobs:write'] })).key)
    expect((await jobs.post(PATH, '{')).status).toBe(403)
    expect((await jobs.get(`${PATH}/nosuchendpoint`)).status).toBe(403)
    expect((await jobs.get(`${PATH}?limit=0`)).status).toBe(403)
  })

  it('[AUT-7] X-Team-Id has no effect for an API key', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    await createEndpoint(theirs.key)
    const reply = await api(mine.key).get(PATH, undefined, { 'X-Team-Id': await teamOf(theirs) })
    expect(reply.body.endpoints).toEqual([])
  })
})
