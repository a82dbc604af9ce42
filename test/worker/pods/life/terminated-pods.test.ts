import { readSettings } from '../../../../src/env.ts'
import {
  admin,
  api,
  createAccount,
  createEndpoint,
  describe,
  env,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
  teamOf,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { podScene, setPod } from '../../../support/pods/pod-scene.ts'
import { hostStub } from '../../../support/runner/stubs.ts'

const SECRETS = { env: { DB_PASSWORD: 'former-pod-env' }, args: 'serve --token former-pod-arg', startJupyter: true, ports: ['8888/http'] }
const KEPT_MS = readSettings(env).terminatedPodsKeptMs

const rowOf = (id: string) => env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(id).first()
const specOf = async (id: string) => JSON.parse(String((await rowOf(id))?.spec))
const idsOf = async (teamId: string) =>
  (await env.DB.prepare('SELECT id FROM pods WHERE team_id = ? ORDER BY created_at').bind(teamId).all<{ id: string }>()).results.map(
    ({ id }) => id,
  )

/** Makes the host's object delete retained data that has expired. */
async function keepHouse(hostId: string): Promise<void> {
  const stub = hostStub(env, hostId)
  await runInDurableObject(stub, (_, { storage }) => {
    expect(storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'housekeeping'").rowsWritten).toBeGreaterThan(0)
  })
  await runDurableObjectAlarm(stub)
}

const PREVIOUS = {
  container: { image: '', args: '', diskGb: 50, env: {}, ports: [], registry: null },
  compute: expect.objectContaining({ kind: 'gpu', count: 1 }),
  cloud: 'SECURE',
  dataCenterIds: [],
  mounts: {},
  globalNetworking: false,
  onHostLoss: 'WAIT',
}

describe('a terminated pod', () => {
  it('[POD-76] keeps its usage, and neither env nor command nor login', async () => {
    const scene = await podScene()
    const credential = (await scene.call.post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
    const { id } = await scene.create({ ...SECRETS, disk: 50, registry: credential })
    expect(await rowOf(id)).toMatchObject({
      registry_id: credential,
      spec: expect.stringMatching(/former-pod-arg.*sealedEnv|sealedEnv.*former-pod-arg/),
    })
    await scene.end(id)
    expect(await rowOf(id)).toMatchObject({ status: 'TERMINATED', registry_id: null, name: 'p' })
    expect(await specOf(id)).toEqual(PREVIOUS)
    scene.leave()
  })

  it('[POD-76] of an earlier release is wiped by the migration, and so are the texts of deleted endpoints (END-32)', async () => {
    const scene = await podScene()
    const { id } = await scene.create({ ...SECRETS, disk: 50 })
    await setPod(id, { status: 'TERMINATED', registry_id: 'r' })
    const live = await scene.create({ args: 'stays' })
    const endpointId = await createEndpoint(scene.account.key, { env: { A: 'former-endpoint-env' } })
    const stored = async () => (await scene.call.get('/v2/account/limits')).body.storedBytes.used
    await env.DB.prepare('UPDATE endpoints SET deleted_at = 1, granted_bytes = 7 WHERE id = ?').bind(endpointId).run()
    expect(await stored()).toBeGreaterThan(100)
    const migrations = (env as unknown as { TEST_MIGRATIONS: { name: string; queries: string[] }[] }).TEST_MIGRATIONS
    const wipes = migrations.find(({ name }) => name.startsWith('0009'))?.queries.filter((query) => !/CREATE INDEX/.test(query)) ?? []
    expect(wipes).toHaveLength(3)
    for (const query of wipes) await env.DB.prepare(query).run()
    expect(await specOf(id)).toEqual(PREVIOUS)
    expect(await rowOf(id)).toMatchObject({ registry_id: null })
    expect((await scene.get(live.id)).args).toBe('stays')
    expect(await env.DB.prepare('SELECT config, granted_bytes FROM endpoints WHERE id = ?').bind(endpointId).first()).toEqual({
      config: '{}',
      granted_bytes: 0,
    })
    expect(await stored()).toBe(2)
    scene.leave()
  })

  it('[POD-76] is deleted when its retention has ended and its host holds nothing for it, not before', async () => {
    const scene = await podScene(gpus(4))
    const [young, old, held, live] = [await scene.create(), await scene.create(), await scene.create(), await scene.create()]
    await scene.end(young.id)
    await scene.end(old.id)
    await scene.act(held.id, 'terminate')
    const longAgo = Date.now() - KEPT_MS - 1_000
    for (const { id } of [old, held, live]) await setPod(id, { changed_at: longAgo })
    await setPod(young.id, { changed_at: longAgo + 61_000 })
    await keepHouse(scene.host.id)
    expect((await idsOf(await scene.team())).sort()).toEqual([young.id, held.id, live.id].sort())
    // The timer is set again by itself.
    await keepHouse(scene.host.id)
    scene.leave()
  })

  it('[H5][POD-76] counts in the budget formerPods while it is retained; beyond it the oldest are deleted', async () => {
    const scene = await podScene(gpus(4))
    await admin().put(`/admin/v1/users/${scene.account.userId}/budgets`, { formerPods: 2 })
    const ids: string[] = []
    for (let i = 0; i < 4; i += 1) {
      const { id } = await scene.create()
      ids.push(id)
      await scene.end(id)
    }
    expect(await idsOf(await scene.team())).toEqual(ids.slice(-2))
    expect((await scene.call.get('/v2/account/limits')).body.formerPods).toEqual({ used: 2, bound: 2, unit: 'count', shared: false })
    const otherTenant = await createAccount()
    expect(await teamOf(otherTenant)).not.toBe(await scene.team())
    expect((await api(otherTenant.key).get('/v2/account/limits')).body.formerPods.used).toBe(0)
    scene.leave()
  })

  it('[IDEM-3] is deleted by the timer that also deletes stored replies after a day', async () => {
    const scene = await podScene()
    const key = (name: string) => ({ 'Idempotency-Key': name })
    await scene.call.post('/v2/global-volumes', { name: 'one' }, key('old'))
    await scene.call.post('/v2/global-volumes', { name: 'two' }, key('young'))
    await env.DB.prepare("UPDATE idempotency_keys SET claimed_at = claimed_at - ? WHERE key = 'old'")
      .bind(24 * 3_600_000 + 1)
      .run()
    await keepHouse(scene.host.id)
    const { results } = await env.DB.prepare('SELECT key FROM idempotency_keys WHERE team_id = ?')
      .bind(await scene.team())
      .all()
    expect(results).toEqual([{ key: 'young' }])
    scene.leave()
  })
})
