import {
  afterEach,
  api,
  beforeEach,
  createAccount,
  describe,
  env,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
  vi,
} from '../../../support/harness.ts'
import { CLUSTERS, ClusterScene } from '../../../support/hosts/cluster-scene.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { type PodBody, PodScene } from '../../../support/pods/pod-scene.ts'
import { readPod } from '../../../support/pods/pods.ts'
import { hostStub, podLogStub } from '../../../support/runner/stubs.ts'

const SILENT_AFTER_MS = 15_000
const OFFLINE_AFTER_MS = 30_000
const LOST_AFTER_MS = 300_000

/** The clock of the plane stands still between steps. */
let nowMs = 0
let host: FakeHost
beforeEach(() => {
  nowMs = Math.floor(Date.now() / 1000) * 1000
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs })
})
afterEach(() => {
  host?.leave()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function pass(ms: number): void {
  nowMs += ms
  vi.setSystemTime(nowMs)
}

/** Runs the alarm of the host's object. */
async function check({ host }: PodScene): Promise<void> {
  await runDurableObjectAlarm(hostStub(env, host.id))
}

/** An account and a host that sends heartbeats only when the test does. */
async function quietScene(): Promise<PodScene> {
  host = await FakeHost.enrol(gpus(1))
  await host.link()
  return new PodScene(host, await createAccount())
}

/** A pod that has run for a minute at the last heartbeat of its host. */
async function runningPod() {
  const scene = await quietScene()
  const { id } = await scene.create()
  await scene.run(id)
  const startedAtMs = nowMs
  pass(60_000)
  await scene.host.beat()
  await check(scene)
  return { scene, id, startedAtMs, heardAtMs: nowMs }
}

async function usageOf(podId: string): Promise<{ startedAtMs: number; endedAtMs: number }[]> {
  const query = 'SELECT started_at AS startedAtMs, ended_at AS endedAtMs FROM usage WHERE workload_id = ? ORDER BY sequence'
  return (await env.DB.prepare(query).bind(podId).all<{ startedAtMs: number; endedAtMs: number }>()).results
}

async function linesOf(podId: string): Promise<string[]> {
  const rows = await runInDurableObject(podLogStub(env, 'pod', podId), (_, state) =>
    state.storage.sql.exec('SELECT line FROM lines ORDER BY n').toArray(),
  )
  return rows.map(({ line }) => String(line))
}

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

describe('a pod whose host is silent', () => {
  it('[POD-23] [POD-72] shows the silence from 15 s on, in every read, and nothing is written for it', async () => {
    const { scene, id, heardAtMs } = await runningPod()
    const heard = await scene.get(id)
    expect(heard).toMatchObject({ status: 'RUNNING', statusReason: null, cost: 0.44, runtime: { uptime: 60 } })
    const row = await readPod(id)
    pass(SILENT_AFTER_MS - 1)
    expect(await scene.get(id)).toMatchObject({ statusReason: null, cost: 0.44, runtime: { uptime: 74 } })
    pass(1)
    const statusReason = `its host has been silent since ${timeOf(heardAtMs)}; nothing is charged until it reconnects`
    const silent = { ...heard, statusReason, runtime: null, cost: 0 }
    expect(await scene.get(id)).toEqual(silent)
    const listed = { ...silent, spend: expect.objectContaining({ perHour: 0 }) }
    expect((await scene.call.get('/v2/pods')).body.pods.filter((pod: PodBody) => pod.id === id)).toEqual([listed])
    expect(await readPod(id)).toEqual(row)
  })

  it('[BIL-30] costs nothing an hour in every list, and its run keeps its cost; the same holds for pods of a lost host', async () => {
    const { scene, id } = await runningPod()
    const spent = async () => {
      const [pod] = (await scene.call.get('/v2/pods')).body.pods.filter((one: PodBody) => one.id === id)
      const { perHour, items } = (await scene.call.get('/v2/spend')).body
      const { perHour: ofItem, costSoFar, costToday, runningCount } = items[0]
      return { cost: pod.cost, listed: pod.spend, perHour, item: { perHour: ofItem, costSoFar }, costToday, runningCount }
    }
    const heard = await spent()
    const rate = heard.perHour
    expect(rate).toBeGreaterThanOrEqual(0.44)
    expect(heard).toMatchObject({ cost: 0.44, item: heard.listed, listed: { perHour: rate }, runningCount: 1 })
    pass(SILENT_AFTER_MS)
    const silent = await spent()
    const nothing = { perHour: 0, costSoFar: heard.listed.costSoFar }
    expect(silent).toEqual({ ...heard, cost: 0, listed: nothing, perHour: 0, item: nothing })
    await scene.host.beat()
    await check(scene)
    expect(await spent()).toMatchObject({ cost: 0.44, listed: { perHour: rate }, perHour: rate })
    pass(OFFLINE_AFTER_MS)
    await check(scene)
    pass(LOST_AFTER_MS)
    await check(scene)
    expect(await spent()).toMatchObject({ cost: 0, listed: { perHour: 0 }, perHour: 0, item: { perHour: 0 } })
    // The host may return at any time, so the limits count the pod.
    expect((await scene.call.get('/v2/billing/summary')).body.rate.perHour).toBe(rate)
  })

  it('[BIL-30] costs nothing as a member of a cluster, too', async () => {
    const cluster = await ClusterScene.open(3)
    await cluster.running()
    const call = api(cluster.account.key)
    const rates = async () => [(await call.get(CLUSTERS)).body.clusters[0].spend.perHour, (await call.get('/v2/spend')).body.perHour]
    const [rate] = await rates()
    expect(rate).toBeGreaterThan(0)
    pass(SILENT_AFTER_MS)
    expect(await rates()).toEqual([0, 0])
    const [first] = cluster.hosts
    await first?.beat()
    expect(await rates()).toEqual([expect.closeTo(rate / 3, 6), expect.closeTo(rate / 3, 6)])
    cluster.leave()
  })

  it('[POD-23] [POD-72] shows the silence while it starts, too', async () => {
    const scene = await quietScene()
    const { id } = await scene.create()
    pass(SILENT_AFTER_MS)
    const statusReason = expect.stringContaining('has been silent since')
    expect(await scene.get(id)).toMatchObject({ status: 'PROVISIONING', statusReason, cost: 0 })
  })

  it.each([
    ['with its next heartbeat', SILENT_AFTER_MS, 'beat'],
    ['over a new link, after its lease', OFFLINE_AFTER_MS, 'link'],
  ] as const)(
    '[POD-23] [POD-73] continues %s: start and uptime are those of the container, and the silence is not charged',
    async (_how, silentMs, sign) => {
      const { scene, id, startedAtMs, heardAtMs } = await runningPod()
      const before = await readPod(id)
      pass(silentMs)
      await check(scene)
      await scene.host[sign]()
      await check(scene)
      const after = await readPod(id)
      expect(after).toEqual({ ...before, version: before.version + 1, chargedFromMs: nowMs, changedAtMs: nowMs })
      expect(await usageOf(id)).toEqual([{ startedAtMs, endedAtMs: heardAtMs }])
      const runtime = { uptime: 60 + silentMs / 1000 }
      expect(await scene.get(id)).toMatchObject({
        status: 'RUNNING',
        statusReason: null,
        cost: 0.44,
        startedAt: timeOf(startedAtMs),
        runtime,
      })
      const line = `host is back: it was silent from ${timeOf(heardAtMs)} to ${timeOf(nowMs)}, which is not charged`
      expect(await linesOf(id)).toContain(line)
      pass(5_000)
      await scene.host.beat()
      await check(scene)
      expect(await readPod(id)).toEqual(after)
    },
  )

  it.each(['stop', 'restart', 'terminate'])(
    '[POD-23] [POD-73] %s while it is silent: it is charged to its last sign of life',
    async (action) => {
      const { scene, id, startedAtMs, heardAtMs } = await runningPod()
      pass(SILENT_AFTER_MS)
      expect((await scene.act(id, action)).status).toBeLessThan(300)
      expect(await usageOf(id)).toEqual([{ startedAtMs, endedAtMs: heardAtMs }])
    },
  )

  it('[POD-23] is charged to its last sign of life when it reports an end without a link', async () => {
    const { scene, id, startedAtMs, heardAtMs } = await runningPod()
    pass(SILENT_AFTER_MS)
    await scene.host.report(`${id}-1`, { state: 'exited', at: nowMs - 1 })
    expect(await usageOf(id)).toEqual([{ startedAtMs, endedAtMs: heardAtMs }])
  })

  it('[POD-23] [POD-73] has a silence that could not be written before its host reports anything else', async () => {
    const { scene, id, startedAtMs, heardAtMs } = await runningPod()
    pass(SILENT_AFTER_MS)
    const batch = vi.spyOn(env.DB, 'batch').mockRejectedValueOnce(new Error('D1 is away'))
    await scene.host.beat()
    const heardAgainMs = nowMs
    pass(1_000)
    await check(scene)
    expect(batch).toHaveBeenCalledTimes(1)
    expect(await usageOf(id)).toEqual([])
    await scene.host.report(`${id}-1`, { state: 'exited', at: nowMs })
    expect(await usageOf(id)).toEqual([
      { startedAtMs, endedAtMs: heardAtMs },
      { startedAtMs: heardAgainMs, endedAtMs: nowMs },
    ])
  })

  it('[POD-23] [POD-71] is ERROR when its host is lost; when that returns, the start time is that of the container', async () => {
    const { scene, id, startedAtMs, heardAtMs } = await runningPod()
    pass(OFFLINE_AFTER_MS)
    await check(scene)
    expect(await scene.get(id)).toMatchObject({ status: 'RUNNING', runtime: null, cost: 0 })
    pass(LOST_AFTER_MS)
    await check(scene)
    expect(await scene.get(id)).toMatchObject({ status: 'ERROR', startedAt: null, runtime: null, cost: 0 })
    expect(await usageOf(id)).toEqual([{ startedAtMs, endedAtMs: heardAtMs }])
    await scene.host.link()
    await scene.host.report(`${id}-1`, { state: 'running', at: startedAtMs })
    const runtime = { uptime: (nowMs - startedAtMs) / 1000 }
    expect(await scene.get(id)).toMatchObject({ status: 'RUNNING', statusReason: null, startedAt: timeOf(startedAtMs), runtime })
    expect((await readPod(id)).chargedFromMs).toBe(nowMs)
  })

  it('[HOST-35] [POD-23] is not silent during an outage of the plane', async () => {
    const { scene, id } = await runningPod()
    pass(1_800_000)
    expect(await scene.get(id)).toMatchObject({ status: 'RUNNING', statusReason: null, cost: 0.44 })
    await scene.host.beat()
    await check(scene)
    expect(await usageOf(id)).toEqual([])
  })
})
