import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { readMonthSpend } from '../../../src/db/billing/month-spend.ts'
import { withinSpend } from '../../../src/db/billing/spend.ts'
import { openDatabase } from '../../../src/db/client.ts'
import type { ChargedInterval } from '../../../src/domain/billing/bill.ts'
import { monthOf } from '../../../src/domain/billing/spend.ts'
import { describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'

const MONTH = monthOf(Date.UTC(2026, 10, 20))
const NOW_MS = Date.UTC(2026, 10, 20, 7, 30, 15, 123)
const MICROS = 1_000_000

/** Whether the statement that reserves would succeed under this monthly limit. */
async function passes(teamId: string, perMonthMicros: number | null, ceilingMicros: number | null = null): Promise<boolean> {
  await env.DB.prepare(
    'INSERT OR REPLACE INTO spend_limits (team_id, micros_per_month, ceiling_micros_per_month, updated_at) VALUES (?, ?, ?, 0)',
  )
    .bind(teamId, perMonthMicros, ceilingMicros)
    .run()
  const month = { startMs: MONTH.startMs, nowMs: NOW_MS }
  const condition = withinSpend(teamId, { nanosPerHour: 1, defaultMicrosPerHour: 1_000 * MICROS, month })
  const [row] = await openDatabase(env.DB).all<{ ok: number }>(sql`SELECT ${condition} AS ok`)
  return row?.ok === 1
}

/** The statement and the bill agree to the micro-USD: a limit of the sum is exhausted, a limit of one more is not. */
async function expectExact(teamId: string): Promise<number> {
  const spent = await readMonthSpend(openDatabase(env.DB), teamId, MONTH, NOW_MS)
  expect([await passes(teamId, spent), await passes(teamId, spent + 1)]).toEqual([false, true])
  return spent
}

describe('[BIL-23] the monthly sum in the statement that reserves', () => {
  it('includes ended intervals and those that cross into the month', async () => {
    const { account } = await setUpQueue()
    const teamId = await teamOf(account)
    const rate = fc.nat(40_000_000_000)
    const interval = fc
      .record({
        startedAtMs: fc.integer({ min: MONTH.startMs - 40 * HOUR_MS, max: NOW_MS - 1 }),
        ms: fc.integer({ min: 0, max: 90 * HOUR_MS }),
        kind: fc.constantFrom<ChargedInterval['kind']>('POD', 'SERVERLESS', 'NETWORK_VOLUME', 'CLUSTER'),
        rates: fc.record({ gpuNanosPerHour: rate, cpuNanosPerHour: rate, diskNanosPerHour: rate }),
      })
      .map(({ startedAtMs, ms, kind, rates }) => closed({ startedAtMs, endedAtMs: Math.min(NOW_MS, startedAtMs + ms), kind, ...rates }))
    await fc.assert(
      fc.asyncProperty(fc.array(interval, { minLength: 1, maxLength: 12 }), async (intervals) => {
        await env.DB.prepare('DELETE FROM usage WHERE team_id = ?').bind(teamId).run()
        await writeUsage(teamId, intervals)
        await expectExact(teamId)
      }),
      { numRuns: 25 },
    )
  })

  it('includes running intervals: running and stopped pods, workers, network volumes; from the start of the month or of the interval', async () => {
    const scene = await podScene(gpus(2))
    const [running, stopped] = [await scene.create(), await scene.create()]
    for (const { id } of [running, stopped]) await scene.run(id)
    await scene.act(stopped.id, 'stop')
    const teamId = await scene.team()
    await scene.call.post('/v2/network-volumes', { name: 'data', dataCenter: 'EU-RO-1', type: 'STANDARD', size: 100 })
    const set = (statement: string, ...values: (number | string)[]) =>
      env.DB.prepare(statement)
        .bind(...values)
        .run()
    await set('DELETE FROM usage WHERE team_id = ?', teamId)
    for (const fromMs of [MONTH.startMs - 5 * HOUR_MS - 1, MONTH.startMs + 3 * HOUR_MS + 7]) {
      await set('UPDATE pods SET charged_from = ? WHERE id = ?', fromMs, running.id)
      await set(
        'UPDATE pods SET charged_from = NULL, disk_charged_from = ?, stopped_disk_nanos_per_hour = 123456789 WHERE id = ?',
        fromMs,
        stopped.id,
      )
      await set('UPDATE network_volumes SET charged_from = ? WHERE team_id = ?', fromMs, teamId)
      expect(await expectExact(teamId)).toBeGreaterThan(0.44 * 400 * MICROS)
    }
    scene.leave()
    const queue = await setUpQueue()
    await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    await set('UPDATE allocations SET charged_from = ? WHERE id = ?', MONTH.startMs - 1, worker.id)
    expect(await expectExact(await teamOf(queue.account))).toBeGreaterThan(1.1 * 400 * MICROS)
  })

  it('is compared with the lower of the limits of account and operator; without a limit it always passes', async () => {
    const { account } = await setUpQueue()
    const teamId = await teamOf(account)
    await writeUsage(teamId, [closed({ startedAtMs: MONTH.startMs, endedAtMs: MONTH.startMs + HOUR_MS, gpuNanosPerHour: 5_000_000_000 })])
    const five = 5 * MICROS
    expect([
      await passes(teamId, null),
      await passes(teamId, five, five + 1),
      await passes(teamId, five + 1, five),
      await passes(teamId, null, five),
      await passes(teamId, five + 1, null),
    ]).toEqual([true, false, false, false, true])
  })
})
