import { dropCatalog } from '../../../src/effects/catalog.ts'
import { auditRows } from '../../support/access/audited.ts'
import { admin, afterEach, api, createAccount, createEndpoint, describe, env, expect, it } from '../../support/harness.ts'
import { podBody, podScene } from '../../support/pods/pod-scene.ts'

const BASE = '/admin/v1/catalog'
const L4 = 'NVIDIA L4'
const path = (part: string, id: string) => `${BASE}/${part}/${encodeURIComponent(id)}`
const put = (part: string, id: string, body: object) => admin().put(path(part, id), body)
const on = (typeId: string, count: number) => ({
  gpus: [{ typeId, count, memoryMb: 24_000, driverVersion: null, cudaVersion: '12.8', simulated: true }],
})

afterEach(async () => {
  await env.DB.exec('DELETE FROM catalog_entries')
  dropCatalog()
})

describe("the operator's changes of the catalog", () => {
  it('[CAT-15] apply at once, replace earlier ones, and can be reverted', async () => {
    const { key } = await createAccount()
    const shown = async () => (await api(key).get('/v2/catalog/gpus/NVIDIA%20L4')).body.price
    expect((await admin().get(path('gpus', L4))).body).toMatchObject({ id: L4, origin: 'SEED', entry: {}, inForce: { securePrice: 0.44 } })
    const changed = await put('gpus', L4, { price: { secure: 0.5 } })
    expect(changed).toMatchObject({ status: 200, body: { id: L4, origin: 'CHANGED', entry: { securePrice: 0.5 } } })
    expect(await shown()).toEqual({ secure: 0.5, community: 0.28, serverless: 0.69 })
    await put('gpus', L4, { price: { community: null } })
    expect(await shown()).toEqual({ secure: 0.44, community: 0, serverless: 0.69 })
    expect((await admin().delete(path('gpus', L4))).status).toBe(204)
    expect(await shown()).toEqual({ secure: 0.44, community: 0.28, serverless: 0.69 })
    expect((await admin().delete(path('gpus', L4))).status).toBe(404)
  })

  it('[CAT-15] can add a type, a flavor and a data center, which are sold, placed on and removed', async () => {
    const type = `Own GPU ${crypto.randomUUID()}`
    const scene = await podScene({ ...on(type, 1), vcpus: 8, memoryMb: 65_536 })
    expect((await scene.call.post('/v2/pods', podBody({ gpu: { id: type } }))).status).toBe(400)
    const members = { name: 'Own', memory: 24, price: { secure: 1.25, serverless: 2 }, pool: 'OWN_24', maxCount: 1 }
    expect((await put('gpus', type, members)).body.origin).toBe('OWN')
    const pod = await scene.create({ gpu: { id: type } })
    expect(pod).toMatchObject({ cost: 1.25, gpu: { id: type } })
    await createEndpoint(scene.account.key, { gpu: { pools: ['OWN_24'] } })
    await put('cpus', 'own1', { name: 'Own', group: 'Own', ramGbPerVcpu: 1, price: { securePerVcpu: 0.1, serverlessPerVcpu: 0.1 } })
    const dryRun = await scene.call.post('/v2/pods?dryRun=true', { name: 'c', image: 'acme/idle:1', cpu: { id: 'own1', vcpuCount: 2 } })
    expect(dryRun.body).toMatchObject({ cost: 0.2 })
    expect((await admin().delete(path('cpus', 'own1'))).status).toBe(204)
    await put('datacenters', 'LAB-1', { name: 'Own', region: 'ASIA', networkVolumeTypes: ['HIGH_PERFORMANCE'] })
    expect((await scene.call.get('/v2/catalog/datacenters/LAB-1')).body).toMatchObject({ name: 'Own', region: 'ASIA' })
    scene.leave()
  })

  it('[CAT-16] of a price do not affect an existing pod, nor its next start', async () => {
    const scene = await podScene(on('NVIDIA L40', 1))
    const { id, cost } = await scene.create({ gpu: { id: 'NVIDIA L40' } })
    expect(cost).toBe(0.95)
    await scene.run(id)
    await put('gpus', 'NVIDIA L40', { price: { secure: 3 } })
    expect(await scene.get(id)).toMatchObject({ cost: 0.95 })
    await scene.act(id, 'restart')
    expect(await scene.get(id)).toMatchObject({ cost: 0.95 })
    expect((await scene.call.post('/v2/pods?dryRun=true', podBody({ gpu: { id: 'NVIDIA L40' } }))).body).toMatchObject({ cost: 3 })
    scene.leave()
  })

  it('[CAT-17] cannot remove an entry in use, but can withdraw it', async () => {
    const scene = await podScene(on('Own used', 1))
    await put('gpus', 'Own used', { name: 'Own', memory: 24, price: { secure: 1, serverless: 1 }, pool: 'OWN_USED' })
    const endpoint = await createEndpoint(scene.account.key, { gpu: { pools: ['OWN_USED'] } })
    const inUse = (by: string) => ({ status: 409, body: { code: 'IN_USE', detail: expect.stringContaining(`in use by ${by}`) } })
    expect(await admin().delete(path('gpus', 'Own used'))).toMatchObject(inUse(`endpoint ${endpoint}`))
    expect(await put('gpus', 'Own used', { name: 'Own', memory: 24 })).toMatchObject(inUse(`endpoint ${endpoint}`))
    const { id } = await scene.create({ gpu: { id: 'Own used' } })
    expect(await admin().delete(path('gpus', 'Own used'))).toMatchObject(inUse(`pod ${id}`))
    await put('datacenters', 'LAB-2', {})
    const volume = await scene.call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'LAB-2' })
    expect(await admin().delete(path('datacenters', 'LAB-2'))).toMatchObject(inUse(`network volume ${volume.body.id}`))
    const withdrawn = { name: 'Own', memory: 24, price: { secure: 1, serverless: 1 }, pool: 'OWN_USED', offered: false }
    expect((await put('gpus', 'Own used', withdrawn)).status).toBe(200)
    expect(await scene.get(id)).toMatchObject({ cost: 1 })
    const refused = await scene.call.post('/v2/pods', podBody({ gpu: { id: 'Own used' } }))
    expect(refused).toMatchObject({ status: 400, body: { detail: 'gpu.id Own used is not sold in cloud SECURE' } })
    scene.leave()
  })

  it('[CAT-15][SEED-4] can set storage prices one by one', async () => {
    const { body } = await put('storage', 'persistentDisk', { stopped: 0.15 })
    expect(body).toEqual({ id: 'persistentDisk', origin: 'CHANGED', entry: { stopped: 0.15 }, inForce: { running: 0.1, stopped: 0.15 } })
    const volumes = await put('storage', 'networkVolume', { STANDARD: { first: 0.06 } })
    expect(volumes.body.inForce).toEqual({ STANDARD: { first: 0.06, further: 0.05 }, HIGH_PERFORMANCE: { first: 0.14, further: 0.1 } })
    const { entries } = (await admin().get(`${BASE}/storage`)).body
    expect(entries.map(({ id, origin }: { id: string; origin: string }) => [id, origin])).toEqual([
      ['containerDisk', 'SEED'],
      ['persistentDisk', 'CHANGED'],
      ['networkVolume', 'CHANGED'],
    ])
  })

  it.each([
    ['gpus', 'New', { name: 'New' }, 400, 'name and memory are required for a type that is not in the seed'],
    ['gpus', L4, { pool: null }, 400, 'pool and price.serverless go together: both, or both null'],
    ['gpus', L4, { price: { secure: -1 } }, 422, ['$.price.secure: minimum: got -1, want 0']],
    ['gpus', L4, { id: 'x' }, 422, ["$: additional properties 'id' not allowed"]],
    ['cpus', 'new', { name: 'New' }, 400, 'name, group, ramGbPerVcpu and both prices are required for a flavor that is not in the seed'],
    ['cpus', 'cpu3c', { vcpu: { min: 8, max: 4 } }, 400, 'vcpu.min 8 is above vcpu.max 4'],
    ['datacenters', 'EU-RO-1', { networkVolumeTypes: ['STANDARD', 'STANDARD'] }, 400, 'networkVolumeTypes names a type twice'],
    ['storage', 'containerDisk', { STANDARD: { first: 1 } }, 400, 'containerDisk has no STANDARD, only running and stopped'],
    ['storage', 'tape', {}, 422, ["$.id: value must be one of 'containerDisk', 'persistentDisk', 'networkVolume'"]],
  ])('[CAT-15] %s %s %j is %i, and nothing is written', async (part, id, body, status, text) => {
    const reply = await put(part, id, body)
    expect([reply.status, reply.body.errors ?? reply.body.detail]).toEqual([status, text])
    expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM catalog_entries').first('n')).toBe(0)
  })

  it('[CAT-15][AUD-1] add rows of the operator to the audit log', async () => {
    await put('storage', 'containerDisk', { stopped: 0.01 })
    await admin().delete(path('storage', 'containerDisk'))
    const rows = await auditRows("resource_kind = 'catalog' AND resource_id = 'STORAGE/containerDisk'")
    expect(rows.map(({ action, actorKind, before, after }) => ({ action, actorKind, before, after }))).toEqual(
      expect.arrayContaining([
        { action: 'catalog.set', actorKind: 'OPERATOR', before: {}, after: { stopped: 0.01 } },
        { action: 'catalog.delete', actorKind: 'OPERATOR', before: { stopped: 0.01 }, after: null },
      ]),
    )
  })
})
