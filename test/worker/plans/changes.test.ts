import { admin, api, createAccount, createKey, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, podScene } from '../../support/pods/pod-scene.ts'

type Effect = { kind: string; what: string; severity: string; amount: number | null; resource: { kind: string; id: string } }
const brief = ({ effects }: { effects: Effect[] }) =>
  effects.map(({ kind, severity, resource }) => [kind, severity, resource.kind, resource.id])
const dry = (path: string) => `${path}?dryRun=true`

describe('[DRY-20] PATCH of a network volume', () => {
  it('the plan has the new size, refuses a shrink, and states the cost; a refusal is the same as that of the change', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const { body: volume } = await call.post('/v2/network-volumes', { name: 'data', size: 20, dataCenter: 'EU-RO-1' })
    const path = `/v2/network-volumes/${volume.id}`
    const rate = async () => (await call.get('/v2/spend')).body.perHour as number
    const before = await rate()
    const { body: plan } = await call.patch(dry(path), { name: 'models', size: 200 })
    expect(plan).toMatchObject({ action: 'network-volumes.update', refusal: null })
    expect(plan.effects.slice(0, 2)).toMatchObject([
      { kind: 'CHANGES', severity: 'INFO', what: 'its name: data becomes models' },
      { kind: 'CHANGES', severity: 'WARNING', what: 'its size: 20 GB becomes 200 GB, and it cannot shrink again' },
    ])
    expect((await call.get(path)).body).toEqual(volume)
    expect(brief((await call.patch(dry(path), { size: 20 })).body)).toEqual([['STAYS', 'INFO', 'network-volume', volume.id]])
    const smaller = await call.patch(path, { size: 10 })
    expect(smaller.status).toBe(400)
    expect((await call.patch(dry(path), { size: 10 })).body).toMatchObject({ effects: [], refusal: smaller.body })
    expect((await call.patch(path, { name: 'models', size: 200 })).status).toBe(200)
    expect(plan.effects.at(-1)).toMatchObject({ kind: 'COSTS', amount: expect.closeTo((await rate()) - before, 6) })
  })

  it('the plan is refused at the spend limit', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const { body: volume } = await call.post('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' })
    expect((await call.patch('/v2/billing/limits', { perHour: 0.01 })).status).toBe(200)
    const path = `/v2/network-volumes/${volume.id}`
    const real = await call.patch(path, { size: 4_000 })
    expect(real.status).toBe(402)
    expect((await call.patch(dry(path), { size: 4_000 })).body).toMatchObject({ effects: [], refusal: real.body })
    expect((await call.get(path)).body.size).toBe(10)
  })
})

describe('[DRY-21] PATCH of a template', () => {
  it('the plan names the objects made from it, which keep their copy, and its readers from now on', async () => {
    const scene = await podScene(gpus(1))
    const { call } = scene
    const { body: template } = await call.post('/v2/templates', { name: 'notebook', image: 'acme/idle:1' })
    await call.post('/v2/templates', { name: 'taken', image: 'acme/idle:1' })
    const { body: pod } = await call.post(PODS, { name: 'p', gpu: { id: 'NVIDIA L4' }, templateId: template.id })
    const path = `/v2/templates/${template.id}`
    const { body: plan } = await call.patch(dry(path), { image: 'acme/idle:2', disk: template.disk + 1 })
    expect(brief(plan)).toEqual([
      ['CHANGES', 'INFO', 'template', template.id],
      ['STAYS', 'INFO', 'pod', pod.id],
    ])
    expect(plan.effects[0].what).toBe('changes image, disk of resources that are created from it later')
    const shared = (await call.patch(dry(path), { public: true })).body
    expect(shared.effects[1]).toMatchObject({ kind: 'CHANGES', severity: 'WARNING', what: expect.stringContaining('every account') })
    expect(brief((await call.patch(dry(path), { image: 'acme/idle:1' })).body)).toEqual([['STAYS', 'INFO', 'template', template.id]])
    for (const body of [{ name: 'taken' }, { image: '' }, { registry: { id: 'nobody' } }]) {
      const real = await call.patch(path, body)
      expect(real.status, JSON.stringify(body)).toBe(400)
      expect((await call.patch(dry(path), body)).body, JSON.stringify(body)).toMatchObject({ effects: [], refusal: real.body })
    }
    expect((await call.get(path)).body).toEqual(template)
    expect((await call.patch(path, { public: true })).status).toBe(200)
    expect((await call.patch(dry(path), { public: false })).body.effects[1]).toMatchObject({ kind: 'REFUSES', severity: 'WARNING' })
    await scene.end(pod.id)
    scene.leave()
  })

  it('the plan leaves a credential without a registry unchanged', async () => {
    const call = api((await createAccount()).key)
    const { body: registry } = await call.post('/v2/registries', { name: 'hub', username: 'ada', password: 'secret' })
    const { body: template } = await call.post('/v2/templates', { name: 'notebook', image: 'acme/idle:1' })
    expect((await call.patch(dry(`/v2/templates/${template.id}`), { registry: { id: registry.id } })).status).toBe(200)
    expect((await call.get(`/v2/registries/${registry.id}`)).body).toEqual(registry)
  })
})

describe('[DRY-22] PATCH of a secret', () => {
  it('the plan names the objects that keep the previous value until their next start, and those that get the new one', async () => {
    const scene = await podScene(gpus(1))
    const { call } = scene
    const { body: secret } = await call.post('/v2/account/secrets', { name: 'hf', value: 'one' })
    const names = { TOKEN: '{{ RUNPOD_SECRET_hf }}' }
    const { body: pod } = await call.post(PODS, { name: 'p', gpu: { id: 'NVIDIA L4' }, image: 'acme/idle:1', env: names })
    const body = { name: 'e', image: 'acme/echo:1', gpu: { pools: ['ADA_24'] }, env: names }
    const { body: endpoint } = await call.post('/v2/serverless', body)
    const { body: template } = await call.post('/v2/templates', { name: 't', image: 'acme/idle:1', env: names })
    await call.post('/v2/templates', { name: 'other', image: 'acme/idle:1', env: { TOKEN: '{{ RUNPOD_SECRET_hf2 }}' } })
    const path = `/v2/account/secrets/${secret.id}`
    const { body: plan } = await call.patch(dry(path), { value: 'the-new-value' })
    expect(JSON.stringify(plan)).not.toContain('the-new-value')
    expect(plan.action).toBe('secrets.rotate')
    expect(brief(plan)).toEqual([
      ['CHANGES', 'LOSS', 'secret', secret.id],
      ['STAYS', 'WARNING', 'pod', pod.id],
      ['STAYS', 'WARNING', 'endpoint', endpoint.id],
      ['CHANGES', 'INFO', 'template', template.id],
    ])
    expect((await call.get(path)).body).toEqual(secret)
    expect(brief((await call.patch(dry(path), { description: 'of ada' })).body)).toEqual([['CHANGES', 'INFO', 'secret', secret.id]])
    expect((await call.post(`${PODS}/${pod.id}/action`, { action: 'stop' })).status).toBe(200)
    expect(brief((await call.patch(dry(path), { value: 'x' })).body)[1]).toEqual(['CHANGES', 'INFO', 'pod', pod.id])
    await scene.end(pod.id)
    scene.leave()
  })
})

describe("[DRY-23] the operator's changes of the catalog", () => {
  it('the plan lists the changes, the objects that keep their price, and the endpoints that get other workers', async () => {
    const operator = admin()
    const gpu = `podplane-test-${crypto.randomUUID().slice(0, 8)}`
    const pool = `P_${gpu.slice(-8)}`
    const path = `/admin/v1/catalog/gpus/${gpu}`
    const entry = { name: 'Test', memory: 24, pool, price: { secure: 0.5, serverless: 1 } }
    const made = (await operator.put(dry(path), entry)).body
    expect(made.effects.length).toBeGreaterThan(0)
    expect((await operator.get(path)).status).toBe(404)
    expect((await operator.put(path, entry)).status).toBe(200)
    const owner = await createAccount()
    const teamId = await teamOf(owner)
    const call = api(owner.key)
    const { body: endpoint } = await call.post('/v2/serverless', { name: 'e', image: 'acme/echo:1', gpu: { pools: [pool] } })
    const about = ({ effects }: { effects: Effect[] }) => effects.filter(({ resource }) => resource.kind === 'endpoint')
    const dearer = (await operator.put(dry(path), { ...entry, price: { secure: 0.5, serverless: 2 } })).body
    expect(dearer.effects[0]).toMatchObject({ kind: 'CHANGES', what: 'serverlessPrice: 1 becomes 2', resource: { id: `GPU/${gpu}` } })
    expect(about(dearer)).toMatchObject([{ kind: 'CHANGES', resource: { id: endpoint.id, teamId } }])
    expect(about(dearer)[0]?.what).toMatch(/costs 2\.\d+ USD per hour; before: 1\.\d+$/)
    const withdrawn = (await operator.put(dry(path), { ...entry, offered: false })).body
    expect(brief(withdrawn)).toContainEqual(['REFUSES', 'WARNING', 'catalog', `GPU/${gpu}`])
    expect(about(withdrawn)).toMatchObject([{ kind: 'WAITS', severity: 'WARNING', resource: { id: endpoint.id } }])
    expect(brief((await operator.put(dry(path), entry)).body)).toEqual([['STAYS', 'INFO', 'catalog', `GPU/${gpu}`]])
    const real = await operator.delete(path)
    expect(real.status).toBe(409)
    expect((await operator.delete(dry(path))).body).toMatchObject({ effects: [], refusal: real.body })
    expect((await call.delete(`/v2/serverless/${endpoint.id}`)).status).toBe(204)
    expect(brief((await operator.delete(dry(path))).body)[0]).toEqual(['DELETES', 'WARNING', 'catalog', `GPU/${gpu}`])
    expect((await operator.delete(path)).status).toBe(204)
  })

  it('the plan counts the volumes that keep their price, and pods likewise', async () => {
    const scene = await podScene(gpus(1))
    const { body: pod } = await scene.call.post(PODS, { name: 'p', gpu: { id: 'NVIDIA L4' }, image: 'acme/idle:1' })
    const { body: volume } = await scene.call.post('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' })
    const kept = async (path: string, body: object) => {
      const { effects } = (await admin().put(dry(`/admin/v1/catalog/${path}`), body)).body
      return effects.find(({ kind }: Effect) => kind === 'STAYS').amount
    }
    const count = async (sql: string) => (await env.DB.prepare(sql).first<{ n: number }>())?.n
    expect(await kept('storage/networkVolume', { STANDARD: { first: 9 } })).toBe(await count('SELECT COUNT(*) AS n FROM network_volumes'))
    expect(await kept('gpus/NVIDIA%20L4', { price: { secure: 9 } })).toBe(
      await count("SELECT COUNT(*) AS n FROM pods WHERE status <> 'TERMINATED' AND json_extract(spec, '$.compute.typeId') = 'NVIDIA L4'"),
    )
    await scene.call.delete(`/v2/network-volumes/${volume.id}`)
    await scene.end(pod.id)
    scene.leave()
  })
})

describe('[DRY-24] rotating a key', () => {
  it('the plan states how long the previous key is valid and when it was last used; a second rotation is refused', async () => {
    const owner = await createAccount()
    const spare = await createKey(owner.userId)
    const call = api(owner.key)
    const path = `/v2/account/keys/${spare.id}/rotate`
    const { body: plan } = await call.post(dry(path), { overlapSeconds: 3_600 })
    expect(plan.effects).toMatchObject([
      { kind: 'CHANGES', severity: 'INFO' },
      { kind: 'REFUSES', severity: 'INFO', what: expect.stringMatching(/refused from 20\S+Z; it was never used$/) },
    ])
    expect((await api(spare.key).get('/v2/account/limits')).status).toBe(200)
    await env.DB.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?').bind(Date.now(), spare.id).run()
    expect((await call.post(dry(path), {})).body.effects[1]).toMatchObject({
      severity: 'WARNING',
      what: expect.stringContaining('last used'),
    })
    expect((await call.get('/v2/account/keys')).body.keys.find(({ id }: { id: string }) => id === spare.id).replacedBy).toBeNull()
    expect((await call.post(path, {})).status).toBe(201)
    const again = await call.post(path, {})
    expect(again.status).toBe(409)
    expect((await call.post(dry(path), {})).body).toMatchObject({ effects: [], refusal: again.body })
  })
})

describe('[DRY-6] PATCH of a pod', () => {
  it('the plan names each field that changes, idleStop and the deadlines too', async () => {
    const { call } = await podScene(gpus(1))
    const { body: pod } = await call.post(PODS, { name: 'p', image: 'acme/idle:1', gpu: { id: 'NVIDIA L4' } })
    const change = { idleStop: { afterSeconds: 3_600 }, stopAfter: '2099-01-01T00:00:00Z', onHostLoss: 'REPLACE' }
    const { body: plan } = await call.patch(dry(`${PODS}/${pod.id}`), change)
    expect(plan.effects[0].what).toBe('changes onHostLoss, stopAfter, idleStop; the running container is not affected')
    expect((await call.get(`${PODS}/${pod.id}`)).body).toEqual(pod)
  })
})
