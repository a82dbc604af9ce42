import { admin, api, createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { compute, placed } from '../../support/pods/pods.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

const MINUTE_MS = 60_000

/** Sets the clock of a host's object: samples are taken in the past, so that the API, whose clock is not changed, reads them as history. */
async function at(host: FakeHost, nowMs: number): Promise<void> {
  await runInDurableObject(hostStub(env, host.id), (object) => {
    object.now = () => nowMs
  })
}

/** Sends a heartbeat every 5 s of a period, with the figures of `statsAt`. */
async function beatThrough(host: FakeHost, fromMs: number, toMs: number, statsAt: (ms: number) => Record<string, unknown>): Promise<void> {
  for (let ms = fromMs; ms < toMs; ms += 5_000) {
    await at(host, ms)
    await host.beat(statsAt(ms))
  }
}

const minute = (agoMinutes: number) => (Math.floor(Date.now() / MINUTE_MS) - agoMinutes) * MINUTE_MS
const iso = (ms: number) => new Date(ms).toISOString()
const rowsOf = (host: FakeHost) =>
  runInDurableObject(
    hostStub(env, host.id),
    (_, state) => state.storage.sql.exec('SELECT place FROM history ORDER BY place').toArray().length,
  )

describe('history of pods', () => {
  it('[HIS-4] [HIS-7] a pod and its host return columns of their usage: means, maxima, each GPU, and null where nothing is known', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    await scene.run(id)
    const start = minute(5)
    const gpu = { util: 40, memoryUtil: 3, memoryBytes: 2 ** 30, memoryLimitBytes: 2 ** 34, temperatureCelsius: 61, powerWatts: 210 }
    const busy = (ms: number) => ({
      machine: { cpu: 70, diskBytes: 2 ** 40, diskLimitBytes: 2 ** 41 },
      stats: [
        { id: `${id}-1`, cpu: ms % 10_000 === 0 ? 10 : 30, memoryBytes: 2 ** 20, receivedPerSecond: 1_500, gpus: [gpu], gpuCount: 1 },
      ],
    })
    await beatThrough(scene.host, start, start + MINUTE_MS, busy)
    await beatThrough(scene.host, start + 2 * MINUTE_MS, start + 2 * MINUTE_MS + 20_000, busy)
    const query = `from=${iso(start)}&to=${iso(start + 3 * MINUTE_MS)}`
    const reply = await scene.call.get(`/v2/pods/${id}/metrics?${query}&step=60`)
    const both = (value: number) => [value, null, value]
    const columns = (name: string, unit: string, value: number, most = value, of = {}) => {
      return { name, unit, ...of, points: both(value), maxima: both(most) }
    }
    expect(reply.body).toEqual({
      from: iso(start).replace('.000', ''),
      step: 60,
      series: [
        columns('cpu', 'percent', 20, 30),
        columns('memory', 'bytes', 2 ** 20),
        columns('networkReceived', 'bytesPerSecond', 1_500),
        columns('gpu', 'percent', 40, 40, { gpu: 0 }),
        columns('gpuMemory', 'bytes', 2 ** 30, 2 ** 30, { gpu: 0 }),
        columns('gpuMemoryLimit', 'bytes', 2 ** 34, 2 ** 34, { gpu: 0 }),
        columns('gpuTemperature', 'celsius', 61, 61, { gpu: 0 }),
        columns('gpuPower', 'watts', 210, 210, { gpu: 0 }),
      ],
    })
    const fine = await scene.call.get(`/v2/pods/${id}/metrics?from=${iso(start + 50_000)}&to=${iso(start + 65_000)}&step=5`)
    expect(fine.body).toMatchObject({ step: 5, from: iso(start + 50_000).replace('.000', '') })
    expect(fine.body.series[0]).toEqual({ name: 'cpu', unit: 'percent', points: [10, 30, null] })
    const machine = await admin().get(`/admin/v1/hosts/${scene.host.id}/metrics?${query}&step=60`)
    expect(machine.body.series.map(({ name, points }: { name: string; points: unknown }) => [name, points])).toEqual([
      ['cpu', both(70)],
      ['disk', both(2 ** 40)],
      ['diskLimit', both(2 ** 41)],
    ])
    scene.leave()
  })

  it('[HIS-9] a reply has a tag, and a client that has it gets 304 without a body', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    const path = `/v2/pods/${id}/metrics?from=${iso(minute(5))}&to=${iso(minute(4))}`
    const first = await scene.call.get(path)
    const tag = first.headers.get('ETag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{24}"$/)
    const again = await scene.call.get(path, undefined, { 'If-None-Match': `"other", W/${tag}` })
    expect([again.status, again.headers.get('ETag')]).toEqual([304, tag])
    expect((await scene.call.get(path, undefined, { 'If-None-Match': '"other"' })).status).toBe(200)
    scene.leave()
  })

  it('[HIS-3] a heartbeat writes no row, a minute of heartbeats two; stored samples outlive the object', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    scene.host.stopBeating()
    const written = () =>
      runInDurableObject(hostStub(env, scene.host.id), (_, state) => {
        return state.storage.sql.exec<{ changes: number }>('SELECT total_changes() AS changes').one().changes
      })
    const start = minute(20)
    const stats = () => ({ stats: [{ id: `${id}-1`, cpu: 50 }], machine: { cpu: 1 } })
    await beatThrough(scene.host, start, start + 5_000, stats)
    const before = await written()
    await beatThrough(scene.host, start + 5_000, start + 10 * MINUTE_MS + 5_000, stats)
    expect((await written()) - before).toBeLessThanOrEqual(10 * 2 + 2)
    const path = `/v2/pods/${id}/metrics?from=${iso(start)}&to=${iso(start + 10 * MINUTE_MS)}&step=60`
    const known = await scene.call.get(path)
    expect(known.body.series[0].points).toEqual(new Array(10).fill(50))
    await evictDurableObject(hostStub(env, scene.host.id))
    expect((await scene.call.get(path)).body).toEqual(known.body)
    scene.leave()
  })

  it('[HIS-3] the minute of a host that leaves is stored', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const start = minute(5)
    for (const ms of [0, 5_200, 10_100]) {
      await at(scene.host, start + ms)
      await scene.host.beat({ stats: [{ id: `${id}-1`, cpu: 50 }] })
    }
    scene.leave()
    const rows = () =>
      runInDurableObject(hostStub(env, scene.host.id), (_, { storage }) => storage.sql.exec('SELECT 1 FROM history').toArray())
    await until(async () => (await rows()).length > 0)
    await evictDurableObject(hostStub(env, scene.host.id))
    const path = `/v2/pods/${id}/metrics?from=${iso(start)}&to=${iso(start + 15_000)}&step=5`
    expect((await scene.call.get(path)).body.series[0]).toMatchObject({ name: 'cpu', points: [50, 50, 50] })
  })

  it('[HIS-8, SPD-4] an idle pod shows since when; the first load ends that, and so does a restart for an unobserved time', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const idleSince = async () => (await scene.get(id)).runtime.idleSince
    const start = Math.floor(Date.now() / 1_000) * 1_000
    const received = (cpu: number, util: number) => () => ({
      stats: [{ id: `${id}-1`, cpu, gpus: [{ util, memoryUtil: 0 }], gpuCount: 1 }],
    })
    await beatThrough(scene.host, start - 20_000, start - 15_000, received(90, 7))
    expect(await idleSince()).toBeNull()
    await beatThrough(scene.host, start - 15_000, start, received(90, 0))
    expect(await idleSince()).toBe(iso(start - 15_000).replace('.000', ''))
    const [item] = (await scene.call.get('/v2/spend')).body.items
    expect(item).toMatchObject({ id, idleSince: iso(start - 15_000).replace('.000', ''), idleWaste: expect.any(Number) })
    expect(item.idleWaste).toBeLessThanOrEqual(item.costSoFar)
    await beatThrough(scene.host, start, start + 5_000, received(0, 1))
    expect(await idleSince()).toBeNull()
    await beatThrough(scene.host, start + 5_000, start + 10_000, () => ({ stats: [{ id: `${id}-1`, cpu: 0, gpuCount: 1 }] }))
    expect(await idleSince()).toBeNull()
    scene.leave()
  })

  it('[HIS-6] samples of the previous host stand beside those of the current one, and are deleted with that host', async () => {
    const type = 'NVIDIA A30'
    const from = await FakeHost.join(gpus(1, type))
    const account = await createAccount()
    const id = await placed(from, { compute: compute(type), onHostLoss: 'REPLACE' }, account)
    await from.waitFor((workload) => workload.id === `${id}-1`)
    const start = minute(6)
    await beatThrough(from, start, start + MINUTE_MS, () => ({ stats: [{ id: `${id}-1`, cpu: 10 }] }))
    await at(from, Date.now())
    const to = await FakeHost.join(gpus(1, type))
    expect((await admin().post(`/admin/v1/hosts/${from.id}/drain`, {})).status).toBe(200)
    await to.waitFor((workload) => workload.id === `${id}-2`)
    await beatThrough(to, start + 2 * MINUTE_MS, start + 3 * MINUTE_MS, () => ({ stats: [{ id: `${id}-2`, cpu: 30 }] }))
    const points = async () => {
      const query = `from=${iso(start)}&to=${iso(start + 3 * MINUTE_MS)}&step=60`
      return (await api(account.key).get(`/v2/pods/${id}/metrics?${query}`)).body.series[0]?.points
    }
    expect(await points()).toEqual([10, null, 30])
    await from.report(`${id}-1`, { state: 'gone' })
    expect((await admin().delete(`/admin/v1/hosts/${from.id}`)).status).toBe(204)
    expect(await rowsOf(from)).toBe(0)
    expect(await points()).toEqual([null, null, 30])
    to.leave()
  })

  it('[HIS-4] a terminated pod keeps its history for its account; other accounts have none, nor has a host without that workload', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    const start = minute(4)
    const stats = () => ({
      stats: [
        { id: `${id}-1`, cpu: 10 },
        { id: 'never-given-1', cpu: 99 },
      ],
    })
    await beatThrough(scene.host, start, start + MINUTE_MS, stats)
    await scene.end(id)
    const path = `/v2/pods/${id}/metrics?from=${iso(start)}&to=${iso(start + MINUTE_MS)}&step=60`
    expect((await scene.call.get(path)).body.series).toEqual([{ name: 'cpu', unit: 'percent', points: [10], maxima: [10] }])
    const other = await createAccount()
    expect((await api(other.key).get(path)).status).toBe(404)
    expect((await scene.call.get(`/v2/pods/nobody/metrics`)).status).toBe(404)
    const none = await runInDurableObject(hostStub(env, scene.host.id), (object) =>
      object.readHistory('never-given-1', { fromMs: start, stepMs: 60_000, count: 5, level: 1 }),
    )
    expect(none).toEqual([])
    scene.leave()
  })

  it('[HIS-5] an end before the start, and an invalid step, are 422 and are named', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    const errors = async (query: string) => {
      const { status, body } = await scene.call.get(`/v2/pods/${id}/metrics?${query}`)
      return [status, JSON.stringify(body.errors)]
    }
    expect(await errors(`from=${iso(minute(1))}&to=${iso(minute(2))}`)).toEqual([
      422,
      expect.stringContaining('$.from: want an instant before'),
    ])
    expect(await errors('step=4')).toEqual([422, expect.stringContaining('step')])
    expect(await errors('from=yesterday')).toEqual([422, expect.stringContaining('from')])
    scene.leave()
  })
})
