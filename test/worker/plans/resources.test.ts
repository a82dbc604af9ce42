import { api, createAccount, createKey, describe, env, expect, it } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene } from '../../support/hosts/cluster-scene.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, podScene } from '../../support/pods/pod-scene.ts'

type Effect = { kind: string; what: string; severity: string; amount: number | null; resource: { kind: string; id: string } }
const brief = ({ effects }: { effects: Effect[] }) =>
  effects.map(({ kind, severity, resource }) => [kind, severity, resource.kind, resource.id])

describe('[DRY-8] DELETE of a cluster', () => {
  it('the plan names the members that stop, the disks that are lost and their cost', async () => {
    const scene = await ClusterScene.open(3)
    const { id } = await scene.running()
    const call = api(scene.account.key)
    const { pods } = (await call.get(`${CLUSTERS}/${id}/pods`)).body
    const { body: plan } = await call.delete(`${CLUSTERS}/${id}?dryRun=true`)
    const stopped = plan.effects.filter(({ kind }: Effect) => kind === 'STOPS').map(({ resource }: Effect) => resource.id)
    expect(stopped.toSorted()).toEqual(pods.map((pod: { id: string }) => pod.id).toSorted())
    expect(plan.effects.find(({ kind }: Effect) => kind === 'DELETES')).toMatchObject({
      severity: 'LOSS',
      resource: { kind: 'cluster', id },
    })
    const { perHour } = (await call.get('/v2/spend')).body
    expect(plan.effects.at(-1)).toMatchObject({ kind: 'SAVES', amount: expect.closeTo(perHour, 6) })
    expect((await call.get(`${CLUSTERS}/${id}/pods`)).body.pods).toHaveLength(pods.length)
    expect((await call.delete(`${CLUSTERS}/${id}`)).status).toBe(204)
  })
})

describe('[DRY-9] DELETE of resources that pods use', () => {
  it('the plan is refused as the deletion is, with the names of the users; then it lists the losses', async () => {
    const scene = await podScene(gpus(1))
    const { call } = scene
    const { body: registry } = await call.post('/v2/registries', { name: 'hub', username: 'ada', password: 'secret' })
    const { body: template } = await call.post('/v2/templates', { name: 'notebook', image: 'acme/idle:1', registry: { id: registry.id } })
    const { body: pod } = await call.post(PODS, { name: 'p', gpu: { id: 'NVIDIA L4' }, templateId: template.id })
    const kept = [`/v2/templates/${template.id}`, `/v2/registries/${registry.id}`]
    for (const path of kept) {
      const real = await call.delete(path)
      expect(real.status, path).toBe(400)
      expect((await call.delete(`${path}?dryRun=true`)).body).toMatchObject({
        effects: [],
        refusal: real.body,
        inTheWay: [{ kind: 'pod', id: pod.id, name: 'p' }],
      })
    }
    await scene.end(pod.id)
    expect(brief((await call.delete(`/v2/templates/${template.id}?dryRun=true`)).body)).toEqual([
      ['DELETES', 'LOSS', 'template', template.id],
    ])
    expect(brief((await call.delete(`/v2/registries/${registry.id}?dryRun=true`)).body)).toEqual([
      ['DELETES', 'LOSS', 'registry', registry.id],
      ['CHANGES', 'WARNING', 'template', template.id],
    ])
    for (const path of kept) expect((await call.get(path)).status).toBe(200)
    scene.leave()
  })

  it('the plan for a volume has its used size and its cost', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const { body: volume } = await call.post('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' })
    const { perHour } = (await call.get('/v2/spend')).body
    const path = `/v2/network-volumes/${volume.id}`
    const empty = (await call.delete(`${path}?dryRun=true`)).body
    expect(empty.effects).toMatchObject([
      { kind: 'DELETES', severity: 'LOSS', what: 'all its data (up to 10 GB) is wiped' },
      { kind: 'SAVES', amount: expect.closeTo(perHour, 6) },
    ])
    await env.DB.prepare('UPDATE network_volumes SET used_bytes = 4096, used_at = 0 WHERE id = ?').bind(volume.id).run()
    const used = (await call.delete(`${path}?dryRun=true`)).body
    expect(used.effects[0].what).toContain('4096 bytes')
    expect((await call.get(path)).status).toBe(200)
    const { body: endpoint } = await call.post('/v2/serverless', {
      name: 'e',
      image: 'acme/echo:1',
      gpu: { pools: ['ADA_24'] },
      networkVolumes: [volume.id],
    })
    const real = await call.delete(path)
    expect(real.status).toBe(400)
    expect((await call.delete(`${path}?dryRun=true`)).body).toMatchObject({
      refusal: real.body,
      inTheWay: [{ kind: 'endpoint', id: endpoint.id }],
    })
  })

  it('the plan names the users of a secret, and none of other accounts', async () => {
    const [owner, other] = [await createAccount(), await createAccount()]
    const made = async (key: string, name: string, TOKEN: string) =>
      (await api(key).post('/v2/templates', { name, image: 'acme/idle:1', env: { TOKEN } })).body.id as string
    const { body: secret } = await api(owner.key).post('/v2/account/secrets', { name: 'hf', value: 'x' })
    const reader = await made(owner.key, 'reader', 'Bearer {{ RUNPOD_SECRET_hf }}')
    await made(owner.key, 'reads-another', '{{ RUNPOD_SECRET_hf2 }}')
    await made(other.key, 'foreign', '{{ RUNPOD_SECRET_hf }}')
    const { body: plan } = await api(owner.key).delete(`/v2/account/secrets/${secret.id}?dryRun=true`)
    expect(brief(plan)).toEqual([
      ['DELETES', 'LOSS', 'secret', secret.id],
      ['CHANGES', 'WARNING', 'template', reader],
    ])
  })

  it('the plan names the users of a delegation, unless another one covers them', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const resource = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
    const { body: delegation } = await call.post('/v2/registries/delegations', { resource })
    const image = '123456789012.dkr.ecr.us-east-1.amazonaws.com/team/models'
    const endpoint = async (tag: string) =>
      (await call.post('/v2/serverless', { name: 'e', image: `${image}${tag}`, gpu: { pools: ['ADA_24'] } })).body.id as string
    const id = await endpoint(':1')
    await endpoint('-of-others:1')
    const path = `/v2/registries/delegations/${delegation.id}?dryRun=true`
    expect(brief((await call.delete(path)).body)).toEqual([
      ['DELETES', 'WARNING', 'delegation', delegation.id],
      ['REFUSES', 'WARNING', 'endpoint', id],
    ])
    await call.post('/v2/registries/delegations', { resource })
    expect(brief((await call.delete(path)).body)[1]).toEqual(['STAYS', 'INFO', 'endpoint', id])
  })
})

describe('[DRY-10] the end of credentials', () => {
  it('the plan states when a key was last used; a revoked one is 404', async () => {
    const owner = await createAccount()
    const spare = await createKey(owner.userId)
    const path = `/v2/account/keys/${spare.id}`
    const ask = async () => (await api(owner.key).delete(`${path}?dryRun=true`)).body.effects
    expect(await ask()).toMatchObject([{ kind: 'REFUSES', severity: 'INFO', what: expect.stringContaining('never used') }])
    expect((await api(spare.key).get('/v2/account/limits')).status).toBe(200)
    await env.DB.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?').bind(Date.now(), spare.id).run()
    expect(await ask()).toMatchObject([{ kind: 'REFUSES', severity: 'LOSS', what: expect.stringContaining('last used at 20') }])
    expect((await api(spare.key).get('/v2/account/limits')).status).toBe(200)
    expect((await api(owner.key).delete(path)).status).toBe(204)
    expect((await api(owner.key).delete(`${path}?dryRun=true`)).status).toBe(404)
  })

  it('the plan lists removed and added SSH keys', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const [one, two] = ['AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAone', 'AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAtwo']
    await call.put('/v2/account/ssh-keys', { keys: [`ssh-ed25519 ${one} ada@example.com`] })
    const { body: plan } = await call.put('/v2/account/ssh-keys?dryRun=true', { keys: [`ssh-ed25519 ${two}`] })
    expect(plan.effects).toMatchObject([
      { kind: 'REFUSES', resource: { kind: 'ssh-key', name: 'ada@example.com' } },
      { kind: 'CHANGES', resource: { kind: 'ssh-key', name: null } },
    ])
    expect((await call.get('/v2/account/ssh-keys')).body.keys).toEqual([`ssh-ed25519 ${one} ada@example.com`])
  })
})
