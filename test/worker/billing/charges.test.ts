import { endDiskChargesOn, endWorkerChargesOn, excuseWorkersOn } from '../../../src/db/billing/charges.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { amountMicros } from '../../../src/domain/money.ts'
import { admin, api, createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { PODS, podScene } from '../../support/pods/pod-scene.ts'
import { HOUR_MS } from '../../support/pods/usage.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'

/** RTX 4090, serverless. */
const ADA_NANOS = 1_100_000_000
const VOLUME = { name: 'data', dataCenter: 'EU-RO-1', type: 'STANDARD' }

async function usageOf(workloadId: string): Promise<Record<string, unknown>[]> {
  const rows = await env.DB.prepare('SELECT * FROM usage WHERE workload_id = ? ORDER BY started_at').bind(workloadId).all()
  return rows.results
}

const allocationOf = (id: string) =>
  env.DB.prepare('SELECT * FROM allocations WHERE id = ?').bind(id).first<Record<string, number | null>>()
/** Moves the start of a charge back by `ms`. */
const backdate = (table: 'allocations' | 'network_volumes' | 'pods', id: string, ms: number, column = 'charged_from') =>
  env.DB.prepare(`UPDATE ${table} SET ${column} = ${column} - ? WHERE id = ?`).bind(ms, id).run()

async function chargedWorker() {
  const queue = await setUpQueue()
  await run(queue)
  const worker = await queue.host.startWorker(queue.endpointId)
  return { queue, host: queue.host, id: worker.id, key: queue.account.key, teamId: await teamOf(queue.account) }
}

describe('a serverless worker', () => {
  it('[BIL-10] is charged from the start of its container to its end, once', async () => {
    const { queue, host, id, key, teamId } = await chargedWorker()
    const begun = await allocationOf(id)
    expect(begun).toMatchObject({ gpu_nanos_per_hour: ADA_NANOS, cpu_nanos_per_hour: 0 })
    expect(begun?.charged_from).toBeGreaterThanOrEqual(Number(begun?.created_at))
    await backdate('allocations', id, HOUR_MS)
    const open = await api(key).get('/v2/billing/serverless')
    expect(open.body.metadata).toMatchObject({ uniqueServerlessCount: 1, recordCount: expect.any(Number) })
    expect(open.body.metadata.totals.gpuAmount).toBeGreaterThanOrEqual(1.1)

    await host.report(id, { state: 'exited', exitCode: 0 })
    const [row, ...others] = await usageOf(id)
    expect(others).toEqual([])
    const ms = Number(row?.ended_at) - Number(row?.started_at)
    const disk = Number(begun?.disk_nanos_per_hour)
    expect(row).toMatchObject({
      kind: 'SERVERLESS',
      resource_id: queue.endpointId,
      team_id: teamId,
      started_at: Number(begun?.charged_from) - HOUR_MS,
      gpu_type_id: 'NVIDIA GeForce RTX 4090',
      gpu_count: 1,
      gpu_nanos_per_hour: ADA_NANOS,
      gpu_micros: amountMicros(ADA_NANOS, ms),
      disk_micros: amountMicros(disk, ms),
    })
    expect(ms).toBeGreaterThanOrEqual(HOUR_MS)
    expect(await allocationOf(id)).toMatchObject({ charged_from: null })
    // Later reports of the host start no new charge.
    await host.report(id, { state: 'running' })
    await host.report(id, { state: 'gone' })
    expect(await usageOf(id)).toEqual([row])
    expect(await allocationOf(id)).toBeNull()
    const bill = await api(key).get(`/v2/billing/serverless?serverlessId=${queue.endpointId}`)
    expect(bill.body.metadata.totals.gpuAmount).toBe(Number(row?.gpu_micros) / 1e6)
  })

  it('[BIL-10] is charged, when it disappears, in the batch that frees its allocation; a wrong clock does not move the end into the future', async () => {
    const { host, id } = await chargedWorker()
    const begun = await allocationOf(id)
    await host.report(id, { state: 'gone', at: Date.now() + HOUR_MS })
    const [row] = await usageOf(id)
    expect(Number(row?.ended_at)).toBeLessThanOrEqual(Date.now())
    expect(row?.started_at).toBe(begun?.charged_from)
    expect(await allocationOf(id)).toBeNull()
  })

  it('[BIL-10] is not charged if its container never ran', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const workload = await queue.host.waitFor((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    await queue.host.report(workload.id, { state: 'pulling' })
    expect(await allocationOf(workload.id)).toMatchObject({ charged_from: null })
    await queue.host.report(workload.id, { state: 'gone' })
    expect(await usageOf(workload.id)).toEqual([])
  })

  it('[BIL-18] is not charged while its host is silent, and up to the last sign of life of a lost host', async () => {
    const { host, id } = await chargedWorker()
    await backdate('allocations', id, HOUR_MS)
    const startedAt = Number((await allocationOf(id))?.charged_from)
    const db = openDatabase(env.DB)
    const silence = { fromMs: startedAt + 1_000, toMs: startedAt + 5_000 }
    await excuseWorkersOn(db, host.id, silence)
    await excuseWorkersOn(db, host.id, silence)
    expect(await usageOf(id)).toMatchObject([{ started_at: startedAt, ended_at: startedAt + 1_000 }])
    expect((await allocationOf(id))?.charged_from).toBe(startedAt + 5_000)
    await endWorkerChargesOn(db, host.id, startedAt + 9_000)
    await endWorkerChargesOn(db, host.id, startedAt + 20_000)
    expect(await usageOf(id)).toMatchObject([
      { started_at: startedAt, ended_at: startedAt + 1_000 },
      { started_at: startedAt + 5_000, ended_at: startedAt + 9_000 },
    ])
    await host.report(id, { state: 'running' })
    expect((await allocationOf(id))?.charged_from).toBeNull()
  })
})

describe('a network volume', () => {
  it('[BIL-11] is charged from its creation on, anew from each resize on, and up to its deletion', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const { body: volume } = await call.post('/v2/network-volumes', { ...VOLUME, size: 100 })
    await backdate('network_volumes', volume.id, HOUR_MS)
    const open = await call.get(`/v2/billing/network-volumes?networkVolumeId=${volume.id}`)
    expect(open.body.metadata.totals.standardAmount).toBeGreaterThanOrEqual(0.009589)

    expect((await call.patch(`/v2/network-volumes/${volume.id}`, { name: 'renamed' })).status).toBe(200)
    expect(await usageOf(volume.id)).toEqual([])
    expect((await call.patch(`/v2/network-volumes/${volume.id}`, { size: 2_000 })).status).toBe(200)
    await backdate('network_volumes', volume.id, HOUR_MS)
    expect((await call.delete(`/v2/network-volumes/${volume.id}`)).status).toBe(204)
    const rows = await usageOf(volume.id)
    const teamId = await teamOf(account)
    const common = {
      kind: 'NETWORK_VOLUME',
      resource_id: volume.id,
      team_id: teamId,
      volume_type: 'STANDARD',
      gpu_micros: 0,
      cpu_micros: 0,
    }
    const nanos = [9_589_041, 164_383_562]
    expect(rows).toMatchObject([
      { ...common, sequence: 1, disk_gb: 100, disk_nanos_per_hour: nanos[0] },
      { ...common, sequence: 2, disk_gb: 2_000, disk_nanos_per_hour: nanos[1] },
    ])
    for (const [i, row] of rows.entries()) {
      const ms = Number(row.ended_at) - Number(row.started_at)
      expect(ms).toBeGreaterThanOrEqual(HOUR_MS)
      expect(row.disk_micros).toBe(amountMicros(nanos[i] ?? 0, ms))
    }
  })

  it('[BIL-11] stays charged when its deletion is refused, and is charged up to the closing of its account', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const { body: volume } = await call.post('/v2/network-volumes', { ...VOLUME, size: 10 })
    const endpoint = { name: 'e', image: 'acme/idle:1', gpu: { pools: ['ADA_24'] }, networkVolumes: [volume.id] }
    const used = await call.post('/v2/serverless', endpoint)
    expect(used.status).toBe(201)
    expect((await call.delete(`/v2/network-volumes/${volume.id}`)).status).toBe(400)
    expect(await usageOf(volume.id)).toEqual([])
    expect((await call.delete(`/v2/serverless/${used.body.id}`)).status).toBe(204)
    await admin().delete(`/admin/v1/users/${account.userId}`)
    expect(await usageOf(volume.id)).toMatchObject([{ disk_gb: 10, disk_nanos_per_hour: 958_904 }])
  })
})

describe('the disks of a pod', () => {
  const mounts = (size: number) => ({ persistent: { size, path: '/workspace' } })
  const perHour = (gb: number, usdPerMonth: number) => Math.round(((gb * usdPerMonth) / 730) * 1e9)

  it('[BIL-7][BIL-8] are charged while it runs, at another rate while it is stopped, and anew from each resize on', async () => {
    const scene = await podScene()
    const { id } = await scene.create({ disk: 10, mounts: mounts(20) })
    await scene.run(id)
    await backdate('pods', id, HOUR_MS)
    expect((await scene.call.patch(`${PODS}/${id}`, { mounts: mounts(40) })).status).toBe(200)
    await backdate('pods', id, HOUR_MS)
    expect((await scene.act(id, 'stop')).status).toBe(200)
    await backdate('pods', id, HOUR_MS, 'disk_charged_from')
    const open = await scene.call.get(`/v2/billing/pods?podId=${id}&include=INTERVALS`)
    const intervals = open.body.records.flatMap((record: { intervals: { endTime: string | null; diskGb: number }[] }) => record.intervals)
    // An interval across midnight is in the records of both days.
    const lasting = intervals.filter(({ endTime }: { endTime: string | null }) => endTime === null)
    expect(lasting.slice(0, 1)).toMatchObject([{ diskGb: 40, gpuCount: 0 }])
    for (const { startTime } of lasting) expect(startTime).toBe(lasting[0].startTime)
    await scene.end(id)

    const ran = { gpu_nanos_per_hour: 440_000_000, cpu_nanos_per_hour: 0, gpu_count: 1 }
    const kept = { gpu_nanos_per_hour: 0, cpu_nanos_per_hour: 0, gpu_count: 0, gpu_micros: 0 }
    const rows = await usageOf(id)
    expect(rows).toMatchObject([
      { ...ran, disk_gb: 30, disk_nanos_per_hour: perHour(10, 0.1) + perHour(20, 0.1) },
      { ...ran, disk_gb: 50, disk_nanos_per_hour: perHour(10, 0.1) + perHour(40, 0.1) },
      { ...kept, disk_gb: 40, disk_nanos_per_hour: perHour(40, 0.2) },
    ])
    for (const row of rows) {
      const ms = Number(row.ended_at) - Number(row.started_at)
      expect(ms).toBeGreaterThanOrEqual(HOUR_MS)
      expect(row.disk_micros).toBe(amountMicros(Number(row.disk_nanos_per_hour), ms))
    }
    const { body } = await scene.call.get(`/v2/billing/pods?podId=${id}`)
    const micros = rows.reduce((sum, row) => sum + Number(row.gpu_micros) + Number(row.disk_micros), 0)
    expect(body.metadata.totals.totalAmount).toBe(micros / 1e6)
    scene.leave()
  })

  it('[BIL-18] are not charged any more once its host is removed', async () => {
    const scene = await podScene()
    const { id } = await scene.create({ mounts: mounts(20) })
    await scene.run(id)
    await scene.act(id, 'stop')
    const row = await env.DB.prepare('SELECT disk_charged_from AS d, version FROM pods WHERE id = ?')
      .bind(id)
      .first<Record<string, number>>()
    const endedAtMs = Number(row?.d) + HOUR_MS
    await endDiskChargesOn(openDatabase(env.DB), scene.host.id, endedAtMs)
    await endDiskChargesOn(openDatabase(env.DB), scene.host.id, endedAtMs + 1)
    const [, kept, ...others] = await usageOf(id)
    expect(others).toEqual([])
    const nanos = perHour(20, 0.2)
    expect(kept).toMatchObject({
      started_at: row?.d,
      ended_at: endedAtMs,
      disk_nanos_per_hour: nanos,
      disk_gb: 20,
      kind: 'POD',
      resource_id: id,
    })
    expect(kept?.disk_micros).toBe(amountMicros(nanos, HOUR_MS))
    scene.leave()
  })
})
