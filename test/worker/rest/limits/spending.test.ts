import { monthOf } from '../../../../src/domain/billing/spend.ts'
import { api, createAccount, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { CLUSTERS, ClusterScene } from '../../../support/hosts/cluster-scene.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { podScene, setPod } from '../../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../../support/pods/usage.ts'
import { run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const SPEND = '/v2/spend'
const DAY_MS = 24 * HOUR_MS
/** The GPU of the scenes, USD per hour. */
const PRICE = 0.44

const dayStart = () => Math.floor(Date.now() / DAY_MS) * DAY_MS
const NOTHING = { perHour: 0, stoppedPerHour: 0, itemCount: 0, items: [] }

describe('GET /v2/spend', () => {
  it('[SPD-1] is empty for an account without resources', async () => {
    const { key } = await createAccount()
    const { status, body } = await api(key).get(SPEND)
    const month = monthOf(Date.now())
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...NOTHING,
        today: { from: `${new Date().toISOString().slice(0, 10)}T00:00:00Z`, spent: 0 },
        month: { from: `${month.name}-01T00:00:00Z`, spent: 0 },
      },
    })
  })

  it('[SPD-1] [SPD-2] lists the items with a cost, the dearest first, with their charges; the rate is that of the summary', async () => {
    const scene = await podScene(gpus(4))
    const { call } = scene
    const [running, stopped, waiting] = [
      await scene.create({ name: 'running' }),
      await scene.create({ name: 'stopped' }),
      await scene.create(),
    ]
    await scene.run(running.id)
    await scene.run(stopped.id)
    expect((await scene.act(stopped.id, 'stop')).status).toBe(200)
    await setPod(stopped.id, { stopped_disk_nanos_per_hour: 2_000_000, disk_nanos_per_hour: 2_000_000 })
    await setPod(running.id, { disk_nanos_per_hour: 0, stopped_disk_nanos_per_hour: 0, started_at: Date.now() - 2 * HOUR_MS })
    await setPod(running.id, { charged_from: Date.now() - HOUR_MS })
    await setPod(waiting.id, { disk_nanos_per_hour: 10_000_000, stopped_disk_nanos_per_hour: 0 })
    // An hour of its present run that was charged already, and an earlier run.
    const team = await scene.team()
    const of = { workloadId: running.id, resourceId: running.id, gpuNanosPerHour: 440_000_000 }
    await writeUsage(team, [
      closed({ ...of, startedAtMs: Date.now() - 2 * HOUR_MS + 1_000, endedAtMs: Date.now() - HOUR_MS }),
      closed({ ...of, startedAtMs: Date.now() - 4 * HOUR_MS, endedAtMs: Date.now() - 3 * HOUR_MS }),
    ])
    const { body } = await call.get(SPEND)
    expect(body).toMatchObject({ itemCount: 3, perHour: (await call.get('/v2/billing/summary')).body.rate.perHour, stoppedPerHour: 0.002 })
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([waiting.id, running.id, stopped.id])
    const [first, second, third] = body.items
    const idle = { idleCount: 0, idlePerHour: 0, idleSince: null, idleWaste: null }
    expect(first).toEqual({
      ...{ kind: 'POD', id: waiting.id, name: 'p', perHour: 0.45, stoppedPerHour: 0, runningCount: 1, runningSince: null },
      ...{ costSoFar: 0, costToday: 0, costThisMonth: 0, ...idle },
    })
    expect(second).toEqual({
      ...{ kind: 'POD', id: running.id, name: 'running', perHour: PRICE, stoppedPerHour: 0, runningCount: 1 },
      ...{ runningSince: expect.any(String), costSoFar: expect.closeTo(2 * PRICE, 2), ...idle },
      ...{ costToday: expect.any(Number), costThisMonth: expect.any(Number) },
    })
    expect(third).toMatchObject({ runningCount: 0, runningSince: null, perHour: 0.002, stoppedPerHour: 0.002, costSoFar: 0 })
    expect((await call.get(`${SPEND}?limit=1`)).body).toMatchObject({ itemCount: 3, perHour: body.perHour, items: [{ id: waiting.id }] })
    scene.leave()
  })

  it('[SPD-2] cuts days and months in UTC, as bills do, and includes deleted resources', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await setPod(id, { charged_from: Date.now(), started_at: Date.now(), disk_nanos_per_hour: 0 })
    const [today, month] = [dayStart(), monthOf(Date.now())]
    const rate = { gpuNanosPerHour: 1_000_000_000 }
    await writeUsage(await scene.team(), [
      // An interval of a deleted pod, one hour of it before midnight.
      closed({ ...rate, workloadId: 'gone', resourceId: 'gone', startedAtMs: today - HOUR_MS, endedAtMs: today + HOUR_MS / 2 }),
      // An interval of this pod, across the beginning of the month.
      closed({ ...rate, workloadId: id, resourceId: id, startedAtMs: month.startMs - HOUR_MS, endedAtMs: month.startMs + HOUR_MS / 4 }),
    ])
    const { body } = await scene.call.get(SPEND)
    const isFirst = today === month.startMs
    expect(body.today.spent).toBeCloseTo(isFirst ? 0.75 : 0.5, 2)
    expect(body.month.spent).toBeCloseTo(isFirst ? 0.75 : 1.75, 2)
    expect(body.items[0]).toMatchObject({ costToday: expect.closeTo(isFirst ? 0.25 : 0, 2), costThisMonth: expect.closeTo(0.25, 2) })
    const bill = await scene.call.get('/v2/billing?bucketSize=month&lastN=1')
    expect(body.month.spent).toBeCloseTo(bill.body.metadata.totals.totalAmount, 2)
    scene.leave()
  })

  it('[SPD-1] lists the workers of an endpoint, the members of a cluster and a volume as one item each', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 60 } })
    const call = api(queue.account.key)
    await run(queue)
    await queue.host.startWorker(queue.endpointId)
    const volume = (await call.post('/v2/network-volumes', { name: 'data', size: 100, dataCenter: 'EU-RO-1' })).body
    const { body } = await call.get(SPEND)
    expect(body.items).toMatchObject([
      { kind: 'ENDPOINT', id: queue.endpointId, runningCount: 1, stoppedPerHour: 0, perHour: expect.closeTo(1.1, 1) },
      { kind: 'NETWORK_VOLUME', id: volume.id, name: 'data', runningCount: 1, perHour: expect.closeTo(0.0096, 4) },
    ])
    expect(body.items[1].stoppedPerHour).toBe(body.items[1].perHour)
    const scene = await ClusterScene.open(3)
    const cluster = await scene.running()
    const { items } = (await api(scene.account.key).get(SPEND)).body
    expect(items).toMatchObject([{ kind: 'CLUSTER', id: cluster.id, name: cluster.name, runningCount: 3 }])
    await api(scene.account.key).delete(`${CLUSTERS}/${cluster.id}`)
    scene.leave()
  })

  it('[SPD-7] has, for a worker without a job and members at 0 %, the start and the cost of the idle time; not for those unobserved for a minute', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 60 } })
    const call = api(queue.account.key)
    const idleOf = async (client = call) => {
      const { idleCount, idlePerHour, idleSince, idleWaste } = (await client.get(SPEND)).body.items[0]
      return { idleCount, idlePerHour, idleSince, idleWaste }
    }
    const none = { idleCount: 0, idlePerHour: 0, idleSince: null, idleWaste: null }
    const { jobId, worker } = await runAndTake(queue)
    expect(await idleOf()).toEqual(none)
    const idle = { idleCount: 1, idlePerHour: expect.closeTo(1.1, 1), idleSince: expect.any(String), idleWaste: expect.any(Number) }
    await worker.done(jobId, { output: 1 })
    expect(await idleOf()).toEqual(idle)
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => {
      const { workers } = core.state
      for (const seen of workers.all())
        if (seen.phase === 'READY') workers.save({ ...seen, lastSeenAtMs: (seen.lastSeenAtMs ?? 0) - 61_000 })
    })
    expect(await idleOf()).toEqual(none)

    const scene = await ClusterScene.open(3)
    const cluster = await scene.running()
    const owner = api(scene.account.key)
    const members: { id: string }[] = (await owner.get('/v2/pods?includeClusterPods=true')).body.pods
    // Each host uses only the figures of its own member.
    const stats = members.map(({ id }, index) => {
      return { id: `${id}-1`, cpu: 9, gpuCount: 1, gpus: [{ util: index === 0 ? 70 : 0, memoryUtil: 1 }] }
    })
    for (const host of scene.hosts) await host.beat({ stats })
    expect(await idleOf(owner)).toMatchObject({ idleCount: 2, idleSince: expect.any(String) })
    const { perHour } = (await owner.get(SPEND)).body.items[0]
    expect((await idleOf(owner)).idlePerHour).toBeCloseTo((perHour * 2) / 3, 6)
    await owner.delete(`${CLUSTERS}/${cluster.id}`)
    scene.leave()
  })

  it('[SPD-3] takes as many statements for a thousand pods as for one', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    const columns = (await env.DB.prepare('SELECT name FROM pragma_table_info(?)').bind('pods').all<{ name: string }>()).results
    const copied = columns.map(({ name }) => (name === 'id' ? "pods.id || '-' || n.value" : `pods.${name}`)).join()
    const numbers = JSON.stringify(Array.from({ length: 999 }, (_, index) => index))
    await env.DB.prepare(`INSERT INTO pods SELECT ${copied} FROM pods, json_each(?) n WHERE pods.id = ?`).bind(numbers, id).run()
    const { status, body } = await scene.call.get(`${SPEND}?limit=1000`)
    expect({ status, count: body.itemCount, listed: body.items.length }).toEqual({ status: 200, count: 1_000, listed: 1_000 })
    expect(body.perHour).toBeCloseTo((await scene.call.get('/v2/billing/summary')).body.rate.perHour, 6)
    await env.DB.prepare("UPDATE pods SET status = 'TERMINATED' WHERE id GLOB ?").bind(`${id}-*`).run()
    scene.leave()
  })
})
