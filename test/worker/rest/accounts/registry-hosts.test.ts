import { openLogin } from '../../../../src/effects/registry-login.ts'
import { api, createAccount, createEndpoint, createKey, describe, endpointBody, env, expect, it, teamOf } from '../../../support/harness.ts'

const POD = { name: 'p', cpu: { id: 'cpu3c', vcpuCount: 2 } }

async function credential(key: string, changes: object = {}): Promise<string> {
  const reply = await api(key).post('/v2/registries', { name: 'r', username: 'ada', password: 's3cret', ...changes })
  expect(reply.status).toBe(201)
  return reply.body.id
}

const hostOf = async (key: string, id: string) => (await api(key).get(`/v2/registries/${id}`)).body.host
const refusal = (id: string, own: string, image: string, other: string) => ({
  status: 400,
  body: { detail: `container registry auth ${id} belongs to ${own}, and image ${image} is on ${other}; use a credential for ${other}` },
})

describe('a credential belongs to one registry', () => {
  it('[H3][REG-20] the one of its host; named with an image of another it is 400, and no host gets it', async () => {
    const account = await createAccount()
    const { key } = account
    const id = await credential(key, { host: 'A.example' })
    expect((await api(key).get('/v2/registries')).body.registries).toEqual([{ id, name: 'r', host: 'a.example' }])
    const image = 'b.example/x:1'
    const refused = refusal(id, 'a.example', image, 'b.example')
    expect(await api(key).post('/v2/pods', { ...POD, image, registry: id })).toMatchObject(refused)
    expect(await api(key).post('/v2/pods?dryRun=true', { ...POD, image, registry: id })).toMatchObject(refused)
    expect(await api(key).post('/v2/serverless', endpointBody({ image, registry: id }))).toMatchObject(refused)
    expect(await api(key).post('/v2/templates', { name: 't', image, registry: { id } })).toMatchObject(refused)
    const endpoint = await createEndpoint(key, { image: 'a.example/x:1', registry: id })
    expect(await api(key).patch(`/v2/serverless/${endpoint}`, { image })).toMatchObject(refused)
    const template = (await api(key).post('/v2/templates', { name: 't', image: 'a.example/x:1', registry: id })).body.id
    expect(await api(key).patch(`/v2/templates/${template}`, { image })).toMatchObject(refused)
    expect(await api(key).post('/v2/pods', { ...POD, templateId: template, image })).toMatchObject(refused)
    expect((await api(key).get(`/v2/serverless/${endpoint}`)).body).toMatchObject({ image: 'a.example/x:1', registry: id })
    // A second check: the login of a workload is opened only for the host of its image.
    expect(await openLogin(env, await teamOf(account), id, image)).toBeNull()
    expect(await openLogin(env, await teamOf(account), id, 'a.example/x:1')).toEqual({
      username: 'ada',
      password: 's3cret',
      host: 'a.example',
    })
  })

  it('[REG-20] one made without a host, as older clients do, gets that of the first image that is named with it', async () => {
    const { key } = await createAccount()
    const id = await credential(key)
    expect((await api(key).get(`/v2/registries/${id}`)).body).toEqual({ id, name: 'r' })
    await createEndpoint(key, { image: 'ghcr.io/octo/app:1', registry: id })
    expect(await hostOf(key, id)).toBe('ghcr.io')
    const other = endpointBody({ image: 'evil.example/x', registry: id })
    expect(await api(key).post('/v2/serverless', other)).toMatchObject(refusal(id, 'ghcr.io', 'evil.example/x', 'evil.example'))
    expect(await hostOf(key, id)).toBe('ghcr.io')
  })

  it('[REG-20] of two simultaneous first images on different registries one is refused', async () => {
    const { key } = await createAccount()
    const id = await credential(key)
    const images = ['a.example/x', 'b.example/x', 'c.example/x']
    const replies = await Promise.all(images.map((image) => api(key).post('/v2/templates', { name: image, image, registry: id })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 400, 400])
    const taken = images[replies.findIndex(({ status }) => status === 201)] ?? ''
    expect(await hostOf(key, id)).toBe(taken.split('/')[0])
  })

  it('[REG-20] a dry run sets no registry', async () => {
    const { key } = await createAccount()
    const id = await credential(key)
    expect((await api(key).post('/v2/pods?dryRun=true', { ...POD, image: 'a.example/x', registry: id })).status).toBe(200)
    expect(await hostOf(key, id)).toBeUndefined()
  })

  it('[REG-20] host is a host and nothing else', async () => {
    const { key } = await createAccount()
    for (const host of ['https://ghcr.io', 'ghcr.io/octo', '', 'a b', null]) {
      const reply = await api(key).post('/v2/registries', { name: 'r', username: 'u', password: 'p', host })
      expect(reply.status, String(host)).toBe(422)
    }
  })
})

describe('naming a credential', () => {
  it('[H3][REG-21] takes registries:read, in every place that names one', async () => {
    const account = await createAccount()
    const id = await credential(account.key, { host: 'a.example' })
    const scopes = ['pods:write', 'serverless:write', 'templates:write']
    const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes })
    const image = 'a.example/x:1'
    const endpoint = await createEndpoint(account.key)
    const template = (await api(account.key).post('/v2/templates', { name: 't', image })).body.id
    const before = (await api(account.key).get(`/v2/serverless/${endpoint}`)).body
    const replies = [
      await api(key).post('/v2/pods', { ...POD, image, registry: id }),
      await api(key).post('/v2/serverless', endpointBody({ image, registry: id })),
      await api(key).post('/v2/templates', { name: 'u', image, registry: { id } }),
      await api(key).patch(`/v2/serverless/${endpoint}`, { image, registry: id }),
      await api(key).patch(`/v2/templates/${template}`, { registry: id }),
    ]
    for (const { status, body } of replies) {
      expect([status, body.errors]).toEqual([403, ['the key lacks the scope registries:read']])
    }
    expect((await api(account.key).get(`/v2/serverless/${endpoint}`)).body).toEqual(before)
    const reader = await createKey(account.userId, { permission: 'RESTRICTED', scopes: [...scopes, 'registries:read'] })
    expect((await api(reader.key).post('/v2/serverless', endpointBody({ image, registry: id }))).status).toBe(201)
  })

  it('[REG-21] without a registry yet takes it also where a template names it', async () => {
    const account = await createAccount()
    const id = await credential(account.key)
    const template = (await api(account.key).post('/v2/templates', { name: 't', image: 'a.example/x', registry: id })).body.id
    // As a template from before the credential belonged to a host.
    await env.DB.prepare('UPDATE registries SET host = NULL WHERE id = ?').bind(id).run()
    const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['pods:write', 'templates:read'] })
    const reply = await api(key).post('/v2/pods', { ...POD, templateId: template, image: 'evil.example/x' })
    expect([reply.status, reply.body.errors]).toEqual([403, ['the key lacks the scope registries:read']])
    expect(await hostOf(account.key, id)).toBeUndefined()
  })
})
