import { api, createAccount, createEndpoint, describe, endpointBody, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'

const PATH = '/v2/serverless'
const BY_TEMPLATE = { gpu: { pools: ['ADA_24'] } }

async function createTemplate(key: string, changes: object = {}) {
  const body = { name: crypto.randomUUID(), image: 'builtin/echo', serverless: true, ...changes }
  const reply = await api(key).post('/v2/templates', body)
  expect(reply.status).toBe(201)
  return reply.body
}

async function createRegistry(key: string): Promise<string> {
  return (await api(key).post('/v2/registries', { name: 'r', username: 'octocat', password: 'p' })).body.id
}

describe('create from a template', () => {
  it('[END-2][END-8][END-9] fills omitted members of the body and is not shown again', async () => {
    const { key } = await createAccount()
    const registry = await createRegistry(key)
    const template = await createTemplate(key, { env: { A: '1', B: '1' }, disk: 33, registry, allowedCudaVersions: ['12.8'] })
    const reply = await api(key).post(PATH, { ...BY_TEMPLATE, templateId: template.id, env: { B: '2' } })
    expect(reply).toMatchObject({
      status: 201,
      body: {
        name: template.name,
        image: 'builtin/echo',
        disk: 33,
        env: { A: '1', B: '2' },
        registry,
        gpu: { allowedCudaVersions: ['12.8'] },
      },
    })
    expect(reply.body).not.toHaveProperty('templateId')
    await api(key).patch(`/v2/templates/${template.id}`, { disk: 44 })
    expect((await api(key).get(`${PATH}/${reply.body.id}`)).body.disk).toBe(33)
  })

  it('[END-8][RES-10][TPL-1][AUT-5] accepts own and public serverless ones: another kind is 422, any other id 404', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const [pods, hidden] = [await createTemplate(mine.key, { serverless: false }), await createTemplate(theirs.key)]
    const shared = await createTemplate(theirs.key, { public: true, registry: await createRegistry(theirs.key) })
    const create = (templateId: string) => api(mine.key).post(PATH, { ...BY_TEMPLATE, templateId })
    expect(await create(pods.id)).toMatchObject({
      status: 422,
      body: { errors: [`$.templateId: template ${pods.id} is not for serverless endpoints`] },
    })
    for (const id of [hidden.id, 'nosuchtemplate']) {
      expect(await create(id)).toMatchObject({ status: 404, body: { detail: 'template not found' } })
    }
    expect(await create(shared.id)).toMatchObject({ status: 201, body: { registry: null } })
  })

  it('[TPL-5] prevents the deletion of its template until it is deleted itself', async () => {
    const { key } = await createAccount()
    const { id } = await createTemplate(key)
    const endpoint = await api(key).post(PATH, { ...BY_TEMPLATE, templateId: id })
    await api(key).patch(`${PATH}/${endpoint.body.id}`, { workers: { max: 1 } })
    expect(await api(key).delete(`/v2/templates/${id}`)).toMatchObject({
      status: 400,
      body: { detail: `template ${id} is in use by an endpoint and cannot be deleted`, code: 'IN_USE' },
    })
    await api(key).delete(`${PATH}/${endpoint.body.id}`)
    expect((await api(key).delete(`/v2/templates/${id}`)).status).toBe(204)
  })

  it('[RATE-6] a request that its template makes too large is 413', async () => {
    const { key } = await createAccount()
    const { id } = await createTemplate(key, { env: { A: 'x'.repeat(60_000) } })
    expect((await api(key).post(PATH, { ...BY_TEMPLATE, templateId: id, env: { B: 'x'.repeat(60_000) } })).status).toBe(413)
    expect((await api(key).post(PATH, { ...BY_TEMPLATE, templateId: id, env: { B: 'x'.repeat(40_000) } })).status).toBe(201)
  })
})

describe('update from a template', () => {
  it('[END-11][POD-13] applies it once, as a release; an unknown endpoint, then an unknown template is 404', async () => {
    const { key } = await createAccount()
    const { id } = await createTemplate(key, { env: { A: '1' }, disk: 33 })
    const endpointId = await createEndpoint(key, { env: { OLD: '1' }, disk: 20 })
    const reply = await api(key).patch(`${PATH}/${endpointId}`, { templateId: id, env: { B: '2' } })
    expect(reply).toMatchObject({ status: 200, body: { name: 'echo', env: { A: '1', B: '2' }, disk: 33 } })
    expect((await api(key).get(`${PATH}/${endpointId}/releases`)).body.endpointVersion).toBe(2)
    expect((await api(key).patch(`${PATH}/nosuchendpoint`, { templateId: id })).body.detail).toBe('resource not found')
    expect((await api(key).patch(`${PATH}/${endpointId}`, { templateId: 'nosuch' })).body.detail).toBe('template not found')
    expect((await api(key).patch(`${PATH}/${endpointId}`, { templateId: '' })).status).toBe(200)
    expect((await api(key).delete(`/v2/templates/${id}`)).status).toBe(204)
  })
})

describe('registry of an endpoint', () => {
  it('[CON-7][AUT-5] must be a credential of the account, on create and update', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const [own, foreign] = [await createRegistry(mine.key), await createRegistry(theirs.key)]
    const id = await createEndpoint(mine.key, { registry: own })
    for (const registry of [foreign, 'nosuch']) {
      const refused = { status: 400, body: { detail: `container registry auth ${registry} not found` } }
      expect(await api(mine.key).post(PATH, endpointBody({ registry }))).toMatchObject(refused)
      expect(await api(mine.key).patch(`${PATH}/${id}`, { registry })).toMatchObject(refused)
    }
    expect((await api(mine.key).delete(`/v2/registries/${own}`)).body.code).toBe('IN_USE')
    expect((await api(mine.key).patch(`${PATH}/${id}`, { registry: null })).body.registry).toBeNull()
    expect((await api(mine.key).delete(`/v2/registries/${own}`)).status).toBe(204)
  })

  it('[REG-1] its login reaches the host with the workload, and no reply', async () => {
    const { key } = await createAccount()
    const host = await FakeHost.join()
    const id = await createEndpoint(key, { registry: await createRegistry(key), workers: { min: 1, max: 1 } })
    const workload = await host.waitFor(({ platformEnv }) => platformEnv.RUNPOD_ENDPOINT_ID === id)
    expect(workload.registryAuth).toEqual({ username: 'octocat', password: 'p', host: 'docker.io' })
    expect(JSON.stringify((await api(key).get(`${PATH}/${id}/workers`)).body)).not.toContain('octocat')
    await api(key).delete(`${PATH}/${id}`)
  })
})
