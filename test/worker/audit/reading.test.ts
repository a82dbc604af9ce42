import { auditOf } from '../../support/access/audited.ts'
import {
  admin,
  api,
  createAccount,
  createEndpoint,
  createKey,
  describe,
  env,
  expect,
  it,
  joinTeam,
  runDurableObjectAlarm,
  runInDurableObject,
  teamOf,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const PATH = '/v2/account/audit'
const DAY_MS = 86_400_000

const actionsOf = (entries: { action: string }[]) => entries.map(({ action }) => action)

describe('[AUD-8] the audit log', () => {
  it('is read newest first, page by page, and by resource, actor, action and time', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const { body: volume } = await call.post('/v2/global-volumes', { name: 'one' })
    await call.patch(`/v2/global-volumes/${volume.id}`, { name: 'two' })
    await call.put('/v2/account/ssh-keys', { keys: [] })
    const all = await call.get(PATH)
    expect(all.status).toBe(200)
    const own = ['ssh-keys.replace', 'global-volumes.update', 'global-volumes.create']
    expect(actionsOf(all.body.entries).slice(0, 3)).toEqual(own)
    expect(all.body.entries[1]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: { kind: 'KEY', userId: account.userId, credentialId: account.keyId },
      action: 'global-volumes.update',
      resource: { kind: 'global-volume', id: volume.id },
      requestId: expect.any(String),
      before: {},
      after: { name: 'two' },
    })
    const walked: { action: string }[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await call.get(`${PATH}?limit=2${cursor && `&cursor=${cursor}`}`)
      walked.push(...page.body.entries)
      cursor = page.body.pagination.nextCursor
    }
    expect(walked).toEqual(all.body.entries)
    const by = async (query: string) => actionsOf((await call.get(`${PATH}?${query}`)).body.entries)
    expect(await by(`resource=${volume.id}`)).toEqual(own.slice(1))
    expect(await by(`actor=${account.keyId}`)).toEqual(own)
    expect(await by(`actor=${account.userId}&action=ssh-keys.replace`)).toEqual(['ssh-keys.replace'])
    const [newest] = all.body.entries
    expect(await by(`from=${newest.at}&actor=${account.keyId}`)).toContain('ssh-keys.replace')
    expect(await by(`to=${newest.at}`)).not.toContain('ssh-keys.replace')
    expect((await call.get(`${PATH}?cursor=x`)).status).toBe(422)
  })

  it('shows a member without account:write what the member did, and no other account anything', async () => {
    const [owner, member, otherTenant] = [await createAccount(), await createAccount(), await createAccount()]
    const team = await teamOf(owner)
    await joinTeam(team, member, 'DEV')
    await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, member.keyId).run()
    await api(owner.key).post('/v2/global-volumes', { name: 'owners' })
    await api(member.key).post('/v2/global-volumes', { name: 'members' })
    const seenBy = async (key: string) =>
      (await api(key).get(`${PATH}?action=global-volumes.create`)).body.entries.map(({ after }: { after: object }) => after)
    expect(await seenBy(owner.key)).toEqual([{ name: 'members' }, { name: 'owners' }])
    expect(await seenBy(member.key)).toEqual([{ name: 'members' }])
    expect(await seenBy(otherTenant.key)).toEqual([])
    const blind = await createKey(owner.userId, { permission: 'RESTRICTED', scopes: ['pods:read'] })
    expect((await api(blind.key).get(PATH)).status).toBe(403)
  })

  it('lists all accounts for the operator, and no host for tenants', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.host.report(`${id}-1`, { state: 'exited' })
    const account = await teamOf(scene.account)
    const hostRow = async () => (await admin().get(`/admin/v1/audit?account=${account}&action=pods.report`)).body.entries[0]
    expect(await hostRow()).toMatchObject({ accountId: account, actor: { kind: 'HOST', credentialId: scene.host.id } })
    const [seen] = (await scene.call.get(`${PATH}?action=pods.report`)).body.entries
    expect(seen.actor).toEqual({ kind: 'HOST', userId: null, credentialId: null })
    const enrolled = (await admin().get(`/admin/v1/audit?resource=${scene.host.id}`)).body.entries
    expect(actionsOf(enrolled)).toEqual(['hosts.enrol'])
    expect(enrolled[0].accountId).toBeNull()
    scene.host.leave()
  })
})

describe('[AUD-9] the past state of a resource', () => {
  it('is known for every moment of an endpoint, also after its deletion', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const id = await createEndpoint(account.key, { env: { MODE: 'a' } })
    await call.patch(`/v2/serverless/${id}`, { workers: { max: 7 } })
    await call.delete(`/v2/serverless/${id}`)
    const rows = (await auditOf(account)).filter(({ resourceId }) => resourceId === id)
    // Rows are set one second apart, independently of the clock.
    const firstMs = Date.now() - 10_000
    for (const [n, row] of rows.entries()) {
      await env.DB.prepare('UPDATE audit SET at = ? WHERE id = ?')
        .bind(firstMs + n * 1_000, row.id)
        .run()
    }
    const was = (offsetMs: number) => call.get(`${PATH}/state?resource=${id}&at=${new Date(firstMs + offsetMs).toISOString()}`)
    expect((await was(-1)).body).toMatchObject({ resource: { kind: 'endpoint', id }, state: null, isComplete: true })
    const [first, second] = [(await was(0)).body.state, (await was(1_500)).body.state]
    expect(first).toMatchObject({ name: 'echo', version: 1, workers: { max: 3 }, 'env.MODE': expect.any(String) })
    expect(second).toEqual({ ...first, workers: { ...first.workers, max: 7 } })
    expect((await was(2_000)).body).toMatchObject({ state: null, isComplete: true })
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).get(`${PATH}/state?resource=${id}&at=2026-01-01T00:00:00Z`)).status).toBe(404)
    const blind = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['account:read', 'account:write'] })
    expect((await api(blind.key).get(`${PATH}/state?resource=${id}&at=2026-01-01T00:00:00Z`)).status).toBe(403)
  })
})

describe('[AUD-10] expired rows', () => {
  it('are deleted by the timer of a host, and younger ones stay', async () => {
    const account = await createAccount()
    await api(account.key).post('/v2/global-volumes', { name: 'old' })
    await api(account.key).post('/v2/global-volumes', { name: 'young' })
    const names = async () =>
      (await auditOf(account)).filter(({ action }) => action === 'global-volumes.create').map(({ after }) => after?.name)
    const ageName = async (name: string, days: number) => {
      const sql = `UPDATE audit SET at = ? WHERE team_id = ? AND after = ?`
      await env.DB.prepare(sql)
        .bind(Date.now() - days * DAY_MS, await teamOf(account), JSON.stringify({ name }))
        .run()
    }
    await ageName('old', 366)
    await ageName('young', 364)
    const host = await FakeHost.join()
    const stub = hostStub(env, host.id)
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'housekeeping'")
    })
    await runDurableObjectAlarm(stub)
    expect(await names()).toEqual(['young'])
    host.leave()
  })
})
