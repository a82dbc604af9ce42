import type { Role } from '../../../src/domain/access.ts'
import { type Account, api, createAccount, createKeyIn, createOrganization, describe, expect, it, joinTeam } from '../../support/harness.ts'

type Effect = { kind: string; what: string; severity: string; resource: { kind: string; id: string } }
const brief = ({ effects }: { effects: Effect[] }) => effects.map(({ kind, resource }) => [kind, resource.kind, resource.id])

async function team(role: Role): Promise<{ owner: Account; member: Account; path: string; id: string }> {
  const [owner, member] = [await createAccount(), await createAccount()]
  const id = await createOrganization(owner.key)
  await joinTeam(id, member, role)
  return { owner, member, id, path: `/v2/organizations/${id}` }
}

describe('[DRY-14] a change among members', () => {
  it('the plan of a removal names the keys that end, or their new owner and the scopes that they lose', async () => {
    const { owner, member, id, path } = await team('ADMIN')
    const recipient = await createAccount()
    await joinTeam(id, recipient, 'ADMIN')
    const key = await createKeyIn(id, member)
    const at = `${path}/members/${member.userId}`
    const call = api(owner.key)
    const plan = (await call.delete(`${at}?dryRun=true`)).body
    expect(brief(plan)).toEqual([
      ['REFUSES', 'member', member.userId],
      ['REFUSES', 'api-key', key.id],
    ])
    const moved = (await call.delete(`${at}?dryRun=true&keysTo=${owner.userId}`)).body
    expect(brief(moved)[1]).toEqual(['MOVES', 'api-key', key.id])
    expect(moved.effects[1].what).toContain('no longer grants account:write')
    expect((await call.delete(`${at}?dryRun=true&keysTo=${recipient.userId}`)).body.effects[1].what).toContain(
      'grants the same permissions',
    )
    expect((await api(key.key).get('/v2/account/limits')).status).toBe(200)
    const refused = await call.delete(`${path}/members/${owner.userId}`)
    expect(refused.status).toBe(409)
    expect((await call.delete(`${path}/members/${owner.userId}?dryRun=true`)).body).toMatchObject({ effects: [], refusal: refused.body })
    expect((await api(member.key).delete(`${path}/members/${member.userId}?dryRun=true`)).body.action).toBe('members.leave')
  })

  it('the plan of another role lists lost and gained permissions, and the keys that grant less', async () => {
    const { owner, member, id, path } = await team('DEV')
    const [all, jobs] = [await createKeyIn(id, member), await createKeyIn(id, member, { permission: 'RESTRICTED', scopes: ['jobs:read'] })]
    const call = api(owner.key)
    const ask = async (role: Role) => (await call.patch(`${path}/members/${member.userId}?dryRun=true`, { role })).body
    const less = await ask('BASIC')
    expect(brief(less)).toEqual([
      ['CHANGES', 'member', member.userId],
      ['REFUSES', 'member', member.userId],
      ['REFUSES', 'api-key', all.id],
    ])
    expect(less.effects[1].what).toContain('pods:write')
    expect(brief(await ask('BILLING')).map(([, , one]) => one)).toContain(jobs.id)
    expect((await ask('ADMIN')).effects.map(({ kind }: Effect) => kind)).toEqual(['CHANGES', 'CHANGES'])
    expect((await ask('DEV')).effects.map(({ kind }: Effect) => kind)).toEqual(['STAYS'])
    const over = (await call.post(`${path}/hand-over?dryRun=true`, { userId: member.userId })).body
    expect(over.effects.map(({ what }: Effect) => what)).toEqual(
      expect.arrayContaining(['the role DEV becomes OWNER', 'the role OWNER becomes ADMIN']),
    )
    const { members } = (await call.get(path)).body
    expect(members.map(({ role }: { role: string }) => role).toSorted()).toEqual(['DEV', 'OWNER'])
    expect((await api(member.key).patch(`${path}/members/${owner.userId}?dryRun=true`, { role: 'BASIC' })).status).toBe(403)
  })
})

describe('[DRY-15] the deletion of an organization', () => {
  it('the plan is refused with the remaining resources; then it counts the members', async () => {
    const { owner, member, id, path } = await team('DEV')
    const call = api(owner.key)
    const invited = (await call.post(`${path}/invitations`, { email: 'guest@example.com', role: 'BASIC' })).body
    const revoked = (await call.delete(`${path}/invitations/${invited.id}?dryRun=true`)).body
    expect(revoked).toMatchObject({ resource: { kind: 'invitation', name: 'guest@example.com' }, effects: [{ kind: 'REFUSES' }] })
    await createKeyIn(id, member)
    const real = await call.delete(path)
    expect(real.status).toBe(409)
    expect((await call.delete(`${path}?dryRun=true`)).body).toMatchObject({ effects: [], refusal: real.body })
    await call.delete(`${path}/members/${member.userId}`)
    expect((await call.delete(`${path}?dryRun=true`)).body.effects.map(({ what }: Effect) => what)).toEqual([
      'it is deleted; its usage records stay for billing',
      '1 member loses it',
      '1 open invitation becomes invalid',
    ])
    expect((await call.delete(path)).status).toBe(204)
  })
})
