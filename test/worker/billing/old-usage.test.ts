import { deleteOldUsage } from '../../../src/db/billing/usage-removal.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { readSettings } from '../../../src/env.ts'
import {
  afterEach,
  api,
  createAccount,
  describe,
  env,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
  teamOf,
} from '../../support/harness.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const DAY_MS = 24 * HOUR_MS
const L4 = 440_000_000
const KEPT_MS = readSettings(env).usageKeptMs

const rowsOf = async (teamId: string) =>
  (await env.DB.prepare('SELECT workload_id AS id FROM usage WHERE team_id = ? ORDER BY rowid').bind(teamId).all<{ id: string }>()).results

afterEach(async () => {
  await env.DB.prepare('DELETE FROM usage_removals').run()
})

describe('old intervals', () => {
  it('[BIL-42] are deleted in steps, and daily bills do not change; hours and intervals name the start of their retention', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const dayMs = Math.floor((Date.now() - KEPT_MS) / DAY_MS - 10) * DAY_MS
    const one = { startedAtMs: dayMs + HOUR_MS, endedAtMs: dayMs + 2 * HOUR_MS, gpuNanosPerHour: L4 }
    await writeUsage(teamId, [
      closed({ ...one, workloadId: `${teamId}-1` }),
      closed({ ...one, workloadId: `${teamId}-2`, endedAtMs: dayMs + 3 * DAY_MS }),
      closed({ ...one, workloadId: `${teamId}-3`, startedAtMs: Date.now() - HOUR_MS, endedAtMs: Date.now() }),
    ])
    const at = (ms: number) => new Date(ms).toISOString()
    const window = `startTime=${at(dayMs)}&endTime=${at(dayMs + 5 * DAY_MS)}`
    const read = async (query: string) => (await api(account.key).get(`/v2/billing/pods?${window}&${query}`)).body
    const before = { days: await read('bucketSize=day'), months: await read('bucketSize=month') }
    expect(before.days.metadata.totals.totalAmount).toBeGreaterThan(0)
    expect((await read('bucketSize=hour')).metadata.totals).toEqual(before.days.metadata.totals)

    const cutMs = Date.now() - KEPT_MS
    expect(await deleteOldUsage(openDatabase(env.DB), cutMs, 1)).toBe(1)
    expect(await rowsOf(teamId)).toHaveLength(2)
    expect(await deleteOldUsage(openDatabase(env.DB), cutMs, 500)).toBe(1)
    expect(await deleteOldUsage(openDatabase(env.DB), cutMs, 500)).toBe(0)
    expect(await rowsOf(teamId)).toEqual([{ id: `${teamId}-3` }])
    expect({ days: await read('bucketSize=day'), months: await read('bucketSize=month') }).toEqual(before)
    const refusal = { status: 400, detail: expect.stringContaining(`ended before ${at(cutMs).slice(0, 19)}Z`) }
    expect(await read('bucketSize=hour')).toMatchObject(refusal)
    expect(await read('include=INTERVALS')).toMatchObject(refusal)
    const recent = await api(account.key).get('/v2/billing/pods?bucketSize=hour&lastN=3')
    expect([recent.status, recent.body.metadata.totals.totalAmount]).toEqual([200, 0.44])
  })

  it('[BIL-42] [SPD-2] are retained while the cost of a running run needs them; the hourly timer of a host deletes the others', async () => {
    const scene = await podScene()
    const { id } = await scene.create()
    await scene.run(id)
    const startedAt = Date.now() - KEPT_MS - 20 * DAY_MS
    await env.DB.prepare('UPDATE pods SET started_at = ? WHERE id = ?').bind(startedAt, id).run()
    const of = { kind: 'POD' as const, resourceId: id, workloadId: id, gpuNanosPerHour: L4 }
    const { teamId } = (await env.DB.prepare('SELECT team_id AS teamId FROM pods WHERE id = ?').bind(id).first<{ teamId: string }>()) ?? {
      teamId: '',
    }
    await writeUsage(teamId, [
      closed({ ...of, startedAtMs: startedAt - 2 * HOUR_MS, endedAtMs: startedAt - HOUR_MS }),
      closed({ ...of, startedAtMs: startedAt + HOUR_MS, endedAtMs: startedAt + 2 * HOUR_MS }),
    ])
    const stub = hostStub(env, scene.host.id)
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'housekeeping'")
    })
    await runDurableObjectAlarm(stub)
    const { results } = await env.DB.prepare('SELECT started_at AS atMs FROM usage WHERE workload_id = ?').bind(id).all()
    expect(results).toEqual([{ atMs: startedAt + HOUR_MS }])
    scene.leave()
  })
})
