import { afterEach, describe, expect, it } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene, remainsOf } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'

const scenes: ClusterScene[] = []
async function open(...args: Parameters<typeof ClusterScene.open>): Promise<ClusterScene> {
  const scene = await ClusterScene.open(...args)
  scenes.push(scene)
  return scene
}
afterEach(() => {
  for (const scene of scenes.splice(0)) scene.leave()
})

describe('the life of a cluster', () => {
  it('[CLU-1] [CLU-3] [CLU-8] starts when it is created with all members, and shows the known ones', async () => {
    const scene = await open(3)
    const cluster = await scene.create()
    expect(cluster).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{14}$/),
      name: 'c',
      type: 'TRAINING',
      compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 3 },
      pods: { total: 3, byStatus: { PROVISIONING: 3 } },
      dataCenterId: scene.dataCenterId,
      primary: { podId: expect.any(String), status: 'PROVISIONING' },
      onHostLoss: 'WAIT',
      createdAt: expect.any(String),
    })
    const pods = await scene.pods(cluster.id)
    const cidr = pods[0].cluster.ip.replace(/\.2$/, '')
    expect(pods.map(({ name, status, actions, cluster: { rank, ip } }) => ({ name, status, actions, rank, ip }))).toEqual(
      [0, 1, 2].map((rank) => ({ name: `c-${rank}`, status: 'PROVISIONING', actions: [], rank, ip: `${cidr}.${rank + 2}` })),
    )
    expect(await scene.call.get(CLUSTERS)).toMatchObject({ status: 200, body: { clusters: [{ id: cluster.id }] } })
  })

  it('[CLU-13] [CLU-14] readies all members first, and starts them when all reach one another', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    const before = await scene.members(id)
    expect(before.map(({ workload }) => workload.prepare)).toEqual([true, true, true])
    expect(new Set(before.map(({ host }) => host.id)).size).toBe(3)
    await scene.reach(id)
    const after = await scene.members(id)
    expect(after.map(({ workload }) => workload.prepare)).toEqual([undefined, undefined, undefined])
    await scene.run(id)
    expect(await scene.get(id)).toMatchObject({
      pods: { total: 3, byStatus: { RUNNING: 3 } },
      network: { cidr: expect.stringMatching(/^10\.\d+\.\d+\.0\/24$/), vxlanPort: 4789 },
      primary: { podId: after[0]?.id, status: 'RUNNING' },
    })
  })

  it('[CLU-5] [CLU-10] [CLU-19] ends with every member when it is deleted, and nothing remains once the hosts have released them', async () => {
    const scene = await open(3)
    const { id } = await scene.running()
    expect((await scene.call.delete(`${CLUSTERS}/${id}`)).status).toBe(204)
    expect((await scene.call.get(`${CLUSTERS}/${id}`)).status).toBe(404)
    expect(await remainsOf(id)).toEqual({ clusters: 1, overlays: 1, members: 0, allocations: 3 })
    await scene.clear(id)
    expect(await remainsOf(id)).toEqual({ clusters: 0, overlays: 0, members: 0, allocations: 0 })
  })

  it('[CLU-5] lets a rename rename the members', async () => {
    const scene = await open(2)
    const { id } = await scene.create({ compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 } })
    expect(await scene.call.patch(`${CLUSTERS}/${id}`, { name: 'other' })).toMatchObject({ status: 200, body: { name: 'other' } })
    expect((await scene.pods(id)).map(({ name }) => name)).toEqual(['other-0', 'other-1'])
    expect((await scene.call.patch(`${CLUSTERS}/${id}`, { image: 'x' })).status).toBe(422)
  })
})
