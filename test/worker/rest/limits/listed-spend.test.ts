import { watchDatabase } from '../../../support/cost/watch-database.ts'
import { api, createAccount, describe, env, expect, it, vi } from '../../../support/harness.ts'
import { CLUSTERS, ClusterScene } from '../../../support/hosts/cluster-scene.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podScene, setPod } from '../../../support/pods/pod-scene.ts'
import { HOUR_MS } from '../../../support/pods/usage.ts'
import { runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

const PRICE = 0.44

describe('the cost of items in lists', () => {
  it('[SPD-9] for a pod is its rate and the charges of its run, as in spend; a pod without cost has 0', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create({ name: 'runs' })
    await scene.run(id)
    await setPod(id, { started_at: Date.now() - 2 * HOUR_MS, charged_from: Date.now() - 2 * HOUR_MS, disk_nanos_per_hour: 0 })
    const stopped = await scene.create({ name: 'stopped' })
    await scene.act(stopped.id, 'stop')
    const { pods } = (await scene.call.get(PODS)).body
    expect(pods.map(({ name, spend }: { name: string; spend: object }) => [name, spend])).toEqual([
      ['stopped', { perHour: 0, costSoFar: 0 }],
      ['runs', { perHour: PRICE, costSoFar: expect.closeTo(2 * PRICE, 2) }],
    ])
    const [item] = (await scene.call.get('/v2/spend')).body.items
    expect(pods[1].spend).toEqual({ perHour: item.perHour, costSoFar: expect.closeTo(item.costSoFar, 3) })
    expect((await scene.get(id)).spend).toBeUndefined()
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).get(PODS)).body.pods).toEqual([])
    scene.leave()
  })

  it('[SPD-9] for an endpoint is that of its workers, for a cluster that of its members, and for a member its own', async () => {
    const queue = await setUpQueue()
    await runAndTake(queue)
    const call = api(queue.account.key)
    const [endpoint] = (await call.get('/v2/serverless')).body.endpoints
    const [spent] = (await call.get('/v2/spend')).body.items
    expect(endpoint.spend).toEqual({ perHour: spent.perHour, costSoFar: expect.closeTo(spent.costSoFar, 2) })
    expect(endpoint.spend.perHour).toBeGreaterThan(0)
    const scene = await ClusterScene.open(3)
    const { id } = await scene.running()
    const owner = api(scene.account.key)
    const [cluster] = (await owner.get(CLUSTERS)).body.clusters
    const members = (await owner.get(`${PODS}?includeClusterPods=true`)).body.pods
    const rates = members.map(({ spend }: { spend: { perHour: number } }) => spend.perHour)
    expect(rates).toHaveLength(3)
    expect(Math.min(...rates)).toBeGreaterThan(0)
    expect(cluster.spend.perHour).toBeCloseTo(
      rates.reduce((sum: number, rate: number) => sum + rate, 0),
      6,
    )
    await owner.delete(`${CLUSTERS}/${id}`)
    scene.leave()
  })

  it('[SPD-9] takes as many statements for a hundred pods as for one', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const calls = watchDatabase()
    const statements = async () => {
      calls.length = 0
      const { body } = await scene.call.get(`${PODS}?limit=100`)
      return { count: calls.flat().length, listed: body.pods.length }
    }
    // The first call reads the budget of its account, which later ones have cached.
    await statements()
    const one = await statements()
    const columns = (await env.DB.prepare('SELECT name FROM pragma_table_info(?)').bind('pods').all<{ name: string }>()).results
    const copied = columns.map(({ name }) => (name === 'id' ? "pods.id || '-' || n.value" : `pods.${name}`)).join()
    const numbers = JSON.stringify(Array.from({ length: 99 }, (_, index) => index))
    await env.DB.prepare(`INSERT INTO pods SELECT ${copied} FROM pods, json_each(?) n WHERE pods.id = ?`).bind(numbers, id).run()
    expect(await statements()).toEqual({ count: one.count, listed: 100 })
    vi.restoreAllMocks()
    await env.DB.prepare("UPDATE pods SET status = 'TERMINATED' WHERE id GLOB ?").bind(`${id}-*`).run()
    scene.leave()
  })
})
