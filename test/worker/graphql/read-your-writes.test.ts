import { api, createAccount, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { v1 } from '../../support/http/v1.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

describe('[GQL-66] each interface reads at once the writes of the others', () => {
  it('a pod: made in GraphQL, changed in v1, stopped in GraphQL, ended in v2', async () => {
    const scene = await podScene(gpus(1))
    const { key } = scene.account
    const ask = async (query: string) => (await graphql(key)(query)).body.data
    const input = 'name: "shared", imageName: "acme/idle:1", gpuTypeId: "NVIDIA L4", cloudType: SECURE, env: [{key: "A", value: "1"}]'
    const { id } = (await ask(`mutation { podFindAndDeployOnDemand(input: {${input}}) { id } }`)).podFindAndDeployOnDemand
    expect((await v1(key).get(`/pods/${id}`)).body).toMatchObject({ id, name: 'shared', image: 'acme/idle:1', env: { A: '1' } })
    expect((await v1(key).patch(`/pods/${id}`, { name: 'renamed' })).status).toBe(200)
    const read = `{ pod(input: {podId: "${id}"}) { name desiredStatus } myself { pods { name } } }`
    expect(await ask(read)).toEqual({ pod: { name: 'renamed', desiredStatus: 'RUNNING' }, myself: { pods: [{ name: 'renamed' }] } })
    await ask(`mutation { podStop(input: {podId: "${id}"}) { id } }`)
    expect((await v1(key).get(`/pods/${id}`)).body.desiredStatus).toBe('EXITED')
    expect((await api(key).delete(`/v2/pods/${id}`)).status).toBe(204)
    expect(await ask(read)).toEqual({ pod: null, myself: { pods: [] } })
    scene.leave()
  })

  it('templates and endpoints: made in one, changed in the other, deleted from both', async () => {
    const { key } = await createAccount()
    const ask = async (query: string) => (await graphql(key)(query)).body.data
    const made = await v1(key).post('/templates', { name: 't', imageName: 'img', isServerless: true })
    const templateId = made.body.id
    expect((await ask('{ myself { podTemplates { id name } } }')).myself.podTemplates).toEqual([{ id: templateId, name: 't' }])
    await ask(`mutation { saveTemplate(input: {id: "${templateId}", name: "t2", imageName: "img2"}) { id } }`)
    expect((await v1(key).get(`/templates/${templateId}`)).body).toMatchObject({ name: 't2', imageName: 'img2' })
    const saved = await ask(`mutation { saveEndpoint(input: {name: "e", templateId: "${templateId}", gpuIds: "AMPERE_24"}) { id } }`)
    const { id } = saved.saveEndpoint
    expect((await v1(key).patch(`/endpoints/${id}`, { workersMax: 5 })).status).toBe(200)
    expect((await ask('{ myself { endpoints { id workersMax templateId } } }')).myself.endpoints).toEqual([
      { id, workersMax: 5, templateId },
    ])
    expect((await v1(key).delete(`/endpoints/${id}`)).status).toBe(204)
    expect(await ask(`{ myself { endpoint(id: "${id}") { id } } }`)).toEqual({ myself: { endpoint: null } })
    await ask('mutation { deleteTemplate(templateName: "t2") }')
    expect((await v1(key).get(`/templates/${templateId}`)).status).toBe(404)
  })

  it('network volumes and registries', async () => {
    const { key } = await createAccount()
    const ask = async (query: string) => (await graphql(key)(query)).body.data
    const volume = await v1(key).post('/networkvolumes', { name: 'v', size: 10, dataCenterId: 'US-KS-2' })
    const shown = { id: volume.body.id, size: 10, dataCenterId: 'US-KS-2' }
    expect((await ask('{ myself { networkVolumes { id size dataCenterId } } }')).myself.networkVolumes).toEqual([shown])
    const { saveRegistryAuth } = await ask('mutation { saveRegistryAuth(input: {name: "r", username: "u", password: "p"}) { id name } }')
    expect((await v1(key).get('/containerregistryauth')).body).toEqual([saveRegistryAuth])
    expect((await v1(key).delete(`/containerregistryauth/${saveRegistryAuth.id}`)).status).toBe(204)
    expect((await ask('{ myself { containerRegistryCreds { id } } }')).myself.containerRegistryCreds).toEqual([])
  })
})
