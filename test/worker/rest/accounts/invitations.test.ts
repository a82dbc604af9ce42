import { BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import { MAX_OPEN_INVITATIONS } from '../../../../src/domain/team/invitation.ts'
import {
  type Account,
  admin,
  api,
  beforeEach,
  createAccount,
  createKey,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
} from '../../../support/harness.ts'

const PATH = '/v2/organizations'
const ACCEPT = `${PATH}/invitations/accept`
const DECLINE = `${PATH}/invitations/decline`
const DAY_MS = 86_400_000
let owner: Account
let guest: Account
let id: string
let path: string

beforeEach(async () => {
  owner = await createAccount()
  guest = await createAccount()
  id = await createOrganization(owner.key)
  path = `${PATH}/${id}`
})

const invite = async (body: Record<string, unknown> = {}, by: Account = owner) => {
  const reply = await api(by.key).post(`${path}/invitations`, { email: guest.email, role: 'DEV', ...body })
  expect(reply.status).toBe(201)
  return reply.body as { id: string; token: string; email: string; createdAt: string; expiresAt: string }
}
const accept = (token: string, by: Account = guest) => api(by.key).post(ACCEPT, { token })
const open = async () => (await api(owner.key).get(`${path}/invitations`)).body.invitations as { id: string }[]
const rolesNow = async () => {
  const { results } = await env.DB.prepare('SELECT user_id AS id, role FROM memberships WHERE team_id = ?').bind(id).all()
  return Object.fromEntries(results.map((row) => [row.id, row.role]))
}
const rows = async () => (await env.DB.prepare('SELECT * FROM invitations WHERE team_id = ? ORDER BY id').bind(id).all()).results

describe('an invitation', () => {
  it('[TEAM-7] shows its token once and stores a keyed digest of it', async () => {
    const { token, ...shown } = await invite()
    expect(token).toMatch(/^ppi_[0-9a-z]{40}$/)
    expect(shown).toEqual({
      id: expect.any(String),
      email: guest.email,
      role: 'DEV',
      invitedBy: owner.userId,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    })
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBe(7 * DAY_MS)
    expect(await open()).toEqual([shown])
    const audit = (await env.DB.prepare('SELECT * FROM audit WHERE team_id = ?').bind(id).all()).results
    expect(JSON.stringify([await rows(), audit])).not.toContain(token.slice(4))
  })

  it('[TEAM-7] lasts as long as requested, from one day to thirty', async () => {
    const { createdAt, expiresAt } = await invite({ expiresInDays: 30 })
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * DAY_MS)
    for (const expiresInDays of [0, 31, 1.5]) {
      const reply = await api(owner.key).post(`${path}/invitations`, { email: 'b@example.com', role: 'DEV', expiresInDays })
      expect(reply.status, String(expiresInDays)).toBe(422)
    }
    expect(await open()).toHaveLength(1)
  })

  it('[TEAM-8] makes the invited user a member, once', async () => {
    const { token } = await invite({ email: guest.email.toUpperCase() })
    expect(await accept(token)).toMatchObject({ status: 200, body: { id, name: 'Acme', role: 'DEV' } })
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER', [guest.userId]: 'DEV' })
    expect((await api(guest.key).get(path)).body.role).toBe('DEV')
    expect(await open()).toEqual([])
    await api(owner.key).delete(`${path}/members/${guest.userId}`)
    expect((await accept(token)).status).toBe(404)
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER' })
  })

  it('[TEAM-8] lets one of two simultaneous accepts in', async () => {
    const { token } = await invite()
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => accept(token)))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    const noted = "SELECT COUNT(*) AS n FROM audit WHERE team_id = ? AND action = 'invitations.accept'"
    expect(await env.DB.prepare(noted).bind(id).first()).toEqual({ n: 1 })
  })

  it('[TEAM-8] has no effect for other users, with the same reply as a wrong token', async () => {
    const { token } = await invite()
    const otherTenant = await createAccount()
    const before = await rows()
    const foreign = await accept(token, otherTenant)
    expect(foreign.status).toBe(404)
    for (const reply of [await accept(`${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`), await accept('ppi_x')]) {
      expect(reply).toMatchObject({ status: 404, body: foreign.body })
    }
    expect((await api(otherTenant.key).post(DECLINE, { token })).body).toEqual(foreign.body)
    expect(await rows()).toEqual(before)
    expect((await accept(token)).status).toBe(200)
  })

  it('[TEAM-8] is declined by the invited user, and is over then', async () => {
    const { token } = await invite()
    expect((await api(guest.key).post(DECLINE, { token })).status).toBe(204)
    expect((await accept(token)).status).toBe(404)
    expect(await open()).toEqual([])
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER' })
  })

  it.each(['revoked', 'expired', 'of a deleted organization'])('[TEAM-7] has no effect when it is %s', async (how) => {
    const { token, id: invitationId } = await invite()
    if (how === 'revoked') expect((await api(owner.key).delete(`${path}/invitations/${invitationId}`)).status).toBe(204)
    if (how === 'expired') await env.DB.prepare('UPDATE invitations SET expires_at = ? WHERE id = ?').bind(Date.now(), invitationId).run()
    if (how === 'of a deleted organization') expect((await api(owner.key).delete(path)).status).toBe(204)
    expect((await accept(token)).status).toBe(404)
    expect(await rolesNow()).not.toHaveProperty(guest.userId)
    expect((await api(owner.key).delete(`${path}/invitations/${invitationId}`)).status).toBe(404)
  })

  it.each(['demoted', 'removed'])('[TEAM-9] is limited by the role of its maker: no effect once that user is %s', async (how) => {
    const maker = await createAccount()
    await joinTeam(id, maker, 'ADMIN')
    const { token } = await invite({}, maker)
    if (how === 'demoted') await api(owner.key).patch(`${path}/members/${maker.userId}`, { role: 'DEV' })
    else await api(owner.key).delete(`${path}/members/${maker.userId}`)
    expect((await accept(token)).status).toBe(404)
    expect(await open()).toEqual([])
    expect(await rolesNow()).not.toHaveProperty(guest.userId)
  })

  it.each<[string, (maker: Account) => Promise<unknown>, boolean]>([
    ['its maker is suspended', ({ userId }) => admin().post(`/admin/v1/users/${userId}/suspend`), false],
    ['its maker is resumed', ({ userId }) => admin().post(`/admin/v1/users/${userId}/resume`), true],
    ['the organization is suspended', () => admin().post(`/admin/v1/organizations/${id}/suspend`), false],
    [
      'its maker has left and come back',
      async (maker) => {
        await api(owner.key).delete(`${path}/members/${maker.userId}`)
        await joinTeam(id, maker, 'ADMIN')
        await env.DB.prepare('UPDATE memberships SET created_at = ? WHERE team_id = ? AND user_id = ?')
          .bind(Date.now() + 1, id, maker.userId)
          .run()
      },
      false,
    ],
  ])('[DER-27] is checked when it is used: %s', async (_when, end, isGood) => {
    const maker = await createAccount()
    await joinTeam(id, maker, 'ADMIN')
    const { token } = await invite({}, maker)
    await end(maker)
    const { status, body } = await accept(token)
    expect([status, body.detail]).toEqual(
      isGood ? [200, undefined] : [404, expect.stringContaining('its creator may not invite with its role')],
    )
    expect(guest.userId in (await rolesNow())).toBe(isGood)
  })

  it('[DER-32] ends with the key that made it, is listed no more, and frees its address for another', async () => {
    const key = await createKey(owner.userId)
    const { id: ended, token } = await invite({}, { ...owner, key: key.key })
    expect((await open()).map((one) => one.id)).toEqual([ended])
    expect((await admin().delete(`/admin/v1/keys/${key.id}`)).status).toBe(204)
    expect(await open()).toEqual([])
    const refused = await accept(token)
    expect([refused.status, refused.body.detail]).toEqual([404, expect.stringContaining('the key that created it is revoked or expired')])
    expect((await api(guest.key).post(DECLINE, { token })).status).toBe(404)
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER' })
    const { id: next, token: good } = await invite()
    expect((await open()).map((one) => one.id)).toEqual([next])
    expect((await accept(good)).status).toBe(200)
  })

  it('[DER-32] from before, with an unknown key, stays valid', async () => {
    const { token } = await invite()
    await env.DB.prepare('UPDATE invitations SET parent = NULL WHERE team_id = ?').bind(id).run()
    expect(await open()).toHaveLength(1)
    expect((await accept(token)).status).toBe(200)
  })

  it('[TEAM-9] for an owner ends with the ownership of its maker', async () => {
    const maker = await createAccount()
    await joinTeam(id, maker, 'OWNER')
    const { token } = await invite({ role: 'OWNER' }, maker)
    await api(owner.key).patch(`${path}/members/${maker.userId}`, { role: 'ADMIN' })
    expect((await accept(token)).status).toBe(404)
  })

  it('[TEAM-5] for an owner cannot be revoked by an administrator', async () => {
    const admin = await createAccount()
    await joinTeam(id, admin, 'ADMIN')
    const { id: invitationId } = await invite({ role: 'OWNER' })
    expect((await api(admin.key).delete(`${path}/invitations/${invitationId}`)).status).toBe(403)
    expect(await open()).toHaveLength(1)
  })

  it('[TEAM-7] is limited to one per address, and refused for a member', async () => {
    await invite()
    const again = await api(owner.key).post(`${path}/invitations`, { email: guest.email, role: 'BASIC' })
    expect(again).toMatchObject({ status: 409, body: { detail: 'email has an open invitation: revoke it first' } })
    const mine = await api(owner.key).post(`${path}/invitations`, { email: owner.email, role: 'BASIC' })
    expect(mine).toMatchObject({ status: 409, body: { detail: 'email belongs to a member: change the role of the member' } })
    expect(await open()).toHaveLength(1)
  })

  it('[TEAM-7] is limited in number, also when many are made at once', async () => {
    await invite()
    const copy = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO invitations (id, team_id, email, role, token_hash, invited_by, created_at, expires_at)
      SELECT hex(randomblob(7)), team_id, n.i || email, role, hex(randomblob(16)), invited_by, created_at, expires_at FROM invitations, n
      WHERE team_id = ?`
    await env.DB.prepare(copy)
      .bind(MAX_OPEN_INVITATIONS - 3, id)
      .run()
    const more = ['a', 'b', 'c', 'd'].map((name) =>
      api(owner.key).post(`${path}/invitations`, { email: `${name}@example.com`, role: 'DEV' }),
    )
    expect((await Promise.all(more)).map(({ status }) => status).sort()).toEqual([201, 201, 400, 400])
    expect(await open()).toHaveLength(MAX_OPEN_INVITATIONS)
    // Expired invitations do not count.
    await env.DB.prepare('UPDATE invitations SET expires_at = 1 WHERE team_id = ?').bind(id).run()
    await invite()
    expect(await rows()).toHaveLength(1)
  })

  it('[TEAM-3] makes no user the owner of more organizations than they may own', async () => {
    await Promise.all(Array.from({ length: BUDGETS.organizations.bound }, () => createOrganization(guest.key)))
    const { token } = await invite({ role: 'OWNER' })
    expect(await accept(token)).toMatchObject({ status: 400, body: { code: 'RULE' } })
    expect(await rolesNow()).toEqual({ [owner.userId]: 'OWNER' })
    expect(await open()).toHaveLength(1)
  })

  it('[IDEM-2] is made once under an Idempotency-Key, and its stored reply is sealed', async () => {
    const body = { email: guest.email, role: 'DEV' }
    const once = { 'Idempotency-Key': 'k1' }
    const first = await api(owner.key).post(`${path}/invitations`, body, once)
    expect((await api(owner.key).post(`${path}/invitations`, body, once)).body).toEqual(first.body)
    expect(await open()).toHaveLength(1)
    const kept = await env.DB.prepare("SELECT response FROM idempotency_keys WHERE operation = 'createInvitation'").all()
    expect(JSON.stringify(kept.results)).not.toContain(first.body.token.slice(4))
    const other = await createOrganization(owner.key)
    expect((await api(owner.key).post(`${PATH}/${other}/invitations`, body, once)).status).toBe(422)
  })

  it('[TEAM-15] is in the audit log from its making to its end, without the token', async () => {
    const { token } = await invite()
    await accept(token)
    const { results } = await env.DB.prepare("SELECT action, user_id FROM audit WHERE team_id = ? AND action LIKE 'inv%' ORDER BY rowid")
      .bind(id)
      .all()
    expect(results).toEqual([
      { action: 'invitations.create', user_id: owner.userId },
      { action: 'invitations.accept', user_id: guest.userId },
    ])
  })

  it('[AUT-5] is answered with `account:write` alone', async () => {
    const { token } = await invite()
    const { key } = await createKey(guest.userId, { permission: 'READ_ONLY' })
    expect((await api(key).post(ACCEPT, { token })).status).toBe(403)
    expect((await api(key).post(DECLINE, { token })).status).toBe(403)
    expect(await open()).toHaveLength(1)
  })

  it('[ADM-1] needs a valid address', async () => {
    for (const email of ['', 'a', 'a b@example.com', `${'a'.repeat(251)}@b.c`]) {
      expect((await api(owner.key).post(`${path}/invitations`, { email, role: 'DEV' })).status, email).toBe(422)
    }
    expect(await open()).toEqual([])
  })
})
