import { sql } from 'drizzle-orm'
import { withinSpend } from '../../../src/db/billing/spend.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { monthOf } from '../../../src/domain/billing/spend.ts'
import { watchSpend } from '../../../src/effects/pods/watch-spend.ts'
import { countReads } from '../../support/cost/read-counts.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  createAccount,
  createKeyIn,
  createOrganization,
  createPlan,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, type PodScene, podBody, podScene } from '../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { newHost, waitForReceived } from '../../support/webhooks/webhooks.ts'

const LIMITS = '/v2/billing/limits'
const SUMMARY = '/v2/billing/summary'
const MINUTE_MS = 60_000

interface Organization {
  id: string
  key: string
}

async function organizationOf(account: Account): Promise<Organization> {
  const id = await createOrganization(account.key)
  return { id, key: (await createKeyIn(id, account)).key }
}

const setCeilings = async ({ userId }: Account, ceilings: object) =>
  expect((await admin().put(`/admin/v1/users/${userId}/spend-limits`, ceilings)).status).toBe(200)
const create = (key: string, body = podBody()) => api(key).post(PODS, body)
const podsOf = async (teamId: string) =>
  Number((await env.DB.prepare('SELECT COUNT(*) AS n FROM pods WHERE team_id = ?').bind(teamId).first<{ n: number }>())?.n)
const ofPerson = (figures: string) => ({
  status: 402,
  body: {
    code: 'SPEND_LIMIT',
    detail: expect.stringMatching(
      new RegExp(`^spend limit: ${figures} across all accounts of one user: .*; stop a workload in one of them, or ask the operator`),
    ),
  },
})

async function sceneWith(organizations: number, places = 8): Promise<{ scene: PodScene; all: Organization[] }> {
  const scene = await podScene(gpus(places))
  const all: Organization[] = []
  for (let i = 0; i < organizations; i += 1) all.push(await organizationOf(scene.account))
  return { scene, all }
}

/** Creates and starts a pod of an organization; pods of earlier calls are older. */
async function running(scene: PodScene, key: string): Promise<string> {
  const { status, body } = await create(key)
  expect(status, JSON.stringify(body)).toBe(201)
  await scene.run(body.id)
  return body.id
}

afterEach(async () => {
  vi.restoreAllMocks()
  // Cordons the hosts of earlier tests: placement tries hosts that have left too, at most eight for one pod.
  await env.DB.prepare('UPDATE hosts SET cordoned_at = 1').run()
})

describe('[S2] [SHR-1] the spending ceiling of a person', () => {
  it('refuses in the own account and in every organization of the person, and nothing is reserved', async () => {
    const { scene, all } = await sceneWith(2)
    await setCeilings(scene.account, { perHour: 0.4, perMonth: 5 })
    for (const { id, key } of [{ id: await scene.team(), key: scene.account.key }, ...all]) {
      expect(await create(key)).toMatchObject(ofPerson('0.00 of 0.40 USD per hour in use'))
      expect(await podsOf(id)).toBe(0)
      expect((await api(key).get(LIMITS)).body).toMatchObject({ perHour: 0.4, maxPerHour: 0.4, perMonth: 5, maxPerMonth: 5 })
      expect((await api(key).patch(LIMITS, { perHour: 80 })).status).toBe(400)
    }
    scene.leave()
  })

  it.each(['running', 'stopped'])('[BIL-22] refuses a growing disk of a pod that is %s, also in a plan', async (state) => {
    const scene = await podScene({ ...gpus(1), diskGb: 8_000 })
    await setCeilings(scene.account, { perHour: 0.5 })
    const grown = (size: number) => ({ mounts: { persistent: { path: '/workspace', size } } })
    const { id } = await scene.create(grown(10))
    await scene.run(id)
    if (state === 'stopped') {
      await scene.act(id, 'stop')
      await scene.host.report(`${id}-1`, { state: 'exited' })
    }
    const disk = async () => (await env.DB.prepare('SELECT disk_gb FROM allocations WHERE id = ?').bind(id).first())?.disk_gb
    const before = [await scene.get(id), await disk()]
    const said = { code: 'SPEND_LIMIT', detail: expect.stringMatching(/^spend limit: 0\.\d+ of 0\.50 USD per hour/) }
    expect(await scene.call.patch(`${PODS}/${id}?dryRun=true`, grown(2_000))).toMatchObject({ status: 200, body: { refusal: said } })
    expect(await scene.call.patch(`${PODS}/${id}`, grown(2_000))).toMatchObject({ status: 402, body: said })
    expect([await scene.get(id), await disk()]).toEqual(before)
    expect((await scene.call.patch(`${PODS}/${id}`, grown(100))).status).toBe(200)
    scene.leave()
  })

  it('[BIL-22] holds for simultaneous changes that make disks dearer and no larger', async () => {
    const scene = await podScene({ ...gpus(2), diskGb: 8_000 })
    const disks = (container: number, persistent: number) => ({
      disk: container,
      mounts: { persistent: { path: '/workspace', size: persistent } },
    })
    const ids: string[] = []
    for (let i = 0; i < 2; i += 1) {
      const { id } = await scene.create(disks(100, 10))
      await scene.run(id)
      await scene.act(id, 'stop')
      await scene.host.report(`${id}-1`, { state: 'exited' })
      ids.push(id)
    }
    // For a stopped pod, 90 GB more of persistent disk cost 0.0247 USD an hour more.
    await setCeilings(scene.account, { perHour: 0.04 })
    const replies = await Promise.all(ids.map((id) => scene.call.patch(`${PODS}/${id}`, disks(10, 100))))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 402])
    scene.leave()
  })

  it('is the default one where the operator has set none, and is shared by all accounts', async () => {
    const { scene, all } = await sceneWith(2)
    const [first, second] = all as [Organization, Organization]
    await setCeilings(scene.account, { perHour: 1 })
    expect((await create(first.key)).status).toBe(201)
    expect((await create(scene.account.key)).status).toBe(201)
    expect(await create(second.key)).toMatchObject(ofPerson('0.8\\d of 1.00 USD per hour in use'))
    const volume = { name: 'data', size: 2000, dataCenter: 'EU-RO-1' }
    expect(await api(second.key).post('/v2/network-volumes', volume)).toMatchObject(ofPerson('0.8\\d of 1.00 USD per hour in use'))
    expect((await api(second.key).get(SUMMARY)).body.rate).toMatchObject({ perHour: 0, share: expect.closeTo(0.88, 1) })
    await setCeilings(scene.account, {})
    expect((await create(second.key)).status).toBe(201)
    await env.DB.prepare('UPDATE pods SET price_per_hour = 80 WHERE team_id = ?').bind(first.id).run()
    expect(await create(second.key)).toMatchObject(ofPerson('8\\d.\\d\\d of 80.00 USD per hour in use'))
    scene.leave()
  })

  it('holds for simultaneous requests in two organizations', async () => {
    const { scene, all } = await sceneWith(2, 60)
    await setCeilings(scene.account, { perHour: 10.1 * 0.44 })
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => create(all[i % 2]?.key ?? '')))
    const statuses = Map.groupBy(replies, ({ status }) => status)
    expect([statuses.get(201)?.length, statuses.get(402)?.length]).toEqual([10, 40])
    expect((await podsOf(all[0]?.id ?? '')) + (await podsOf(all[1]?.id ?? ''))).toBe(10)
    scene.leave()
  })

  it('includes, for a month, the spend of all accounts and of a deleted organization', async () => {
    const { scene, all } = await sceneWith(3)
    const [first, second, gone] = all as [Organization, Organization, Organization]
    const { startMs } = monthOf(Date.now())
    const spend = (teamId: string, usd: number) =>
      writeUsage(teamId, [
        closed({ workloadId: teamId, startedAtMs: startMs, endedAtMs: startMs + HOUR_MS, gpuNanosPerHour: usd * 1_000_000_000 }),
      ])
    await spend(first.id, 2)
    await spend(gone.id, 2.5)
    expect((await api(scene.account.key).delete(`/v2/organizations/${gone.id}`)).status).toBe(204)
    await setCeilings(scene.account, { perMonth: 5 })
    expect((await create(second.key)).status).toBe(201)
    await spend(await scene.team(), 0.5)
    for (const key of [second.key, first.key, scene.account.key])
      expect(await create(key)).toMatchObject(ofPerson('5.00 of 5.00 USD of this month are spent'))
    expect(await podsOf(second.id)).toBe(1)
    // The reserving statement checks the limit by itself, for changes between the check and the statement.
    const month = { startMs, nowMs: Date.now() }
    const passes = async (teamId: string) => {
      const condition = withinSpend(teamId, { nanosPerHour: 1, defaultMicrosPerHour: 80_000_000, month })
      return (await openDatabase(env.DB).all<{ ok: number }>(sql`SELECT ${condition} AS ok`))[0]?.ok
    }
    expect([await passes(second.id), await passes(await scene.team()), await passes(await teamOf(await createAccount()))]).toEqual([
      0, 0, 1,
    ])
    expect((await api(second.key).get(SUMMARY)).body.month).toMatchObject({ spent: 0, share: 1 })
    scene.leave()
  })

  it('leaves out an organization with a plan of its own, in both directions', async () => {
    const { scene, all } = await sceneWith(2)
    const [planned, other] = all as [Organization, Organization]
    await admin().put(`/admin/v1/organizations/${planned.id}/plan`, { plan: await createPlan() })
    await setCeilings(scene.account, { perHour: 0.5 })
    expect((await create(planned.key)).status).toBe(201)
    expect((await create(planned.key)).status).toBe(201)
    expect((await api(planned.key).get(LIMITS)).body).toMatchObject({ maxPerHour: 80, maxPerMonth: null })
    expect((await create(other.key)).status).toBe(201)
    expect(await create(scene.account.key)).toMatchObject(ofPerson('0.4\\d of 0.50 USD per hour in use'))
    await admin().put(`/admin/v1/organizations/${planned.id}/plan`, { plan: null })
    expect(await create(planned.key)).toMatchObject(ofPerson('1.3\\d of 0.50 USD per hour in use'))
    scene.leave()
  })

  it("is separate from an account's own limit, which counts that account alone", async () => {
    const { scene, all } = await sceneWith(1)
    const [organization] = all as [Organization]
    await api(scene.account.key).patch(LIMITS, { perHour: 0.5 })
    expect((await create(organization.key)).status).toBe(201)
    expect((await create(scene.account.key)).status).toBe(201)
    expect(await create(scene.account.key)).toMatchObject({
      status: 402,
      body: { detail: expect.stringMatching(/^spend limit: 0.4\d of 0.50 USD per hour in use, .* or raise it with PATCH/) },
    })
    expect((await create(organization.key)).status).toBe(201)
    scene.leave()
  })

  it('shows a member of an organization sums, and nothing else of the other accounts', async () => {
    const { scene, all } = await sceneWith(2)
    const [first, second] = all as [Organization, Organization]
    await setCeilings(scene.account, { perHour: 1 })
    await create(first.key, podBody({ name: 'hidden-name' }))
    await create(first.key, podBody({ name: 'hidden-name' }))
    const member = await createAccount()
    await joinTeam(second.id, member, 'ADMIN')
    const { key } = await createKeyIn(second.id, member)
    const replies = [await create(key), await api(key).get(SUMMARY), await api(key).get('/v2/spend'), await api(key).get(LIMITS)]
    expect(replies.map(({ status }) => status)).toEqual([402, 200, 200, 200])
    const received = JSON.stringify(replies.map(({ body }) => body))
    for (const hidden of ['hidden-name', first.id, await scene.team(), scene.account.userId, scene.account.email])
      expect(received).not.toContain(hidden)
    expect(replies[2]?.body).toMatchObject({ perHour: 0, itemCount: 0 })
    // A member who has not made the organization has none of its costs in their own summary.
    expect((await api(member.key).get(SUMMARY)).body.rate).toMatchObject({ perHour: 0, share: 0 })
    scene.leave()
  })

  it('costs a create at most a bounded number of rows for each organization', async () => {
    const { scene, all } = await sceneWith(1)
    const readsOf = async () => {
      const reads = countReads()
      expect((await create(all[0]?.key ?? '')).status).toBe(201)
      vi.restoreAllMocks()
      return reads.reduce((sum, { rows }) => sum + rows, 0)
    }
    await create(scene.account.key)
    const few = await readsOf()
    for (let i = 0; i < 8; i += 1) await organizationOf(scene.account)
    // At most one row for each organization and each counted kind, plus one row of the budgets.
    expect((await readsOf()) - few).toBeLessThan(8 * 30)
    scene.leave()
  })
})

describe('[S2] [SHR-2] above the ceiling of a person', () => {
  it('the newest pods of all accounts that ask for it are stopped, each by its own account, and only as many as needed', async () => {
    const { scene, all } = await sceneWith(2)
    const [first, second] = all as [Organization, Organization]
    const ids: string[] = []
    for (const key of [second.key, first.key, first.key, second.key]) {
      ids.push(await running(scene, key))
      await env.DB.prepare('UPDATE pods SET created_at = created_at + ? WHERE id = ?')
        .bind(ids.length * 1000, ids.at(-1))
        .run()
    }
    for (const { key } of all) expect((await api(key).patch(LIMITS, { stopsPods: true })).status).toBe(200)
    await setCeilings(scene.account, { perHour: 1 })
    await watchSpend(env, Date.now())
    const statuses = await Promise.all(
      ids.map(
        async (id) => (await env.DB.prepare('SELECT status, status_reason AS reason FROM pods WHERE id = ?').bind(id).first())?.status,
      ),
    )
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'EXITED', 'EXITED'])
    const { statusReason } = (await api(second.key).get(`${PODS}/${ids[3]}`)).body
    expect(statusReason).toMatch(
      /^stopped by the spend limit: 1\.\d\d of 1\.00 USD per hour were in use by all accounts of one person together$/,
    )
    await watchSpend(env, Date.now() + MINUTE_MS)
    expect((await api(first.key).get(`${PODS}/${ids[1]}`)).body.status).toBe('RUNNING')
    scene.leave()
  })

  it('[BIL-28] the webhook of an organization is called near the ceiling, with the sum', async () => {
    const { scene, all } = await sceneWith(1)
    const [organization] = all as [Organization]
    await running(scene, scene.account.key)
    const host = newHost()
    await api(organization.key).patch(LIMITS, { webhook: `https://${host}/ok` })
    await watchSpend(env, Date.now())
    await setCeilings(scene.account, { perHour: 0.5 })
    await watchSpend(env, Date.now() + MINUTE_MS)
    const [received] = await waitForReceived(host, 1)
    expect(JSON.parse(received?.body ?? '')).toMatchObject({
      type: 'spend.warning',
      data: { limit: 'HOUR', used: expect.closeTo(0.44, 2), bound: 0.5, month: null },
    })
    scene.leave()
  })
})
