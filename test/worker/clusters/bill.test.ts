import { admin, afterEach, describe, env, expect, it } from '../../support/harness.ts'
import { ClusterScene, networked } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { HOUR_MS } from '../../support/pods/usage.ts'
import { hostStub } from '../../support/runner/stubs.ts'

let scene: ClusterScene
afterEach(() => scene?.leave())

/** Moves the start of everything that runs back by `ms`. */
async function ranLonger(clusterId: string, ms: number): Promise<void> {
  await env.DB.prepare(
    "UPDATE pods SET charged_from = charged_from - ?2, started_at = started_at - ?2, changed_at = changed_at - ?2 WHERE cluster_id = ?1 AND status = 'RUNNING'",
  )
    .bind(clusterId, ms)
    .run()
}

/** USD an hour of an L4 and of a container's disk of 10 GB, by the price list. */
const GPU_PER_HOUR = 0.44
const DISK_PER_HOUR = (10 * 0.1) / 730

describe('the bill of a cluster', () => {
  it('[BIL-12] is the time that each member ran: a replaced one is charged on both hosts, and not in between', async () => {
    const begunAtMs = Date.now()
    scene = await ClusterScene.open(3)
    const { id } = await scene.running({ onHostLoss: 'REPLACE' })
    const bill = async () => (await scene.call.get('/v2/billing/clusters?bucketSize=year&include=INTERVALS')).body.records[0]
    /** Expects this number of member hours, plus at most the duration of the test itself. */
    const expectHours = async (hours: number) => {
      const { clusterId, gpuAmount, diskAmount, totalAmount, networkingAmount } = await bill()
      expect([clusterId, networkingAmount]).toEqual([id, 0])
      const most = hours + (3 * (Date.now() - begunAtMs)) / HOUR_MS
      for (const [amount, rate] of [
        [gpuAmount, GPU_PER_HOUR],
        [diskAmount, DISK_PER_HOUR],
      ]) {
        expect(amount).toBeGreaterThanOrEqual(hours * rate - 1e-5)
        expect(amount).toBeLessThanOrEqual(most * rate + 1e-5)
      }
      expect(totalAmount).toBeCloseTo(gpuAmount + diskAmount, 6)
    }
    await ranLonger(id, 2 * HOUR_MS)
    await expectHours(3 * 2)

    await scene.addHost(networked('192.0.2.9'))
    const [first] = await scene.members(id)
    if (!first) throw new Error('no member')
    first.host.leave()
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE', lost_at = 1 WHERE id = ?").bind(first.host.id).run()
    await hostStub(env, first.host.id).movePods(first.host.id)
    await scene.reconcile(id)
    // The moved member waits for its start; the others continue.
    expect((await scene.get(id)).pods.byStatus.RUNNING).toBe(2)
    await ranLonger(id, HOUR_MS)
    await expectHours(2 + 2 * 3)
    await scene.reach(id)
    await scene.run(id)
    await ranLonger(id, HOUR_MS)
    await expectHours(2 + 1 + 2 * 4)

    await scene.call.delete(`/v2/clusters/${id}`)
    await scene.clear(id)
    await expectHours(2 + 1 + 2 * 4)
    expect((await bill()).intervals).toHaveLength(4)
    const atEnd = await bill()
    expect(await bill()).toEqual(atEnd)
  })

  it('[CLU-25] [BIL-12] charges a member that leaves a draining host until it leaves', async () => {
    scene = await ClusterScene.open(2)
    const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 }
    const { id } = await scene.running({ onHostLoss: 'REPLACE', compute })
    await ranLonger(id, 2 * HOUR_MS)
    const spare = await scene.addHost(networked('192.0.2.9'))
    const [first] = await scene.members(id)
    await admin().post(`/admin/v1/hosts/${first?.host.id}/drain`, {})
    await scene.reconcile(id)
    expect((await scene.members(id))[0]?.host.id).toBe(spare.id)
    const [{ gpuAmount }] = (await scene.call.get('/v2/billing/clusters?bucketSize=year')).body.records
    expect(gpuAmount).toBeGreaterThanOrEqual(4 * GPU_PER_HOUR)
  })
})
