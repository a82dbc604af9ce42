import { eq } from 'drizzle-orm'
import { BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import { openDatabase } from '../../../../src/db/client.ts'
import { reserveCapacity } from '../../../../src/db/hosts/capacity.ts'
import { deleteOrganization } from '../../../../src/db/organizations/organizations.ts'
import { apiKeys } from '../../../../src/db/schema.ts'
import type { Role } from '../../../../src/domain/access.ts'
import { NO_RATES } from '../../../../src/domain/money.ts'
import {
  type Account,
  api,
  createAccount,
  createEndpoint,
  createKey,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { insertPod, statusesWith, terminatePod } from '../../../support/pods/resources.ts'

const PATH = '/v2/organizations'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const auditOf = async (teamId: string) => {
  const sql = 'SELECT action, user_id, resource_kind, resource_id, before, after FROM audit WHERE team_id = ? ORDER BY rowid'
  return (await env.DB.prepare(sql).bind(teamId).all()).results
}
const rowsOf = async (teamId: string) =>
  await env.DB.batch(
    ['SELECT * FROM teams WHERE id = ?', 'SELECT * FROM memberships WHERE team_id = ?', 'SELECT * FROM invitations WHERE team_id = ?'].map(
      (sql) => env.DB.prepare(sql).bind(teamId),
    ),
  ).then((results) => results.map(({ results: rows }) => rows))

async function teamWith(role: Role): Promise<{ owner: Account; member: Account; id: string; path: string }> {
  const [owner, member] = [await createAccount(), await createAccount()]
  const id = await createOrganization(owner.key)
  await joinTeam(id, member, role)
  return { owner, member, id, path: `${PATH}/${id}` }
}

describe('organizations', () => {
  it('[ORG-1][ORG-2][TEAM-3] are made by a user, who is the owner; a personal account is none', async () => {
    const { key, userId, email } = await createAccount()
    expect((await api(key).get(PATH)).body).toEqual({ organizations: [] })
    const created = await api(key).post(PATH, { name: 'Acme' })
    const shown = { id: expect.stringMatching(/^[0-9a-z]{14}$/), name: 'Acme', role: 'OWNER', createdAt: TIME }
    expect(created).toMatchObject({ status: 201, body: shown })
    expect((await api(key).get(PATH)).body).toEqual({ organizations: [created.body] })
    const members = [{ userId, email, role: 'OWNER', joinedAt: created.body.createdAt }]
    expect((await api(key).get(`${PATH}/${created.body.id}`)).body).toEqual({ ...created.body, members })
    expect(await env.DB.prepare('SELECT kind FROM teams WHERE id = ?').bind(created.body.id).first()).toEqual({ kind: 'ORGANIZATION' })
  })

  it('[ORG-1][ORG-2] are shown to members with their own role, newest first, and to no other user', async () => {
    const { owner, member, id, path } = await teamWith('BASIC')
    const own = await createOrganization(member.key)
    await env.DB.prepare('UPDATE teams SET created_at = 1 WHERE id = ?').bind(own).run()
    const listed = (await api(member.key).get(PATH)).body.organizations as { id: string; role: string }[]
    expect(listed.map(({ id: one, role }) => [one, role])).toEqual([
      [id, 'BASIC'],
      [own, 'OWNER'],
    ])
    expect((await api(member.key).get(path)).body.members.map(({ email }: { email: string }) => email).sort()).toEqual(
      [owner.email, member.email].sort(),
    )
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).get(PATH)).body).toEqual({ organizations: [] })
    expect((await api(otherTenant.key).get(path)).status).toBe(404)
    expect((await api(owner.key).get(`${PATH}/${await teamOf(owner)}`)).status).toBe(404)
  })

  it('[ORG-4][TEAM-4] a key made in one reads that one alone, and does nothing for its user', async () => {
    const { owner, id, path } = await teamWith('DEV')
    const other = await createOrganization(owner.key)
    const bound = api((await createKeyIn(id, owner)).key)
    expect((await bound.get(PATH)).body.organizations.map((one: { id: string }) => one.id)).toEqual([id])
    expect((await bound.get(path)).status).toBe(200)
    for (const refused of [
      await bound.get(`${PATH}/${other}`),
      await bound.patch(`${PATH}/${other}`, { name: 'x' }),
      await bound.delete(`${PATH}/${other}`),
    ]) {
      expect(refused.status).toBe(404)
    }
    expect((await bound.patch(path, { name: 'Acme Labs' })).body.name).toBe('Acme Labs')
    for (const reply of [await bound.post(PATH, { name: 'More' }), await bound.post(`${PATH}/invitations/accept`, { token: 'ppi_x' })]) {
      expect(reply).toMatchObject({ status: 403, body: { detail: expect.stringContaining('is valid for that organization only') } })
    }
    expect((await api(owner.key).get(PATH)).body.organizations).toHaveLength(2)
  })

  it('[AUT-5] reading takes `organizations:read`, changing `account:write`', async () => {
    const { owner, path } = await teamWith('DEV')
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, { name: 'x' }],
      ['patch', path, { name: 'x' }],
    ]
    expect(await statusesWith(owner, 'organizations:read', calls)).toEqual([200, 200, 403, 403])
    expect(await statusesWith(owner, 'account:write', calls)).toEqual([403, 403, 201, 200])
  })

  it('[TEAM-3] a user owns a limited number, also with many simultaneous requests', async () => {
    const { key } = await createAccount()
    const replies = await Promise.all(
      Array.from({ length: BUDGETS.organizations.bound + 5 }, (_, i) => api(key).post(PATH, { name: `n${i}` })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(BUDGETS.organizations.bound).fill(201), ...Array(5).fill(400)])
    expect((await api(key).get(PATH)).body.organizations).toHaveLength(BUDGETS.organizations.bound)
    expect((await api(key).post(PATH, { name: 'more' })).body).toMatchObject({
      detail: 'the user may own 10 organizations and owns 10; delete or transfer one first, or ask the operator to raise the budget',
      code: 'RULE',
    })
  })

  it('[TEAM-3] a user cannot use one to evade the runtime class that the operator requires of them', async () => {
    const account = await createAccount()
    await env.DB.prepare("UPDATE teams SET runtime_class = 'runsc' WHERE id = ?")
      .bind(await teamOf(account))
      .run()
    const id = await createOrganization(account.key)
    expect(await env.DB.prepare('SELECT runtime_class AS c FROM teams WHERE id = ?').bind(id).first()).toEqual({ c: 'runsc' })
  })

  it('[IDEM-2] a repeat under an Idempotency-Key makes no second one', async () => {
    const { key } = await createAccount()
    const once = { 'Idempotency-Key': 'k1' }
    const [first, second] = [await api(key).post(PATH, { name: 'Acme' }, once), await api(key).post(PATH, { name: 'Acme' }, once)]
    expect(second).toMatchObject({ status: 201, body: first.body })
    expect((await api(key).get(PATH)).body.organizations).toHaveLength(1)
  })

  it('[TEAM-5] are renamed by owners and administrators, and by no other member', async () => {
    for (const [role, status] of [
      ['ADMIN', 200],
      ['DEV', 403],
      ['BILLING', 403],
      ['BASIC', 403],
    ] as const) {
      const { member, owner, path, id } = await teamWith(role)
      const before = await rowsOf(id)
      expect((await api(member.key).patch(path, { name: 'Renamed' })).status, role).toBe(status)
      if (status === 200) expect((await api(owner.key).get(path)).body.name).toBe('Renamed')
      else expect(await rowsOf(id), role).toEqual(before)
    }
  })

  it('[GEN-6] a name is required and valid, and no other member is accepted', async () => {
    const { key } = await createAccount()
    for (const body of [{}, { name: '' }, { name: 'a\nb' }, { name: 'x', kind: 'PERSONAL' }, { name: 'x'.repeat(192) }]) {
      expect((await api(key).post(PATH, body)).status, JSON.stringify(body)).toBe(422)
    }
    expect((await api(key).get(PATH)).body.organizations).toEqual([])
  })

  it('[TEAM-15] changes of one are in its own audit log', async () => {
    const { key, userId } = await createAccount()
    const id = await createOrganization(key)
    await api(key).patch(`${PATH}/${id}`, { name: 'Acme' })
    await api(key).patch(`${PATH}/${id}`, { name: 'Labs' })
    await api(key).delete(`${PATH}/${id}`)
    const row = { user_id: userId, resource_kind: 'organization', resource_id: id }
    expect(await auditOf(id)).toEqual([
      { ...row, action: 'organizations.create', before: null, after: JSON.stringify({ name: 'Acme', owner: userId }) },
      { ...row, action: 'organizations.rename', before: '{"name":"Acme"}', after: '{"name":"Labs"}' },
      { ...row, action: 'organizations.delete', before: '{"name":"Labs"}', after: null },
    ])
  })
})

describe('[TEAM-13] deleting an organization', () => {
  it('names everything that remains, and deletes nothing', async () => {
    const { owner, member, id, path } = await teamWith('DEV')
    const inside = (await createKeyIn(id, owner)).key
    await createKeyIn(id, member)
    const endpoint = await createEndpoint(inside)
    const pod = await insertPod(id)
    for (const [where, body] of [
      ['network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' }],
      ['global-volumes', { name: 'models' }],
      ['templates', { name: 't', image: 'acme/idle:1' }],
      ['registries', { name: 'ghcr', username: 'ada', password: 'secret' }],
    ] as const) {
      expect((await api(inside).post(`/v2/${where}`, body)).status, where).toBe(201)
    }
    const before = await rowsOf(id)
    expect(await api(owner.key).delete(path)).toMatchObject({
      status: 409,
      body: {
        code: 'IN_USE',
        detail:
          'the organization still has 1 pod, 1 endpoint, 1 network volume, 1 global volume, 1 template, 1 registry credential, ' +
          '1 key of another member: delete or revoke them first',
      },
    })
    expect(await rowsOf(id)).toEqual(before)
    await terminatePod(pod)
    await api(inside).delete(`/v2/serverless/${endpoint}`)
    expect((await api(owner.key).delete(path)).body.detail).toMatch(/^the organization still has 1 network volume, /)
  })

  it('ends its members, invitations and keys, here at once, and keeps its row', async () => {
    const { owner, member, id, path } = await teamWith('DEV')
    const { key: inside, id: keyId } = await createKeyIn(id, owner)
    await api(owner.key).post(`${path}/invitations`, { email: 'late@example.com', role: 'DEV' })
    expect((await api(inside).get(PATH)).status).toBe(200)
    expect((await api(owner.key).delete(path)).status).toBe(204)
    expect((await api(inside).get(PATH)).status).toBe(401)
    expect((await api(owner.key).get(path)).status).toBe(404)
    expect((await api(member.key).get(PATH)).body).toEqual({ organizations: [] })
    expect(await rowsOf(id)).toEqual([[expect.objectContaining({ id, deleted_at: expect.any(Number) })], [], []])
    const revoked = await env.DB.prepare('SELECT revoked_at AS at FROM api_keys WHERE id = ?').bind(keyId).first()
    expect(revoked).toEqual({ at: expect.any(Number) })
    expect((await api(owner.key).delete(path)).status).toBe(404)
  })

  it('is for owners', async () => {
    for (const role of ['ADMIN', 'DEV', 'BILLING', 'BASIC'] as const) {
      const { member, path, id } = await teamWith(role)
      const before = await rowsOf(id)
      expect((await api(member.key).delete(path)).status, role).toBe(403)
      expect(await rowsOf(id), role).toEqual(before)
    }
  })

  it('is decided in the statement: a resource that was made since the check prevents it', async () => {
    const { owner, id } = await teamWith('DEV')
    await insertPod(id)
    const before = await rowsOf(id)
    const { name } = (await api(owner.key).get(`${PATH}/${id}`)).body
    const db = openDatabase(env.DB)
    const note = db.update(apiKeys).set({ revokedAt: 1 }).where(eq(apiKeys.id, 'none'))
    expect(await deleteOrganization(db, { id, name }, { userId: owner.userId, role: 'OWNER' }, Date.now(), note)).toBe(false)
    expect(await rowsOf(id)).toEqual(before)
    expect((await api(owner.key).get(`${PATH}/${id}`)).status).toBe(200)
  })

  it('[TEAM-14] leaves a key that is cached elsewhere without access to a host', async () => {
    const { owner, id, path } = await teamWith('DEV')
    const host = await FakeHost.enrol()
    await host.link()
    const want = {
      teamId: id,
      hostId: host.id,
      kind: 'worker' as const,
      ownerId: 'e1',
      rates: NO_RATES,
      gpu: null,
      vcpus: 1,
      memoryMb: 1,
      diskGb: 1,
    }
    const reserve = (workload: string) => reserveCapacity(openDatabase(env.DB), { ...want, id: workload }, Date.now())
    expect(await reserve('before-the-end')).toBe('done')
    expect((await api(owner.key).delete(path)).status).toBe(204)
    expect(await reserve('after-the-end')).toBe('inactive')
  })
})

it('[TEAM-4] a pod and a key without the scopes see no organization', async () => {
  const { userId } = await createAccount()
  const { key } = await createKey(userId, { permission: 'RESTRICTED', scopes: ['pods:read', 'pods:write'] })
  expect((await api(key).get(PATH)).status).toBe(403)
  expect((await api(key).post(PATH, { name: 'x' })).status).toBe(403)
})
