import { monthOf } from '../../../../src/domain/billing/spend.ts'
import { auditRows } from '../../../support/access/audited.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../../support/pods/usage.ts'
import { run, setUpQueue } from '../../../support/queue/queue.ts'
import { until } from '../../../support/time.ts'

const LIMITS = '/v2/billing/limits'
const SUMMARY = '/v2/billing/summary'
const PRICE = 0.44
const NOTHING_SET = { perHour: 80, maxPerHour: 80, perMonth: null, maxPerMonth: null, stopsPods: false, webhook: null }

const ceilingsOf = ({ userId }: Account) => `/admin/v1/users/${userId}/spend-limits`
const podsOf = async (account: Account) =>
  Number(
    (
      await env.DB.prepare("SELECT COUNT(*) AS n FROM pods WHERE team_id = ? AND status <> 'TERMINATED'")
        .bind(await teamOf(account))
        .first<{ n: number }>()
    )?.n,
  )
const refused = (inUse: string, limit: string, needs = '0.44') => ({
  status: 402,
  body: {
    title: 'Payment Required',
    status: 402,
    code: 'SPEND_LIMIT',
    detail: expect.stringMatching(
      new RegExp(`^spend limit: ${inUse} of ${limit} USD per hour in use, the request needs ${needs}; stop a workload`),
    ),
  },
})

describe('spend limits', () => {
  it('[BIL-20] [BIL-21] have defaults, are set by the account up to the ceiling of the operator, and fall with it', async () => {
    const account = await createAccount()
    const call = api(account.key)
    expect((await call.get(LIMITS)).body).toEqual(NOTHING_SET)
    const own = { ...NOTHING_SET, perHour: 40.5, perMonth: 500, stopsPods: true }
    expect(await call.patch(LIMITS, { perHour: 40.5, perMonth: 500, stopsPods: true })).toMatchObject({ status: 200, body: own })
    expect((await call.get(LIMITS)).body).toEqual(own)
    expect(await call.patch(LIMITS, { perHour: 80.01 })).toMatchObject({
      status: 400,
      body: { code: 'RULE', detail: expect.stringContaining("perHour 80.01 is above 80.00 USD, the operator's ceiling") },
    })
    expect((await call.get(LIMITS)).body).toEqual(own)
    const ceilings = { perHour: 30, perMonth: 400 }
    expect(await admin().put(ceilingsOf(account), ceilings)).toMatchObject({ status: 200, body: ceilings })
    expect((await admin().get(ceilingsOf(account))).body).toEqual(ceilings)
    expect((await call.get(LIMITS)).body).toEqual({ ...own, perHour: 30, maxPerHour: 30, perMonth: 400, maxPerMonth: 400 })
    expect((await call.patch(LIMITS, { perMonth: 401 })).status).toBe(400)
    expect((await admin().put(ceilingsOf(account), { perHour: 1000 })).status).toBe(200)
    expect((await call.get(LIMITS)).body).toEqual({ ...own, maxPerHour: 1000 })
    expect((await call.patch(LIMITS, { perHour: null, perMonth: null, stopsPods: false })).body).toEqual({
      ...NOTHING_SET,
      perHour: 1000,
      maxPerHour: 1000,
    })
    expect((await admin().get('/admin/v1/users/nobody/spend-limits')).status).toBe(404)
    expect((await admin().put('/admin/v1/users/nobody/spend-limits', {})).status).toBe(404)
    expect((await call.patch(LIMITS, { perHour: -1 })).status).toBe(422)
    expect((await call.patch(LIMITS, { perDay: 1 })).status).toBe(422)
  })

  it('[BIL-24] a webhook is a public https address; it is kept sealed, and shown without its query', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const webhook = 'https://example.com/spend?token=hunter2'
    expect((await call.patch(LIMITS, { webhook })).body).toMatchObject({ webhook: 'https://example.com/spend' })
    for (const bad of ['http://example.com/', 'https://10.0.0.1/', 'https://plane.internal/', 'example.com']) {
      expect(await call.patch(LIMITS, { webhook: bad })).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/^webhook: /) },
      })
    }
    expect((await call.get(LIMITS)).body).toMatchObject({ webhook: 'https://example.com/spend' })
    const team = await teamOf(account)
    const row = await env.DB.prepare('SELECT webhook_sealed AS sealed FROM spend_limits WHERE team_id = ?').bind(team).first()
    expect(JSON.stringify([row, await auditRows('team_id = ?', team)])).not.toContain('hunter2')
    expect((await call.patch(LIMITS, { webhook: null })).body).toMatchObject({ webhook: null })
  })

  it('[BIL-21] are set by every key that may write the account: for an organization by its owner and admins', async () => {
    const [owner, admins, dev, billing] = [await createAccount(), await createAccount(), await createAccount(), await createAccount()]
    const id = await createOrganization(owner.key)
    await joinTeam(id, admins, 'ADMIN')
    await joinTeam(id, dev, 'DEV')
    await joinTeam(id, billing, 'BILLING')
    const patch = async (member: Account) => (await api((await createKeyIn(id, member)).key).patch(LIMITS, { perHour: 1 })).status
    const read = async (member: Account) => (await api((await createKeyIn(id, member)).key).get(SUMMARY)).status
    expect([await patch(owner), await patch(admins), await patch(dev), await patch(billing)]).toEqual([200, 200, 403, 403])
    expect([await read(owner), await read(dev), await read(billing)]).toEqual([200, 403, 200])
  })

  it('[BIL-21] add a row to the audit log with the changes', async () => {
    const account = await createAccount()
    await api(account.key).patch(LIMITS, { perHour: 40 })
    await admin().put(ceilingsOf(account), { perHour: 20 })
    const rows = await auditRows("team_id = ? AND action GLOB 'spend-limits.*'", await teamOf(account))
    expect(rows.map(({ action, actorKind, before, after }) => ({ action, actorKind, before, after }))).toEqual([
      { action: 'spend-limits.update', actorKind: 'KEY', before: { perHour: 80 }, after: { perHour: 40 } },
      { action: 'spend-limits.set', actorKind: 'OPERATOR', before: {}, after: { perHour: 20 } },
    ])
  })
})

describe('the summary', () => {
  it('[BIL-25] shows rate, month, estimate and shares; the month equals the bill', async () => {
    const scene = await podScene(gpus(2))
    const { call } = scene
    const month = monthOf(Date.now())
    const team = await scene.team()
    await writeUsage(team, [
      closed({ startedAtMs: month.startMs - HOUR_MS, endedAtMs: month.startMs + HOUR_MS / 2, gpuNanosPerHour: 440_000_000 }),
      closed({ workloadId: 'b', startedAtMs: month.startMs, endedAtMs: month.startMs + HOUR_MS, cpuNanosPerHour: 60_000_000 }),
      closed({ workloadId: 'c', startedAtMs: month.startMs - 2 * HOUR_MS, endedAtMs: month.startMs, cpuNanosPerHour: 60_000_000 }),
    ])
    await scene.create()
    await call.patch(LIMITS, { perHour: 0.88, perMonth: 2.8 })
    const { status, body } = await call.get(SUMMARY)
    expect(status).toBe(200)
    expect(body).toEqual({
      rate: { perHour: expect.closeTo(PRICE, 2), pods: body.rate.perHour, serverless: 0, networkVolumes: 0, share: expect.closeTo(0.5, 1) },
      month: {
        from: `${month.name}-01T00:00:00Z`,
        to: expect.stringMatching(/-01T00:00:00Z$/),
        spent: 0.28,
        estimate: expect.any(Number),
        share: 0.1,
      },
      limits: { ...NOTHING_SET, perHour: 0.88, perMonth: 2.8 },
    })
    expect(body.month.estimate).toBeGreaterThan(0.28)
    const bill = await call.get('/v2/billing?bucketSize=month&lastN=1')
    expect(bill.body.metadata.totals.totalAmount).toBe(0.28)
    scene.leave()
  })
})

describe('above the limit', () => {
  it('[BIL-23] of a month nothing new starts, and the refusal has the figures, until it is raised', async () => {
    const scene = await podScene(gpus(2))
    const { call } = scene
    const { startMs } = monthOf(Date.now())
    await writeUsage(await scene.team(), [closed({ startedAtMs: startMs, endedAtMs: startMs + HOUR_MS, gpuNanosPerHour: 5_000_000_000 })])
    await call.patch(LIMITS, { perMonth: 5 })
    expect(await call.post(PODS, podBody())).toMatchObject({
      status: 402,
      body: {
        code: 'SPEND_LIMIT',
        detail: expect.stringMatching(/^spend limit: 5.00 of 5.00 USD of this month are spent, the request needs 0.4/),
      },
    })
    expect(await podsOf(scene.account)).toBe(0)
    await call.patch(LIMITS, { perMonth: 5.01 })
    await scene.create()
    scene.leave()
  })

  it('[BIL-22] a create is 402 with the figures, a dry run too, and ended resources make room', async () => {
    const scene = await podScene(gpus(4))
    const { call } = scene
    await call.patch(LIMITS, { perHour: 1 })
    const first = await scene.create()
    await scene.create()
    expect(await call.post(PODS, podBody())).toMatchObject(refused('0.88', '1.00'))
    expect(await call.post(`${PODS}?dryRun=true`, podBody())).toMatchObject(refused('0.88', '1.00'))
    expect(await podsOf(scene.account)).toBe(2)
    await scene.run(first.id)
    await scene.end(first.id)
    await scene.create()
    expect(await call.patch(LIMITS, { perHour: null })).toMatchObject({ status: 200 })
    await scene.create()
    scene.leave()
  })

  it('[BIL-22] a start is 402 as well; restart, stop and terminate never are', async () => {
    const scene = await podScene(gpus(4))
    const { call } = scene
    const { id } = await scene.create()
    await scene.run(id)
    const other = await scene.create()
    await scene.run(other.id)
    expect((await scene.act(id, 'stop')).status).toBe(200)
    await call.patch(LIMITS, { perHour: 0.44 })
    expect(await scene.act(id, 'start')).toMatchObject(refused('0.44', '0.44'))
    expect((await scene.get(id)).status).toBe('EXITED')
    expect((await call.patch(LIMITS, { perHour: 0.1 })).status).toBe(200)
    expect((await scene.act(other.id, 'restart')).status).toBe(200)
    expect((await scene.act(other.id, 'stop')).status).toBe(200)
    expect((await scene.act(id, 'terminate')).status).toBe(204)
    scene.leave()
  })

  it('[BIL-22] simultaneous creates never pass it together', async () => {
    const scene = await podScene(gpus(60))
    await scene.call.patch(LIMITS, { perHour: 10.1 * PRICE })
    const replies = await Promise.all(Array.from({ length: 50 }, () => scene.call.post(PODS, podBody())))
    const statuses = Map.groupBy(replies, ({ status }) => status)
    expect(statuses.get(201)).toHaveLength(10)
    expect(statuses.get(402)).toHaveLength(40)
    expect(await podsOf(scene.account)).toBe(10)
    scene.leave()
  })

  it('[BIL-22] of one account: the spend of another one does not count', async () => {
    const [scene, other] = [await podScene(gpus(2)), await podScene(gpus(2))]
    await scene.call.patch(LIMITS, { perHour: 0 })
    expect((await scene.call.post(PODS, podBody())).status).toBe(402)
    expect((await other.call.post(PODS, podBody())).status).toBe(201)
    scene.leave()
    other.leave()
  })

  it('[BIL-22] network volumes count, when they are made and when they grow', async () => {
    const { key } = await createAccount()
    const call = api(key)
    // 0.07 USD a GB and month, so 0.0959 an hour for a TB.
    await call.patch(LIMITS, { perHour: 0.05 })
    const body = { name: 'data', size: 1000, dataCenter: 'EU-RO-1' }
    expect(await call.post('/v2/network-volumes', body)).toMatchObject({ status: 402, body: { code: 'SPEND_LIMIT' } })
    const { id } = (await call.post('/v2/network-volumes', { ...body, size: 400 })).body
    const path = `/v2/network-volumes/${id}`
    expect(await call.patch(path, { size: 1000 })).toMatchObject({ status: 402, body: { code: 'SPEND_LIMIT' } })
    expect((await call.get(path)).body.size).toBe(400)
    expect((await call.patch(path, { size: 500 })).status).toBe(200)
    expect((await call.get(SUMMARY)).body.rate).toMatchObject({ networkVolumes: expect.closeTo(0.0479, 3), pods: 0 })
    expect((await call.patch(path, { name: 'renamed' })).status).toBe(200)
  })

  it('[BIL-26] a worker waits with the reason, and its job with it, until there is room', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 5 } })
    const call = api(queue.account.key)
    await call.patch(LIMITS, { perHour: 1 })
    const jobId = await run(queue)
    const reason = /^spend limit: 0\.00 of 1\.00 USD per hour in use, the request needs 1\.1\d; /
    const workers = async () => (await call.get(`/v2/serverless/${queue.endpointId}/workers`)).body.workers
    await until(async () => (await workers()).some((worker: { reason: string | null }) => reason.test(worker.reason ?? '')))
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_QUEUE')
    expect(JSON.stringify((await queue.get(`/explain/${jobId}`)).body)).toContain('spend limit: 0.00 of 1.00 USD per hour in use')
    await call.patch(LIMITS, { perHour: 2 })
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    expect((await call.get(SUMMARY)).body.rate).toMatchObject({ serverless: expect.closeTo(1.1, 1), pods: 0 })
  })
})
