import { openRecords } from '../../../src/db/client.ts'
import { resealSpendWebhooks } from '../../../src/db/reseal.ts'
import { monthOf } from '../../../src/domain/billing/spend.ts'
import { openSpendWebhook, sealSpendWebhook } from '../../../src/effects/billing/spend-webhook.ts'
import { watchSpend } from '../../../src/effects/pods/watch-spend.ts'
import type { Env } from '../../../src/env.ts'
import { signWebhook } from '../../../src/platform/webhook-signature.ts'
import { auditRows } from '../../support/access/audited.ts'
import { describe, env, expect, it, runDurableObjectAlarm, runInDurableObject } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { newHost, receivedBy, waitForReceived } from '../../support/webhooks/webhooks.ts'

const LIMITS = '/v2/billing/limits'
const MINUTE_MS = 60_000

/** Runs the watch as the timer of a host does; the limits count as not checked recently. */
const check = (nowMs = Date.now()) => watchSpend(env, nowMs)

/** An account with running pods, oldest first. */
async function runningPods(count: number, inventory = gpus(count)): Promise<{ scene: PodScene; ids: string[] }> {
  const scene = await podScene(inventory)
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    const { id } = await scene.create()
    await scene.run(id)
    await env.DB.prepare('UPDATE pods SET created_at = created_at + ? WHERE id = ?').bind(i, id).run()
    ids.push(id)
  }
  return { scene, ids }
}

const statusesOf = async ({ scene, ids }: { scene: PodScene; ids: string[] }) =>
  Promise.all(ids.map(async (id) => (await scene.get(id)).status))
const spend = async (scene: PodScene, usd: number) => {
  const { startMs } = monthOf(Date.now())
  await writeUsage(await scene.team(), [
    closed({ startedAtMs: startMs, endedAtMs: startMs + HOUR_MS, gpuNanosPerHour: usd * 1_000_000_000 }),
  ])
}

describe('an account that has its pods stopped at its limit', () => {
  it('[BIL-27] loses, above the limit of an hour, the newest pods, as few as needed, with the reason and a row by the platform', async () => {
    const pods = await runningPods(3)
    const { scene, ids } = pods
    await scene.call.patch(LIMITS, { perHour: 0.5 })
    await check()
    expect(await statusesOf(pods)).toEqual(['RUNNING', 'RUNNING', 'RUNNING'])
    await scene.call.patch(LIMITS, { stopsPods: true })
    await check()
    expect(await statusesOf(pods)).toEqual(['RUNNING', 'EXITED', 'EXITED'])
    const { statusReason } = await scene.get(ids[2] ?? '')
    expect(statusReason).toMatch(/^stopped by the spend limit: 1\.3\d of 0\.50 USD per hour were in use$/)
    expect(await auditRows("resource_id = ? AND actor_kind = 'PLATFORM'", ids[2])).toMatchObject([
      { action: 'pods.stop', before: { wanted: 'RUNNING' }, after: { wanted: 'STOPPED' } },
    ])
    await scene.host.waitFor((workload) => workload.id === `${ids[2]}-1` && workload.desired === 'held')
    await check(Date.now() + MINUTE_MS)
    expect(await statusesOf(pods)).toEqual(['RUNNING', 'EXITED', 'EXITED'])
    scene.leave()
  })

  it('[BIL-27] loses all but the locked pods once the limit of a month is spent', async () => {
    const pods = await runningPods(3)
    const { scene, ids } = pods
    await scene.call.patch(`/v2/pods/${ids[1]}`, { locked: true })
    await scene.call.patch(LIMITS, { perMonth: 5, stopsPods: true })
    await check()
    expect(await statusesOf(pods)).toEqual(['RUNNING', 'RUNNING', 'RUNNING'])
    await spend(scene, 5)
    await check(Date.now() + MINUTE_MS)
    expect(await statusesOf(pods)).toEqual(['EXITED', 'RUNNING', 'EXITED'])
    expect((await scene.get(ids[0] ?? '')).statusReason).toMatch(
      /^stopped by the spend limit: 5\.\d\d of 5\.00 USD of this month are spent$/,
    )
    scene.leave()
  })

  it('[BIL-29] gets one webhook call with the stopped pods; an unreachable webhook delays no stop', async () => {
    const pods = await runningPods(2)
    const { scene, ids } = pods
    const host = newHost()
    await scene.call.patch(LIMITS, { perHour: 0.5, stopsPods: true, webhook: `https://${host}/ok` })
    await check()
    const received = async () => (await receivedBy(host)).map(({ body }) => JSON.parse(body ?? ''))
    await waitForReceived(host, 2)
    const figures = { limit: 'HOUR', used: expect.closeTo(0.88, 1), bound: 0.5, share: expect.closeTo(1.8, 0), month: null }
    expect((await received()).toSorted((a, b) => (a.type < b.type ? -1 : 1))).toEqual([
      { type: 'spend.stop', timestamp: expect.stringMatching(/Z$/), data: { ...figures, podIds: [ids[1]] } },
      { type: 'spend.warning', timestamp: expect.stringMatching(/Z$/), data: figures },
    ])
    expect(await statusesOf(pods)).toEqual(['RUNNING', 'EXITED'])
    await check(Date.now() + MINUTE_MS)
    expect(await received()).toHaveLength(2)
    await env.DB.prepare("UPDATE spend_limits SET webhook_sealed = 'broken', micros_per_hour = 0, warned_rate = 1 WHERE team_id = ?")
      .bind(await scene.team())
      .run()
    await check(Date.now() + 2 * MINUTE_MS)
    expect(await statusesOf(pods)).toEqual(['EXITED', 'EXITED'])
    scene.leave()
  })

  it('[BIL-27] is checked every minute by the alarm of a host, once however many hosts check', async () => {
    const pods = await runningPods(1)
    const { scene } = pods
    await scene.call.patch(LIMITS, { perHour: 0.1, stopsPods: true })
    const stub = hostStub(env, scene.host.id)
    const ring = async () => {
      await runInDurableObject(stub, (_, { storage }) => {
        expect(storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'minute'").rowsWritten).toBeGreaterThan(0)
      })
      await runDurableObjectAlarm(stub)
    }
    await ring()
    expect(await statusesOf(pods)).toEqual(['EXITED'])
    const checkedAt = async () =>
      (
        await env.DB.prepare('SELECT checked_at AS at FROM spend_limits WHERE team_id = ?')
          .bind(await scene.team())
          .first()
      )?.at
    const first = await checkedAt()
    await ring()
    expect(await checkedAt()).toBe(first)
    scene.leave()
  })
})

describe('an account with a webhook for warnings', () => {
  it('[BIL-28] gets one signed call at 80 % of the rate, and one a month at 80 % of that', async () => {
    const { scene } = await runningPods(1)
    const host = newHost()
    await scene.call.patch(LIMITS, { perHour: 0.5, perMonth: 10, webhook: `https://${host}/ok?token=secret` })
    await check()
    const [rate] = await waitForReceived(host, 1)
    const { secret } = (await scene.call.get('/v2/webhooks/signing-secret')).body
    const headers = rate?.headers ?? {}
    const signed = signWebhook([secret], headers['webhook-id'] ?? '', Number(headers['webhook-timestamp']), [
      new TextEncoder().encode(rate?.body ?? ''),
    ])
    expect(headers['webhook-signature']).toBe(signed)
    expect(JSON.parse(rate?.body ?? '')).toEqual({
      type: 'spend.warning',
      timestamp: expect.stringMatching(/Z$/),
      data: { limit: 'HOUR', used: expect.closeTo(0.44, 2), bound: 0.5, share: expect.closeTo(0.88, 1), month: null },
    })
    await spend(scene, 8)
    await check(Date.now() + MINUTE_MS)
    const [, month] = await waitForReceived(host, 2)
    expect(JSON.parse(month?.body ?? '')).toMatchObject({
      type: 'spend.warning',
      data: { limit: 'MONTH', bound: 10, month: monthOf(Date.now()).name },
    })
    await check(Date.now() + 2 * MINUTE_MS)
    const { deliveries } = (await scene.call.get('/v2/webhooks/deliveries')).body
    expect(deliveries).toMatchObject([
      { endpointId: null, jobId: null, status: 'DELIVERED' },
      { endpointId: null, jobId: null, status: 'DELIVERED' },
    ])
    expect(await receivedBy(host)).toHaveLength(2)
    scene.leave()
  })

  it('[BIL-28] gets another call when the limits are set anew, and after the rate has fallen', async () => {
    const { scene, ids } = await runningPods(1)
    const host = newHost()
    await scene.call.patch(LIMITS, { perHour: 0.5, webhook: `https://${host}/ok` })
    await check()
    await waitForReceived(host, 1)
    await scene.act(ids[0] ?? '', 'stop')
    await check(Date.now() + MINUTE_MS)
    await scene.act(ids[0] ?? '', 'start')
    await check(Date.now() + 2 * MINUTE_MS)
    await waitForReceived(host, 2)
    await scene.call.patch(LIMITS, { perHour: 0.51 })
    await check(Date.now() + 3 * MINUTE_MS)
    await waitForReceived(host, 3)
    scene.leave()
  })

  it('[BIL-24] [SEAL-3] has its address resealed with all other values', async () => {
    const scene = await podScene(gpus(1))
    const teamId = await scene.team()
    await scene.call.patch(LIMITS, { webhook: 'https://example.com/spend?token=hunter2' })
    const previous: Env = { ...env }
    const present: Env = { ...env, TOKEN_SECRET: 'another-secret-of-32-characters-or-so', TOKEN_SECRET_PREVIOUS: env.TOKEN_SECRET }
    const before = teamId.slice(0, -1)
    await resealSpendWebhooks(openRecords(present), before, (id, sealed) =>
      sealSpendWebhook(present, id, openSpendWebhook(present, id, sealed)),
    )
    const row = await env.DB.prepare('SELECT webhook_sealed AS sealed FROM spend_limits WHERE team_id = ?')
      .bind(teamId)
      .first<{ sealed: string }>()
    expect(openSpendWebhook(present, teamId, row?.sealed ?? '')).toBe('https://example.com/spend?token=hunter2')
    expect(() => openSpendWebhook(previous, teamId, row?.sealed ?? '')).toThrow('sealed under a TOKEN_SECRET')
    await env.DB.prepare('DELETE FROM spend_limits WHERE team_id = ?').bind(teamId).run()
    scene.leave()
  })
})
