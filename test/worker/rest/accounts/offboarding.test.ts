import { admin, api, createAccount, createKey, describe, env, expect, it, joinTeam, teamOf } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'
import { run, setUpQueue } from '../../../support/queue/queue.ts'

const remove = (userId: string) => admin().delete(`/admin/v1/users/${userId}`)
const count = async (table: string, team: string) =>
  (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE team_id = ?`).bind(team).first<{ n: number }>())?.n

describe('a deleted account', () => {
  it('[TEAM-23][VOL-6] has its work ended and its stored data deleted, and its usage stays', async () => {
    const scene = await podScene(gpus(2))
    const { account } = scene
    const team = await teamOf(account)
    const { id } = await scene.create()
    await scene.run(id)
    await api(account.key).patch(`/v2/pods/${id}`, { locked: true })
    const second = await createKey(account.userId)
    await api(account.key).post('/v2/templates', { name: 't', image: 'acme/idle:1' })
    await api(account.key).post('/v2/registries', { name: 'ghcr', username: 'ada', password: 'secret' })
    const volume = (await api(account.key).post('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' })).body
    await env.DB.prepare('INSERT INTO volume_hosts VALUES (?, ?, 1, NULL)').bind(volume.id, scene.host.id).run()
    expect(await remove(account.userId)).toMatchObject({
      status: 200,
      body: {
        ...{ userId: account.userId, deletedAt: expect.any(String), keys: 2, pods: 1, endpoints: 0 },
        ...{ secrets: 0, templates: 1, registries: 1, volumes: 1, failed: [] },
      },
    })
    for (const key of [account.key, second.key]) expect((await api(key).get('/v2/pods')).status).toBe(401)
    const pod = await env.DB.prepare('SELECT status FROM pods WHERE id = ?').bind(id).first()
    expect(pod).toEqual({ status: 'TERMINATED' })
    const buried = await env.DB.prepare('SELECT kind, data_center_id AS dc, wiped_at FROM volume_tombstones WHERE team_id = ?')
      .bind(team)
      .all()
    expect(buried.results).toEqual([{ kind: 'network', dc: 'EU-RO-1', wiped_at: null }])
    expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM usage WHERE workload_id = ?').bind(id).first()).toEqual({ n: 1 })
    for (const table of ['templates', 'registries', 'network_volumes', 'memberships', 'ssh_keys']) {
      expect([table, await count(table, team)]).toEqual([table, 0])
    }
    expect((await remove(account.userId)).status).toBe(404)
    expect((await admin().get(`/admin/v1/users?email=${account.email}`)).body.users).toEqual([])
    expect((await admin().post('/admin/v1/users', { email: account.email })).status).toBe(201)
  })

  it('[TEAM-23] has its endpoints deleted with their jobs; those of other accounts stay', async () => {
    const [queue, neighbour] = [await setUpQueue(), await setUpQueue()]
    await run(queue, {})
    const theirs = await run(neighbour, {})
    expect((await remove(queue.account.userId)).body).toMatchObject({ endpoints: 1, failed: [] })
    const row = await env.DB.prepare('SELECT deleted_at FROM endpoints WHERE id = ?').bind(queue.endpointId).first<{ deleted_at: number }>()
    expect(row?.deleted_at).toBeGreaterThan(0)
    const status = await api(neighbour.account.key).get(`/v2/${neighbour.endpointId}/status/${theirs}`)
    expect(status).toMatchObject({ status: 200, body: { status: 'IN_QUEUE' } })
  })

  it('[TEAM-23] is refused for the only owner of an organization; with another owner the organization continues', async () => {
    const [owner, other] = [await createAccount(), await createAccount()]
    const org = crypto.randomUUID().slice(0, 14)
    await env.DB.prepare("INSERT INTO teams (id, name, kind, created_at) VALUES (?, 'acme', 'ORGANIZATION', 0)").bind(org).run()
    await joinTeam(org, owner, 'OWNER')
    const detail = `the user is the only owner of the organization acme (${org}): transfer its ownership or delete it first`
    expect(await remove(owner.userId)).toMatchObject({ status: 409, body: { detail } })
    expect((await api(owner.key).get('/v2/pods')).status).toBe(200)
    await joinTeam(org, other, 'OWNER')
    expect((await remove(owner.userId)).status).toBe(200)
    const members = await env.DB.prepare('SELECT user_id AS id FROM memberships WHERE team_id = ?').bind(org).all()
    expect(members.results).toEqual([{ id: other.userId }])
  })
})
