import { BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import { ROLES, type Role } from '../../../../src/domain/access.ts'
import { authenticate } from '../../../../src/services/authenticate.ts'
import { DECISION_TTL_MS } from '../../../../src/services/credentials/cached-decisions.ts'
import {
  type Account,
  api,
  beforeEach,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  endpointBody,
  env,
  expect,
  it,
  joinTeam,
  vi,
} from '../../../support/harness.ts'

const PATH = '/v2/organizations'
let owner: Account
let member: Account
let id: string
let path: string

beforeEach(async () => {
  owner = await createAccount()
  member = await createAccount()
  id = await createOrganization(owner.key)
  path = `${PATH}/${id}`
  await joinTeam(id, member, 'DEV')
})

/** Members with their roles, and keys with their state: a refusal must leave all of it unchanged. */
async function stateOf(): Promise<unknown> {
  const rows = await env.DB.batch([
    env.DB.prepare('SELECT user_id, role FROM memberships WHERE team_id = ? ORDER BY user_id').bind(id),
    env.DB.prepare('SELECT id, user_id, permission, scopes, revoked_at FROM api_keys WHERE team_id = ? ORDER BY id').bind(id),
    env.DB.prepare("SELECT action FROM audit WHERE team_id = ? AND action LIKE 'members.%'").bind(id),
  ])
  return rows.map(({ results }) => results)
}
const rolesNow = async () => {
  const { results } = await env.DB.prepare('SELECT user_id AS id, role FROM memberships WHERE team_id = ?').bind(id).all<{
    id: string
    role: Role
  }>()
  return Object.fromEntries(results.map((row) => [row.id, row.role]))
}
const keyRow = (keyId: string) =>
  env.DB.prepare('SELECT user_id, permission, scopes, revoked_at FROM api_keys WHERE id = ?').bind(keyId).first()
const join = async (role: Role) => {
  const account = await createAccount()
  await joinTeam(id, account, role)
  return account
}
const memberPath = ({ userId }: Account) => `${path}/members/${userId}`

describe('roles', () => {
  it('[TEAM-5] are given by owners and administrators', async () => {
    const reply = await api(owner.key).patch(memberPath(member), { role: 'ADMIN' })
    expect(reply).toMatchObject({ status: 200, body: { userId: member.userId, email: member.email, role: 'ADMIN' } })
    const third = await join('BASIC')
    expect((await api(member.key).patch(memberPath(third), { role: 'BILLING' })).status).toBe(200)
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER', [member.userId]: 'ADMIN', [third.userId]: 'BILLING' })
  })

  it.each(ROLES.filter((role) => role !== 'OWNER' && role !== 'ADMIN'))(
    '[TEAM-5] a %s manages no member: 403, and all stays unchanged',
    async (role) => {
      const [actor, victim] = [await join(role), await join('BASIC')]
      const before = await stateOf()
      for (const reply of [
        await api(actor.key).patch(memberPath(victim), { role: 'DEV' }),
        await api(actor.key).patch(memberPath(actor), { role: 'OWNER' }),
        await api(actor.key).delete(memberPath(victim)),
        await api(actor.key).delete(memberPath(owner)),
        await api(actor.key).delete(`${path}/members/nobody`),
        await api(actor.key).post(`${path}/hand-over`, { userId: actor.userId }),
        await api(actor.key).post(`${path}/invitations`, { email: 'a@example.com', role: 'DEV' }),
        await api(actor.key).get(`${path}/invitations`),
        await api(actor.key).delete(`${path}/invitations/any`),
      ]) {
        expect(reply).toMatchObject({ status: 403, body: { title: 'Forbidden' } })
      }
      expect(await stateOf()).toEqual(before)
    },
  )

  it('[TEAM-5] an administrator makes and removes no owner: 403, and all stays unchanged', async () => {
    const admin = api((await join('ADMIN')).key)
    await joinTeam(id, member, 'OWNER')
    const third = await join('DEV')
    const before = await stateOf()
    for (const reply of [
      await admin.patch(memberPath(third), { role: 'OWNER' }),
      await admin.patch(memberPath(owner), { role: 'DEV' }),
      await admin.delete(memberPath(owner)),
      await admin.post(`${path}/hand-over`, { userId: third.userId }),
      await admin.post(`${path}/invitations`, { email: 'a@example.com', role: 'OWNER' }),
    ]) {
      expect(reply.status).toBe(403)
    }
    expect(await stateOf()).toEqual(before)
  })

  it('[TEAM-5] a user who is no member is 404, an invalid role 422', async () => {
    const otherTenant = await createAccount()
    expect((await api(owner.key).patch(memberPath(otherTenant), { role: 'DEV' })).status).toBe(404)
    expect((await api(owner.key).patch(memberPath(member), { role: 'KING' })).status).toBe(422)
    expect((await api(otherTenant.key).patch(memberPath(member), { role: 'DEV' })).status).toBe(404)
    expect((await rolesNow())[member.userId]).toBe('DEV')
  })

  it('[TEAM-2] a changed role applies at once in the isolate of the change', async () => {
    const { key } = await createKeyIn(id, member)
    expect((await api(key).post('/v2/serverless', endpointBody())).status).toBe(201)
    await api(owner.key).patch(memberPath(member), { role: 'BASIC' })
    expect((await api(key).post('/v2/serverless', endpointBody())).status).toBe(403)
  })

  it('[TEAM-3] no user becomes the owner of more organizations than they may own', async () => {
    await Promise.all(Array.from({ length: BUDGETS.organizations.bound }, () => createOrganization(member.key)))
    const before = await stateOf()
    for (const reply of [
      await api(owner.key).patch(memberPath(member), { role: 'OWNER' }),
      await api(owner.key).post(`${path}/hand-over`, { userId: member.userId }),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { code: 'RULE' } })
    }
    expect(await stateOf()).toEqual(before)
  })
})

describe('[TEAM-6] the last owner', () => {
  it('can neither leave, nor be removed, nor lose the role', async () => {
    const before = await stateOf()
    for (const reply of [
      await api(owner.key).delete(memberPath(owner)),
      await api(owner.key).patch(memberPath(owner), { role: 'ADMIN' }),
    ]) {
      expect(reply).toMatchObject({ status: 409, body: { code: 'RULE', detail: expect.stringContaining('at least one owner') } })
    }
    expect(await stateOf()).toEqual(before)
  })

  it.each<[string, (one: Account, other: Account) => Promise<{ status: number }>[]]>([
    ['two owners step down at once', (one, other) => [one, other].map((self) => api(self.key).patch(memberPath(self), { role: 'ADMIN' }))],
    ['two owners leave at once', (one, other) => [one, other].map((self) => api(self.key).delete(memberPath(self)))],
    ['two owners remove each other', (one, other) => [api(one.key).delete(memberPath(other)), api(other.key).delete(memberPath(one))]],
    [
      'one owner leaves while the other steps down',
      (one, other) => [api(one.key).delete(memberPath(one)), api(other.key).patch(memberPath(other), { role: 'DEV' })],
    ],
  ])('remains when %s', async (_title, act) => {
    for (let round = 0; round < 5; round += 1) {
      await joinTeam(id, owner, 'OWNER')
      await joinTeam(id, member, 'OWNER')
      const statuses = (await Promise.all(act(owner, member))).map(({ status }) => status)
      expect(statuses.filter((status) => status < 300)).toHaveLength(1)
      expect(Object.values(await rolesNow()).filter((role) => role === 'OWNER')).toHaveLength(1)
    }
  })
})

describe('[TEAM-12] ownership', () => {
  it('is handed over at once: the other user is the owner, the caller an administrator', async () => {
    const reply = await api(owner.key).post(`${path}/hand-over`, { userId: member.userId })
    expect(reply).toMatchObject({ status: 200, body: { id, role: 'ADMIN' } })
    expect(await rolesNow()).toEqual({ [owner.userId]: 'ADMIN', [member.userId]: 'OWNER' })
    expect((await api(owner.key).delete(path)).status).toBe(403)
    expect((await api(member.key).delete(path)).status).toBe(204)
  })

  it('goes to no user outside the organization and not to the owner themselves', async () => {
    const otherTenant = await createAccount()
    const before = await stateOf()
    for (const { userId } of [otherTenant, owner]) {
      expect(await api(owner.key).post(`${path}/hand-over`, { userId })).toMatchObject({ status: 400, body: { code: 'RULE' } })
    }
    expect(await stateOf()).toEqual(before)
  })
})

describe('[TEAM-10] a member who leaves', () => {
  it.each(['removed', 'leaves'])('loses the keys of this team and of no other: %s', async (how) => {
    const { key, id: keyId } = await createKeyIn(id, member)
    const owners = await createKeyIn(id, owner)
    expect((await api(key).get(PATH)).status).toBe(200)
    const caller = how === 'removed' ? owner : member
    expect((await api(caller.key).delete(memberPath(member))).status).toBe(204)
    expect((await api(key).get(PATH)).status).toBe(401)
    expect(await keyRow(keyId)).toMatchObject({ revoked_at: expect.any(Number) })
    expect((await api(owners.key).get(PATH)).status).toBe(200)
    expect((await api(member.key).get(PATH)).body).toEqual({ organizations: [] })
    expect((await api(member.key).get(path)).status).toBe(404)
  })

  it('has no keys either after they return', async () => {
    const { key } = await createKeyIn(id, member)
    await api(owner.key).delete(memberPath(member))
    await joinTeam(id, member, 'ADMIN')
    expect((await api(key).get(PATH)).status).toBe(401)
  })

  it('[TEAM-1] is refused by an isolate that has cached their key 60 seconds later, and at once where it was done', async () => {
    const { key } = await createKeyIn(id, member)
    // The Worker gets new modules, so the modules that this file has imported keep their own cache, as another isolate does.
    vi.resetModules()
    const now = Date.now()
    const check = async (atMs: number) => (await authenticate(env, `Bearer ${key}`, atMs)).ok
    expect(await check(now)).toBe(true)
    expect((await api(key).get(PATH)).status).toBe(200)
    expect((await api(owner.key).delete(memberPath(member))).status).toBe(204)
    expect((await api(key).get(PATH)).status).toBe(401)
    expect(await check(now + DECISION_TTL_MS - 1)).toBe(true)
    expect(await check(now + DECISION_TTL_MS)).toBe(false)
  })

  it('[TEAM-15] is in the audit log, with the fate of the keys', async () => {
    await createKeyIn(id, member)
    await api(owner.key).patch(memberPath(member), { role: 'BASIC' })
    await api(member.key).delete(memberPath(member))
    const sql = "SELECT action, user_id, before, after FROM audit WHERE team_id = ? AND action LIKE 'members.%' ORDER BY rowid"
    expect((await env.DB.prepare(sql).bind(id).all()).results).toEqual([
      { action: 'members.change-role', user_id: owner.userId, before: '{"role":"DEV"}', after: '{"role":"BASIC"}' },
      { action: 'members.leave', user_id: member.userId, before: '{"role":"BASIC"}', after: null },
      { action: 'members.revoke-keys', user_id: member.userId, before: null, after: null },
    ])
  })
})

describe('[TEAM-11] keys that are handed on', () => {
  it('stay valid, under a member of the same role', async () => {
    const recipient = await join('DEV')
    const { key, id: keyId } = await createKeyIn(id, member)
    expect((await api(owner.key).delete(`${memberPath(member)}?keysTo=${recipient.userId}`)).status).toBe(204)
    expect(await keyRow(keyId)).toEqual({ user_id: recipient.userId, permission: 'ALL', scopes: '[]', revoked_at: null })
    expect((await api(key).post('/v2/serverless', endpointBody())).status).toBe(201)
    const sql = "SELECT after FROM audit WHERE team_id = ? AND action = 'members.hand-keys-on'"
    expect(await env.DB.prepare(sql).bind(id).first()).toEqual({ after: JSON.stringify({ keysTo: recipient.userId }) })
  })

  it('grant nothing new under a higher role', async () => {
    const keys = [
      await createKeyIn(id, member),
      await createKeyIn(id, member, { permission: 'READ_ONLY' }),
      await createKeyIn(id, member, { permission: 'RESTRICTED', scopes: ['account:write', 'jobs:write@e1', 'pods:write'] }),
    ]
    expect((await api(owner.key).delete(`${memberPath(member)}?keysTo=${owner.userId}`)).status).toBe(204)
    const rows = await Promise.all(keys.map((key) => keyRow(key.id)))
    const scopes = rows.map((row) => JSON.parse(String(row?.scopes)) as string[])
    expect(rows.map((row) => [row?.user_id, row?.permission])).toEqual(keys.map(() => [owner.userId, 'RESTRICTED']))
    expect(scopes[0]).toEqual(expect.arrayContaining(['pods:write', 'jobs:write']))
    expect(scopes[0]).not.toContain('account:write')
    expect(scopes[0]).not.toContain('billing:read')
    expect(scopes[1]?.filter((scope) => !scope.endsWith(':read'))).toEqual([])
    expect(scopes[2]).toEqual(['jobs:write@e1', 'pods:write'])
    expect((await api(keys[0]?.key ?? '').post('/v2/serverless', endpointBody())).status).toBe(201)
    expect((await api(keys[0]?.key ?? '').patch(path, { name: 'mine' })).status).toBe(403)
  })

  it.each<[string, Role, number]>([
    ['a lower member', 'BASIC', 400],
    ['a member with the role BILLING', 'BILLING', 400],
  ])('do not go to %s, and all stays unchanged', async (_title, role, status) => {
    const recipient = await join(role)
    await createKeyIn(id, member)
    const before = await stateOf()
    expect((await api(owner.key).delete(`${memberPath(member)}?keysTo=${recipient.userId}`)).status).toBe(status)
    expect(await stateOf()).toEqual(before)
  })

  it('go to no user outside, not to the leaving member, not from a member who leaves by themselves, and to no owner by an administrator', async () => {
    const [otherTenant, admin] = [await createAccount(), await join('ADMIN')]
    await createKeyIn(id, member)
    const before = await stateOf()
    for (const [caller, recipient, status] of [
      [owner, otherTenant, 400],
      [owner, member, 400],
      [member, owner, 403],
      [admin, owner, 403],
    ] as const) {
      expect((await api(caller.key).delete(`${memberPath(member)}?keysTo=${recipient.userId}`)).status).toBe(status)
    }
    expect(await stateOf()).toEqual(before)
  })
})
