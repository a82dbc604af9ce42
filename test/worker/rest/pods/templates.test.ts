import { afterAll, api, beforeAll, createAccount, createKey, describe, expect, it } from '../../../support/harness.ts'
import { GPU, gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, type PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'

const KEYS = ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIfirst a@b', 'ssh-rsa AAAAB3NzaC1yc2EAAAADsecond c@d']

let scene: PodScene
let registry = ''
beforeAll(async () => {
  scene = await podScene(gpus(64))
  registry = (await scene.call.post('/v2/registries', { name: 'r', username: 'u', password: 'secret-password' })).body.id
})
afterAll(() => scene.leave())

let next = 0
async function template(members: Record<string, unknown> = {}, key = scene.account.key): Promise<string> {
  next += 1
  const reply = await api(key).post('/v2/templates', {
    name: `t${next}`,
    image: 'acme/probe:1',
    args: 'from template',
    disk: 33,
    env: { A: 'template', B: 'template' },
    ports: ['22/tcp'],
    startSsh: false,
    startJupyter: false,
    ...members,
  })
  expect(reply.status).toBe(201)
  return reply.body.id
}

const patch = (id: string, body: Record<string, unknown>) => scene.call.patch(`${PODS}/${id}`, body)

describe('a template at create', () => {
  it('[CAP-30] [RES-5] a private one takes the scope to read it, a public one does not', async () => {
    const scopes = ['pods:read', 'pods:write']
    const { key } = await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes })
    const create = async (templateId: string) => api(key).post(PODS, { name: 'p', gpu: { id: GPU }, templateId })
    expect(await create(await template())).toMatchObject({ status: 403, body: { detail: 'access denied' } })
    expect((await create(await template({ public: true }))).status).toBe(201)
  })

  it('[POD-11] fills omitted members of the body; env merges name by name and the body wins', async () => {
    const templateId = await template({ mounts: { persistent: { size: 15, path: '/t' } }, registry })
    const body = { name: 'p', gpu: { id: GPU }, templateId, env: { B: 'body', C: 'body' } }
    const pod = (await scene.call.post(PODS, body)).body
    expect(pod).toMatchObject({
      template: templateId,
      image: 'acme/probe:1',
      args: 'from template',
      cmd: ['from', 'template'],
      disk: 33,
      ports: ['22/tcp'],
      env: { A: 'template', B: 'body', C: 'body' },
      registry,
      mounts: { persistent: { size: 15, path: '/t' } },
    })
  })

  it('[POD-11] the body overrides every field; the template may change or go without touching the pod', async () => {
    const templateId = await template({ mounts: { persistent: { size: 15, path: '/t' } }, registry })
    const pod = await scene.create({
      templateId,
      image: 'acme/idle:1',
      args: '',
      disk: 5,
      ports: [],
      registry: null,
      mounts: { persistent: { size: 12, path: '/b' } },
    })
    expect(pod).toMatchObject({
      image: 'acme/idle:1',
      cmd: [],
      disk: 5,
      ports: [],
      registry: null,
      mounts: { persistent: { size: 12, path: '/b' } },
    })
    await scene.call.patch(`/v2/templates/${templateId}`, { env: { A: 'edited' } })
    expect((await scene.get(pod.id)).env).toEqual({ A: 'template', B: 'template' })
    expect((await scene.call.delete(`/v2/templates/${templateId}`)).status).toBe(400)
  })

  it('[POD-11] [POD-38] a CPU pod ignores its mount and CUDA set; so does a body with mounts of its own', async () => {
    const templateId = await template({ mounts: { persistent: { size: 15, path: '/t' } }, allowedCudaVersions: ['99.9'], disk: 10 })
    expect((await scene.create(cpuPodBody({ templateId }))).mounts).toEqual({})
    const volume = (await scene.call.post('/v2/global-volumes', { name: 'for-templates' })).body.id
    const body = { templateId, gpu: { id: GPU, allowedCudaVersions: [] }, mounts: { global: [{ volumeId: volume }] } }
    expect((await scene.create(body)).mounts).toEqual({ global: [{ volumeId: volume, path: '/workspace-global' }] })
  })

  it('[POD-11] its CUDA set holds unless the body names one of the CUDA members', async () => {
    const templateId = await template({ allowedCudaVersions: ['99.9'] })
    const create = (cuda: object) => scene.call.post(PODS, podBody({ templateId, gpu: { id: GPU, ...cuda } }))
    expect(await create({})).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    expect((await create({ minCudaVersion: '12.0' })).status).toBe(201)
    expect((await create({ allowedCudaVersions: ['12.8'] })).status).toBe(201)
    expect((await create({ allowedCudaVersions: [] })).status).toBe(201)
  })

  it('[POD-9] [AUT-5] an unknown or foreign one is 404, a serverless one 422, a public one fine without its credential', async () => {
    const other = await createAccount()
    const theirs = (await api(other.key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
    const create = (templateId: string) => scene.call.post(PODS, podBody({ image: undefined, templateId }))
    expect(await create('nosuchtemplate')).toMatchObject({ status: 404, body: { detail: 'template not found' } })
    expect((await create(await template({}, other.key))).status).toBe(404)
    const serverless = await template({ serverless: true })
    expect(await create(serverless)).toMatchObject({
      status: 422,
      body: { errors: [`$.templateId: template ${serverless} is for serverless endpoints`] },
    })
    expect((await create(await template({ public: true, registry: theirs }, other.key))).body).toMatchObject({
      status: 'PROVISIONING',
      registry: null,
    })
  })

  it('[RATE-6] a short body that its template makes large is 413', async () => {
    const templateId = await template({ env: { BIG: 'a'.repeat(99_000) } })
    const body = podBody({ templateId, env: { MORE: 'b'.repeat(5_000) } })
    expect(await scene.call.post(PODS, body)).toMatchObject({ status: 413, body: { title: 'Payload Too Large' } })
    const { id } = await scene.create()
    expect((await patch(id, { templateId, env: { MORE: 'b'.repeat(5_000) } })).status).toBe(413)
  })
})

describe('a template in a PATCH', () => {
  it("[POD-13] is applied once: its container, its env merged with the body in place of the pod's, neither mounts nor link", async () => {
    const templateId = await template({ mounts: { persistent: { size: 15, path: '/t' } }, registry })
    const pod = await scene.create({ env: { OWN: '1' }, cmd: ['x'] })
    const reply = await patch(pod.id, { templateId, env: { B: 'body' }, disk: 12 })
    expect(reply).toMatchObject({
      status: 200,
      body: { template: null, image: 'acme/probe:1', cmd: ['from', 'template'], disk: 12, ports: ['22/tcp'], registry, mounts: {} },
    })
    expect(reply.body.env).toEqual({ A: 'template', B: 'body' })
  })

  it('[POD-13] an unknown one is 404, a serverless one 422', async () => {
    const { id } = await scene.create()
    expect((await patch(id, { templateId: 'nosuchtemplate' })).status).toBe(404)
    expect((await patch(id, { templateId: await template({ serverless: true }) })).status).toBe(422)
  })
})

describe('other references of a pod', () => {
  it('[CON-7] [REG-2] a registry credential: its login goes to the host alone, and it is in use', async () => {
    const own = (await scene.call.post('/v2/registries', { name: 'r', username: 'u', password: 'secret-password' })).body.id
    const pod = await scene.create({ registry: own, image: 'registry.example.com/private:1' })
    expect(pod.registry).toBe(own)
    const workload = await scene.host.waitFor(({ id }) => id === `${pod.id}-1`)
    expect(workload.registryAuth).toEqual({ username: 'u', password: 'secret-password', host: 'registry.example.com' })
    expect(JSON.stringify(pod)).not.toContain('secret-password')
    expect((await scene.call.delete(`/v2/registries/${own}`)).status).toBe(400)
    const foreign = (await api((await createAccount()).key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
    for (const id of ['noregistry', foreign]) {
      expect((await scene.call.post(PODS, podBody({ registry: id }))).body.detail).toBe(`container registry auth ${id} not found`)
      expect((await patch(pod.id, { registry: id })).body.detail).toBe(`container registry auth ${id} not found`)
    }
    expect((await patch(pod.id, { registry: '' })).body.registry).toBeNull()
  })

  it('[POD-9] [VOL-4] a network volume puts the pod into its data center', async () => {
    const here = (await scene.call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'LOCAL-1' })).body.id
    const there = (await scene.call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-RO-1' })).body.id
    const mounts = (volumeId: string) => ({ mounts: { network: [{ volumeId, path: '/data' }] } })
    expect((await scene.create(mounts(here))).dataCenterId).toBe('LOCAL-1')
    expect((await scene.create({ ...mounts(here), dataCenterIds: ['EU-RO-1', 'LOCAL-1'] })).dataCenterId).toBe('LOCAL-1')
    expect((await scene.call.post(PODS, podBody({ ...mounts(there), dataCenterIds: ['LOCAL-1'] }))).body.detail).toBe(
      `network volume ${there} is in EU-RO-1, not in LOCAL-1`,
    )
    expect((await scene.call.post(PODS, podBody(mounts(there)))).body).toMatchObject({ status: 400, code: 'NO_CAPACITY' })
    const foreign = (await api((await createAccount()).key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'LOCAL-1' }))
      .body.id
    expect((await scene.call.post(PODS, podBody(mounts(foreign)))).body.detail).toBe(`network volume ${foreign} not found`)
    expect((await scene.call.delete(`/v2/network-volumes/${here}`)).status).toBe(400)
  })

  it('[POD-20] startSsh brings the keys of the account; none registered, or a key in env, and nothing is injected', async () => {
    const fresh = await createAccount()
    const bare = await api(fresh.key).post(PODS, podBody({ startSsh: true }))
    expect(bare.body.env).toEqual({})
    expect((await scene.call.put('/v2/account/ssh-keys', { keys: KEYS })).status).toBe(200)
    const pod = await scene.create({ startSsh: true })
    expect(pod.env).toEqual({ PUBLIC_KEY: KEYS.join('\n') })
    expect((await scene.host.waitFor(({ id }) => id === `${pod.id}-1`)).env.PUBLIC_KEY).toBe(KEYS.join('\n'))
    expect((await scene.create({ startSsh: true, env: { PUBLIC_KEY: 'mine' } })).env).toEqual({ PUBLIC_KEY: 'mine' })
    expect((await scene.create({ startSsh: false })).env).toEqual({})
    expect((await scene.create()).env).toEqual({})
  })

  it('[POD-20] [POD-11] startJupyter sets a password for each pod; a template may request both, the body may refuse', async () => {
    const [a, b] = [await scene.create({ startJupyter: true }), await scene.create({ startJupyter: true })]
    expect(a.env).toEqual({ JUPYTER_PASSWORD: expect.stringMatching(/^[0-9a-z]{24}$/) })
    expect(b.env.JUPYTER_PASSWORD).not.toBe(a.env.JUPYTER_PASSWORD)
    expect((await scene.create({ startJupyter: true, env: { JUPYTER_PASSWORD: 'mine' } })).env).toEqual({ JUPYTER_PASSWORD: 'mine' })
    for (const member of ['startSsh', 'startJupyter']) expect(a).not.toHaveProperty(member)
    const templateId = await template({ startSsh: true, startJupyter: true, env: {} })
    expect(Object.keys((await scene.create({ templateId })).env).sort()).toEqual(['JUPYTER_PASSWORD', 'PUBLIC_KEY'])
    expect((await scene.create({ templateId, startSsh: false, startJupyter: false })).env).toEqual({})
  })

  it('[ENV-4] [ENV-1] [AUT-6] names that start with RUNPOD_ belong to the platform; they are not part of env', async () => {
    const pod = await scene.create({ env: { RUNPOD_POD_ID: 'forged', RUNPOD_API_KEY: 'forged', HOME: '/x' } })
    const { env, platformEnv } = await scene.host.waitFor(({ id }) => id === `${pod.id}-1`)
    expect(env).toEqual({ HOME: '/x' })
    expect(platformEnv).toMatchObject({ RUNPOD_POD_ID: pod.id, RUNPOD_GPU_COUNT: '1', RUNPOD_DC_ID: 'LOCAL-1' })
    expect(platformEnv.RUNPOD_API_KEY).toMatch(new RegExp(`^ppd_${pod.id}_`))
    expect(pod.env).not.toHaveProperty('PUBLIC_KEY')
  })
})
