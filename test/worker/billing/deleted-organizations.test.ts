import { sql } from 'drizzle-orm'
import { withinSpend } from '../../../src/db/billing/spend.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { monthOf } from '../../../src/domain/billing/spend.ts'
import { admin, api, createAccount, createOrganization, createPlan, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'

describe('[SHR-1] the monthly spend of a deleted organization', () => {
  it.each([
    ['counts for its maker', false, 0],
    ['counts alone where it had a plan of its own', true, 1],
  ])('%s', async (_what, hasPlan, expected) => {
    const maker = await createAccount()
    const [id, own, { startMs }] = [await createOrganization(maker.key), await teamOf(maker), monthOf(Date.now())]
    if (hasPlan) expect((await admin().put(`/admin/v1/organizations/${id}/plan`, { plan: await createPlan() })).status).toBe(200)
    expect((await admin().put(`/admin/v1/users/${maker.userId}/spend-limits`, { perMonth: 5 })).status).toBe(200)
    await writeUsage(id, [closed({ workloadId: id, startedAtMs: startMs, endedAtMs: startMs + HOUR_MS, gpuNanosPerHour: 6_000_000_000 })])
    const mayTake = async () => {
      const month = { startMs, nowMs: Date.now() }
      const condition = withinSpend(own, { nanosPerHour: 1, defaultMicrosPerHour: 80_000_000, month })
      return (await openDatabase(env.DB).all<{ ok: number }>(sql`SELECT ${condition} AS ok`))[0]?.ok
    }
    expect(await mayTake()).toBe(expected)
    expect((await api(maker.key).delete(`/v2/organizations/${id}`)).status).toBe(204)
    expect(await mayTake()).toBe(expected)
  })
})
