import { afterEach, describe, expect, it } from '../../support/harness.ts'
import { ClusterScene } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { until } from '../../support/time.ts'

const scenes: ClusterScene[] = []
async function open(...args: Parameters<typeof ClusterScene.open>): Promise<ClusterScene> {
  const scene = await ClusterScene.open(...args)
  scenes.push(scene)
  return scene
}
afterEach(() => {
  for (const scene of scenes.splice(0)) scene.leave()
})

/** Expects the networks that every host of a cluster of three members is sent; each member has its own host. */
async function expectNotified(scene: ClusterScene, id: string, addressOf = (index: number) => `192.0.2.${index + 1}`): Promise<void> {
  const members = await scene.members(id)
  const pods = await scene.pods(id)
  const cidr = pods[0].cluster.ip.replace(/2$/, '0/24')
  const received = {
    id,
    vni: expect.any(Number),
    cidr,
    domain: 'podplane.internal',
    check: 1,
    members: members
      .map(({ id: podId, rank, host }) => {
        const hostAddress = addressOf(scene.hosts.indexOf(host))
        return { podId, address: pods[rank].cluster.ip, hostAddress, names: [`node-${rank}`] }
      })
      .toSorted((a, b) => (a.podId < b.podId ? -1 : 1)),
  }
  await until(() => scene.hosts.every((host) => host.overlays[0]?.members.every((member, index) => same(member, received.members[index]))))
  for (const host of scene.hosts) expect(host.overlays).toEqual([received])
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

describe('private networks of clusters in the messages to hosts', () => {
  it('[NET-46] every host with a member knows all members and the addresses of their hosts, and forgets them with the cluster', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    await expectNotified(scene, id)
    const [network] = scene.hosts[0]?.overlays ?? []
    expect(scene.hosts.map(({ overlays }) => overlays[0]?.vni)).toEqual([network?.vni, network?.vni, network?.vni])
    await scene.call.delete(`/v2/clusters/${id}`)
    await scene.clear(id)
    await until(() => scene.hosts.every(({ overlays }) => overlays.length === 0))
  })

  it('[NET-46] other hosts receive the new tunnel address of a host', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    await expectNotified(scene, id)
    await scene.hosts[1]?.greetAgain({ overlay: { address: '192.0.2.77', reason: null, encryption: 'none' } })
    await expectNotified(scene, id, (index) => (index === 1 ? '192.0.2.77' : `192.0.2.${index + 1}`))
  })

  it('[NET-46] two clusters have separate networks, and a host knows only those of its members', async () => {
    const scene = await open(4)
    const two = { compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 } }
    const [red, blue] = [await scene.create(two), await scene.create(two)]
    await until(() => scene.hosts.every(({ overlays }) => overlays.length === 1))
    const received = scene.hosts.map(({ overlays }) => overlays[0]?.id)
    expect(received.toSorted()).toEqual([red.id, red.id, blue.id, blue.id].toSorted())
    const networks = new Set(scene.hosts.map(({ overlays }) => `${overlays[0]?.vni} ${overlays[0]?.cidr}`))
    expect(networks.size).toBe(2)
  })

  it('[NET-47] a host reports reachability for its own members, and not for those of other hosts', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    const members = await scene.members(id)
    const report = { overlayId: id, check: 1, gaps: [] }
    await members[0]?.host.reportReach({ ...report, ready: members.map((member) => member.id) })
    await scene.reconcile(id)
    expect((await scene.members(id)).map(({ workload }) => workload.prepare)).toEqual([true, true, true])
    for (const member of members) await member.host.reportReach({ ...report, ready: [member.id] })
    await scene.reconcile(id)
    expect((await scene.members(id)).map(({ workload }) => workload.prepare)).toEqual([undefined, undefined, undefined])
  })

  it('[NET-47] a report about an unknown network is accepted and ignored', async () => {
    const scene = await open(1)
    await scene.hosts[0]?.reportReach({ overlayId: 'nothing', check: 1, ready: ['nobody'], gaps: [] })
  })
})
