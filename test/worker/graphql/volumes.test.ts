import { api, createAccount, createKey, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { runAndTake, setUpQueue } from '../../support/queue/queue.ts'

const VOLUME = 'id name size dataCenterId dataCenter { id name location storageSupport }'
const CREATE = `mutation($input: CreateNetworkVolumeInput!) { createNetworkVolume(input: $input) { ${VOLUME} } }`
const UPDATE = `mutation($input: UpdateNetworkVolumeInput!) { updateNetworkVolume(input: $input) { ${VOLUME} } }`
const DELETE = 'mutation($input: DeleteNetworkVolumeInput!) { deleteNetworkVolume(input: $input) }'

describe('[GQL-74] network volumes', () => {
  it('are created, changed and deleted as in v2; an input or three scalars name them', async () => {
    const { key } = await createAccount()
    const call = graphql(key)
    const made = (await call(CREATE, { input: { name: 'data', size: 20, dataCenterId: 'EU-RO-1' } })).body
    const { id } = made.data.createNetworkVolume
    expect(made).toEqual({
      data: {
        createNetworkVolume: {
          id,
          name: 'data',
          size: 20,
          dataCenterId: 'EU-RO-1',
          dataCenter: { id: 'EU-RO-1', name: 'EU Romania 1', location: 'EUROPE', storageSupport: true },
        },
      },
    })
    const scalars = await call('mutation { createNetworkVolume(name: "more", size: 10, dataCenterId: "EU-RO-1") { id name size } }')
    expect(scalars.body.data.createNetworkVolume).toMatchObject({ name: 'more', size: 10 })
    const grown = (await call(UPDATE, { input: { id, size: 30 } })).body.data.updateNetworkVolume
    expect(grown).toEqual({ ...made.data.createNetworkVolume, size: 30 })
    expect((await call(UPDATE, { input: { id, name: 'renamed', size: null } })).body.data.updateNetworkVolume).toMatchObject({
      name: 'renamed',
      size: 30,
    })
    expect((await api(key).get(`/v2/network-volumes/${id}`)).body).toMatchObject({ name: 'renamed', size: 30, dataCenter: 'EU-RO-1' })
    expect((await call(DELETE, { input: { id } })).body).toEqual({ data: { deleteNetworkVolume: null } })
    expect((await call('{ myself { networkVolumes { id } } }')).body.data.myself.networkVolumes).toEqual([
      { id: scalars.body.data.createNetworkVolume.id },
    ])
  })

  it('are refused as in v2, with the names of GraphQL, and nothing changes', async () => {
    const [{ key, userId }, otherTenant] = [await createAccount(), await createAccount()]
    const call = graphql(key)
    const id = (await call(CREATE, { input: { name: 'data', size: 20, dataCenterId: 'EU-RO-1' } })).body.data.createNetworkVolume.id
    const messageOf = async (document: string, input: object, by = call) => (await by(document, { input })).body.errors[0].message
    expect(await messageOf(CREATE, { name: 'x', size: 5, dataCenterId: 'EU-RO-1' })).toContain('$.size: minimum')
    expect(await messageOf(CREATE, { name: 'x', size: 10 })).toContain("missing property 'dataCenterId'")
    expect(await messageOf(CREATE, { name: 'x', size: 10, dataCenterId: 'NOWHERE' })).toContain('NOWHERE')
    expect(await messageOf(UPDATE, { id, size: 10 })).toContain('20')
    expect(await messageOf(UPDATE, { id })).toContain('minProperties')
    expect(await messageOf(UPDATE, { size: 30 })).toContain("missing property 'id'")
    const foreign = graphql(otherTenant.key)
    expect(await messageOf(UPDATE, { id, size: 30 }, foreign)).toBe('resource not found')
    expect(await messageOf(DELETE, { id }, foreign)).toBe('resource not found')
    const poor = graphql((await createKey(userId, { permission: 'READ_ONLY' })).key)
    expect(await messageOf(DELETE, { id }, poor)).toBe('access denied: the key lacks the scope volumes:write')
    expect((await api(key).get('/v2/network-volumes')).body.networkVolumes).toEqual([expect.objectContaining({ id, size: 20 })])
  })
})

describe('further fields that public programs read', () => {
  it('[GQL-75] members without a meaning exist, and are null or 0', async () => {
    const { key } = await createAccount()
    const { status, body } = await graphql(key)(
      '{ myself { hostBalance minBalance underBalance referralEarned } dataCenters { id gpuAvailability(input: { gpuCount: 2 }) { stockStatus } } }',
    )
    expect([status, body.errors]).toEqual([200, undefined])
    expect(body.data.myself).toEqual({ hostBalance: 0, minBalance: 0, underBalance: null, referralEarned: 0 })
    const scene = await podScene(gpus(1))
    const pod = await scene.create()
    const edit = await graphql(scene.account.key)('mutation($i: PodEditJobInput!) { podEditJob(input: $i) { id name } }', {
      i: { podId: pod.id, port: 8888 },
    })
    expect(edit.body).toEqual({ data: { podEditJob: { id: pod.id, name: pod.name } } })
    scene.leave()
  })

  it("[GQL-76] pod with a worker's id shows that worker, its GPU and its uptime, to its owner alone", async () => {
    const queue = await setUpQueue()
    const { worker } = await runAndTake(queue)
    const read = (key: string) =>
      graphql(key)(
        'query($id: String) { pod(input: { podId: $id }) { id name imageName desiredStatus gpuCount uptimeSeconds env podType machineId machine { gpuTypeId gpuDisplayName podHostId } runtime { uptimeInSeconds } } }',
        { id: worker.id },
      )
    const shown = (await read(queue.account.key)).body
    const { workers } = (await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/workers`)).body
    const [{ gpuCount, gpuTypeId, image }] = workers
    expect(shown.errors).toBeUndefined()
    expect(shown.data.pod).toMatchObject({
      id: worker.id,
      imageName: image,
      desiredStatus: 'RUNNING',
      gpuCount,
      uptimeSeconds: expect.any(Number),
      env: [],
      machine: { gpuTypeId, podHostId: null },
      runtime: { uptimeInSeconds: expect.any(Number) },
    })
    expect((await read((await createAccount()).key)).body).toEqual({ data: { pod: null } })
    const { key } = await createKey(queue.account.userId, { permission: 'RESTRICTED', scopes: ['pods:read'] })
    expect((await read(key)).body).toEqual({ data: { pod: null } })
  })
})
