import { api, createAccount, createEndpoint, describe, endpointBody, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { run, setUpQueue } from '../../../support/queue/queue.ts'

const VOLUMES = '/v2/network-volumes'
const ENDPOINTS = '/v2/serverless'
const IMAGE = 'acme/model:1'

async function createVolume(key: string, dataCenter = 'EU-RO-1'): Promise<string> {
  const reply = await api(key).post(VOLUMES, { name: 'models', size: 10, dataCenter })
  expect(reply.status).toBe(201)
  return reply.body.id
}

describe('network volumes on endpoints', () => {
  it('[END-20][END-12] a worker gets the volume of its data center, and runs in no other', async () => {
    const typeId = 'NVIDIA H200'
    const gpus = [{ typeId, count: 8, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }]
    await FakeHost.join({ gpus, sharedVolumes: ['network'] }, { dataCenterId: 'US-KS-2' })
    await FakeHost.join({ gpus, sharedVolumes: [] }, { dataCenterId: 'EU-RO-1' })
    const host = await FakeHost.join({ gpus, sharedVolumes: ['network'] }, { dataCenterId: 'EU-RO-1' })
    const queue = await setUpQueue({ image: IMAGE, gpu: { pools: ['HOPPER_141'] } })
    const id = await createVolume(queue.account.key)
    expect(await api(queue.account.key).patch(`${ENDPOINTS}/${queue.endpointId}`, { networkVolumes: [id] })).toMatchObject({
      status: 200,
      body: { networkVolumes: [id], dataCenterIds: [] },
    })
    await run(queue)
    const workload = await host.waitFor((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    expect(workload.mounts).toEqual([{ kind: 'network', id, path: '/runpod-volume' }])
    const { releases } = (await api(queue.account.key).get(`${ENDPOINTS}/${queue.endpointId}/releases`)).body
    expect(releases[0].diff).toEqual([{ field: 'networkVolumes', old: [], new: [id] }])
  })

  it('[END-21][AUT-5] one of another account, and two of one data center, are 400 and change nothing', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const [id, twin, foreign] = [await createVolume(mine.key), await createVolume(mine.key), await createVolume(theirs.key)]
    const endpointId = await createEndpoint(mine.key, { image: IMAGE, networkVolumes: [id] })
    const before = (await api(mine.key).get(ENDPOINTS)).body.endpoints
    expect(before).toMatchObject([{ id: endpointId }])
    for (const [networkVolumes, detail] of [
      [[foreign], `network volume ${foreign} not found`],
      [[id, twin], `networkVolumes: ${id} and ${twin} are both in EU-RO-1; list one for each data center`],
    ] as const) {
      const bodies = [
        await api(mine.key).post(ENDPOINTS, endpointBody({ image: IMAGE, networkVolumes })),
        await api(mine.key).patch(`${ENDPOINTS}/${endpointId}`, { networkVolumes }),
      ]
      expect(bodies).toMatchObject([
        { status: 400, body: { detail } },
        { status: 400, body: { detail } },
      ])
    }
    expect((await api(mine.key).get(ENDPOINTS)).body.endpoints).toEqual(before)
  })

  it('[END-22] of a simultaneous create, or PATCH, and deletion of its volume, one is refused', async () => {
    const { key } = await createAccount()
    const endpointId = await createEndpoint(key, { image: IMAGE })
    for (let round = 0; round < 8; round += 1) {
      const id = await createVolume(key)
      const body = { networkVolumes: [id] }
      const use = () =>
        round % 2 ? api(key).post(ENDPOINTS, endpointBody({ image: IMAGE, ...body })) : api(key).patch(`${ENDPOINTS}/${endpointId}`, body)
      const remove = () => api(key).delete(`${VOLUMES}/${id}`)
      const [used, removed] = round < 4 ? await Promise.all([use(), remove()]) : (await Promise.all([remove(), use()])).toReversed()
      expect([
        [200, 400],
        [201, 400],
        [400, 204],
      ]).toContainEqual([used?.status, removed?.status])
      expect((await api(key).patch(`${ENDPOINTS}/${endpointId}`, { networkVolumes: [] })).status).toBe(200)
    }
  })
})
