import type { ClusterEffects } from '../../../src/effects/clusters/steps.ts'
import { admin, afterEach, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene, networked, remainsOf, ringCluster } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { clusterStub, hostStub } from '../../support/runner/stubs.ts'

const scenes: ClusterScene[] = []
async function open(...args: Parameters<typeof ClusterScene.open>): Promise<ClusterScene> {
  const scene = await ClusterScene.open(...args)
  scenes.push(scene)
  return scene
}
afterEach(() => {
  for (const scene of scenes.splice(0)) scene.leave()
})
const compute = (podCount: number) => ({ gpuTypeId: GPU, gpuCountPerPod: 1, podCount })
const placesOf = async (scene: ClusterScene, id: string) =>
  (await scene.members(id)).map(({ id: podId, rank, host, workload }) => ({
    podId,
    rank,
    hostId: host.id,
    address: workload.overlays?.[0]?.address,
  }))

describe('members that cannot start', () => {
  it('[CLU-16] move to another host with their rank and address, and the others stay', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    const spare = await scene.addHost(networked('192.0.2.9'))
    const before = await placesOf(scene, id)
    const [, second] = await scene.members(id)
    await second?.host.report(second.workload.id, { state: 'error', reason: 'no such image' })
    await scene.reconcile(id)
    const after = await placesOf(scene, id)
    expect(after).toEqual(before.map((place) => (place.rank === 1 ? { ...place, hostId: spare.id } : place)))
    expect(await scene.checkNumber(id)).toBe(2)
    await scene.reach(id)
    await scene.run(id)
    expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 3 })
  })

  it('[CLU-17] are ERROR with the reason after three hosts, as are the members that wait for them', async () => {
    const scene = await open(4)
    const { id } = await scene.create({ compute: compute(2) })
    for (let tries = 0; tries < 3; tries += 1) {
      const [, second] = await scene.members(id)
      await second?.host.report(second.workload.id, { state: 'error', reason: `refused ${tries}` })
      await scene.reconcile(id)
    }
    expect((await scene.pods(id)).map(({ status, statusReason }) => [status, statusReason])).toEqual([
      ['ERROR', 'member 1 cannot start: refused 2'],
      ['ERROR', 'member 1 cannot start: refused 2'],
    ])
    await scene.call.delete(`${CLUSTERS}/${id}`)
    await scene.clear(id)
    expect(await remainsOf(id)).toEqual({ clusters: 0, overlays: 0, members: 0, allocations: 0 })
  })

  it('[CLU-21] are named when a pair does not reach each other, and one of the pair moves', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    const spare = await scene.addHost(networked('192.0.2.9'))
    const [first, , third] = await scene.members(id)
    const gaps = [{ from: first?.id ?? '', to: third?.id ?? '', reason: 'no answer in 5 s' }]
    await scene.reach(id, { gaps })
    await scene.pass(id, 6_000)
    await scene.reach(id, { gaps })
    await scene.pass(id, 40_000)
    await scene.reach(id, { gaps })
    const moved = (await scene.members(id)).find(({ rank }) => rank === 2)
    expect(moved?.host.id).toBe(spare.id)
    expect((await scene.pods(id))[2].statusReason).toBe(`moved to another host: ${first?.id} does not reach ${third?.id}: no answer in 5 s`)
  })
})

describe('lost hosts', () => {
  async function lose(scene: ClusterScene, id: string, rank: number) {
    const lost = (await scene.members(id)).find((member) => member.rank === rank)
    if (!lost) throw new Error('no such member')
    lost.host.leave()
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE', lost_at = 1 WHERE id = ?").bind(lost.host.id).run()
    await hostStub(env, lost.host.id).movePods(lost.host.id)
    await scene.reconcile(id)
    return lost
  }

  it('[CLU-18] with REPLACE the member starts on another host with its rank, and the others stay unchanged', async () => {
    const scene = await open(3)
    const { id } = await scene.running({ onHostLoss: 'REPLACE' })
    const before = await placesOf(scene, id)
    const spare = await scene.addHost(networked('192.0.2.9'))
    await lose(scene, id, 0)
    expect(await placesOf(scene, id)).toEqual(before.map((place) => (place.rank === 0 ? { ...place, hostId: spare.id } : place)))
    expect((await scene.members(id)).map(({ workload }) => workload.prepare ?? false)).toEqual([true, false, false])
    await scene.reach(id)
    await scene.run(id)
    expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 3 })
  })

  it('[CLU-18] without it the member waits for its host', async () => {
    const scene = await open(3)
    const { id } = await scene.running()
    await scene.addHost(networked('192.0.2.9'))
    await lose(scene, id, 1)
    expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 2, ERROR: 1 })
  })
})

describe('draining hosts', () => {
  it.for([
    ['WAIT', 'STAYS', 'it is a member of cluster'],
    ['REPLACE', 'MOVES', 'under its rank in cluster'],
  ] as const)('[CLU-25] [DRY-4] %s: a member %s, as the plan of the drain has said', async ([onHostLoss, fate, why]) => {
    const scene = await open(3)
    const { id } = await scene.running({ onHostLoss })
    const spare = await scene.addHost(networked('192.0.2.9'))
    const before = await placesOf(scene, id)
    const [, second] = await scene.members(id)
    const path = `/admin/v1/hosts/${second?.host.id}/drain`
    const { body: plan } = await admin().post(`${path}?dryRun=true`, {})
    expect(plan.effects).toMatchObject([{ kind: fate, resource: { kind: 'pod', id: second?.id } }])
    expect(plan.effects[0].what).toContain(`${why} ${id}`)
    expect(await placesOf(scene, id)).toEqual(before)
    await admin().post(path, {})
    await scene.reconcile(id)
    const moves = (place: (typeof before)[number]) => fate === 'MOVES' && place.rank === 1
    expect(await placesOf(scene, id)).toEqual(before.map((place) => (moves(place) ? { ...place, hostId: spare.id } : place)))
    if (fate === 'STAYS') return
    await scene.reach(id)
    await scene.run(id)
    expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 3 })
  })
})

describe('an object that ends within a change', () => {
  const STEPS: (keyof ClusterEffects)[] = ['publishCheck', 'release', 'move', 'terminate', 'drop']

  /** Makes the object of a cluster fail `times` times, before or after it carries out an effect. */
  async function endAt(id: string, name: keyof ClusterEffects, when: 'before' | 'after', times = 1): Promise<void> {
    await runInDurableObject(clusterStub(env, id), (object) => {
      const whole = object.effects
      let left = times
      const broken = async (...args: unknown[]) => {
        const end = left > 0
        left -= 1
        if (end && when === 'before') throw new Error(`ended before ${name}`)
        const outcome = await (whole[name] as (...given: unknown[]) => Promise<unknown>)(...args)
        if (end) throw new Error(`ended after ${name}`)
        return outcome
      }
      object.effects = { ...whole, [name]: broken }
    })
  }

  it.for(STEPS.flatMap((name) => (['before', 'after'] as const).map((when) => [name, when] as const)))(
    '[CLU-22] recovers at the effect %s, when it ends %s it',
    { timeout: 60_000 },
    async ([name, when]) => {
      const scene = await open(3)
      const { id } = await scene.create({ onHostLoss: 'REPLACE' })
      const spare = await scene.addHost(networked('192.0.2.9'))
      await endAt(id, name, when)
      const [, second] = await scene.members(id)
      await second?.host.report(second.workload.id, { state: 'error', reason: 'no such image' })
      await settle(scene, id)
      await scene.reach(id)
      await settle(scene, id)
      await scene.run(id)
      expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 3 })
      expect((await scene.members(id))[1]?.host.id).toBe(spare.id)
      await scene.call.delete(`${CLUSTERS}/${id}`)
      await settle(scene, id)
      await scene.clear(id)
      await settle(scene, id)
      expect(await remainsOf(id)).toEqual({ clusters: 0, overlays: 0, members: 0, allocations: 0 })
    },
  )

  /** The object starts anew and its timer fires; nothing else helps the recovery. */
  async function settle(scene: ClusterScene, id: string): Promise<void> {
    await scene.reconcile(id)
    await evictDurableObject(clusterStub(env, id))
    await ringCluster(id)
  }

  it('[CLU-22] finishes a create that ended after its batch', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    await evictDurableObject(clusterStub(env, id))
    await ringCluster(id)
    await scene.reach(id)
    await scene.run(id)
    expect((await scene.get(id)).pods.byStatus).toEqual({ RUNNING: 3 })
  })

  it('[CLU-19] [TEAM-23] removes the clusters of a deleted account', async () => {
    const scene = await open(3)
    const { id } = await scene.running()
    expect(await admin().delete(`/admin/v1/users/${scene.account.userId}`)).toMatchObject({ status: 200, body: { failed: [] } })
    await scene.clear(id)
    expect(await remainsOf(id)).toEqual({ clusters: 0, overlays: 0, members: 0, allocations: 0 })
  })

  it('[CLU-19] removes a cluster that is deleted before any member is ready', async () => {
    const scene = await open(3)
    const { id } = await scene.create()
    expect((await scene.call.delete(`${CLUSTERS}/${id}`)).status).toBe(204)
    await scene.clear(id)
    expect(await remainsOf(id)).toEqual({ clusters: 0, overlays: 0, members: 0, allocations: 0 })
  })
})
