import { STREAM_CHECKS } from '../../../../src/http/watched/watched-stream.ts'
import { authenticate, isStillGood } from '../../../../src/services/authenticate.ts'
import { dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import { FakeProvider } from '../../../support/access/provider.ts'
import {
  admin,
  afterEach,
  api,
  beforeEach,
  createAccount,
  createKey,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  send,
  teamOf,
  vi,
} from '../../../support/harness.ts'
import { EventReader } from '../../../support/http/event-reader.ts'
import { podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { readLog } from '../../../support/pods/pods.ts'
import { type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { until } from '../../../support/time.ts'

const suspend = (userId: string, word = 'suspend') => admin().post(`/admin/v1/users/${userId}/${word}`)
const PREVIOUS = { ...STREAM_CHECKS }
const usageOf = async (podId: string) =>
  (await env.DB.prepare('SELECT ended_at FROM usage WHERE workload_id = ?').bind(podId).all()).results

async function openEvents(queue: QueueSetup, jobId: string, key: string): Promise<EventReader> {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'text/event-stream' }
  return new EventReader(await send(`/v2/${queue.endpointId}/stream/${jobId}`, { headers }))
}

describe('a suspended account', () => {
  it('[M10][DER-40] its keys are refused on every surface with the reason, and are valid again when it is resumed', async () => {
    const queue = await setUpQueue()
    const { key, userId } = queue.account
    const bystander = await setUpQueue()
    expect(await suspend(userId)).toMatchObject({
      status: 200,
      body: { userId, suspendedAt: expect.any(String), endpoints: 1, failed: [] },
    })
    for (const path of ['/v2/pods', `/v2/serverless/${queue.endpointId}`, `/v2/${queue.endpointId}/health`]) {
      const reply = await api(key).get(path)
      expect([path, reply.status, JSON.stringify(reply.body)]).toEqual([path, 403, expect.stringContaining('suspended')])
    }
    expect((await api(bystander.account.key).get('/v2/pods')).status).toBe(200)
    expect(await suspend(userId, 'resume')).toMatchObject({ status: 200, body: { suspendedAt: null } })
    expect((await api(key).get('/v2/pods')).status).toBe(200)
    expect((await suspend('nosuchuser')).status).toBe(404)
  })

  it('[M10][DER-40] a suspended user acts for no organization either; the organization and its other members continue', async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await createOrganization(owner.key)
    const key = await createKey(member.userId)
    await joinTeam(team, member, 'DEV')
    await joinTeam(team, owner, 'OWNER')
    const ownersKey = await createKey(owner.userId)
    for (const { id } of [key, ownersKey]) await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, id).run()
    dropCachedDecisions()
    expect((await api(key.key).get('/v2/pods')).status).toBe(200)
    await suspend(member.userId)
    expect((await api(key.key).get('/v2/pods')).status).toBe(403)
    expect((await api(ownersKey.key).get('/v2/pods')).status).toBe(200)
    await suspend(member.userId, 'resume')
    expect((await api(key.key).get('/v2/pods')).status).toBe(200)
  })

  it('[DER-41] a suspended organization: its keys and sessions are refused and its pods stop; its members keep their own accounts', async () => {
    const scene = await podScene()
    const member = await createAccount()
    const team = await createOrganization(scene.account.key)
    await joinTeam(team, member, 'DEV')
    const [key, others] = [await createKeyIn(team, scene.account), await createKeyIn(team, member)]
    const pod = await api(key.key).post('/v2/pods', podBody())
    await scene.run(pod.body.id)
    const provider = await FakeProvider.start()
    const session = (account: string) =>
      send('/v2/pods', { headers: { Authorization: `Bearer ${token}`, 'X-Team-Id': account } }).then(({ status }) => status)
    const token = await provider.token({ email: member.email })
    const suspended = (word: string) => admin().post(`/admin/v1/organizations/${team}/${word}`)
    expect((await suspended('suspend')).body).toMatchObject({ organizationId: team, suspendedAt: expect.any(String), pods: 1, failed: [] })
    await scene.host.waitFor(({ id, desired }) => id === `${pod.body.id}-1` && desired !== 'running')
    const statuses = await Promise.all([key.key, others.key, member.key].map(async (one) => (await api(one).get('/v2/pods')).status))
    expect([...statuses, await session(team), await session('')]).toEqual([403, 403, 200, 403, 200])
    expect((await suspended('resume')).body).toMatchObject({ suspendedAt: null, pods: 1 })
    expect([(await api(key.key).get('/v2/pods')).status, await session(team)]).toEqual([200, 200])
    expect((await admin().post(`/admin/v1/organizations/${await teamOf(member)}/suspend`)).status).toBe(404)
    scene.leave()
  })

  it('[M10][DER-40] its workers end, and its jobs wait without a loss until it is resumed', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue, { n: 1 })
    const waiting = await run(queue, { n: 2 })
    await suspend(queue.account.userId)
    await queue.host.waitFor(({ id, desired }) => id === worker.id && desired === 'stopped')
    await queue.host.report(worker.id, { state: 'gone' })
    const rows = await env.DB.prepare("SELECT id FROM allocations WHERE kind = 'worker' AND owner_id = ?").bind(queue.endpointId)
    await until(async () => (await rows.all()).results.length === 0)
    await suspend(queue.account.userId, 'resume')
    const states = await Promise.all([jobId, waiting].map((id) => queue.get(`/status/${id}`)))
    expect(states.map(({ body }) => [body.status, body.retries ?? 0])).toEqual([
      ['IN_QUEUE', 0],
      ['IN_QUEUE', 0],
    ])
    const next = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await next.take())?.id).toBe(jobId)
    await next.done(jobId, { output: 1 })
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('COMPLETED')
  })

  it('[M10][DER-40] its pods stop with the reason, a locked one too, and cost nothing; they start again when it is resumed', async () => {
    const scene = await podScene()
    const pod = await scene.create()
    await scene.run(pod.id)
    await scene.call.patch(`/v2/pods/${pod.id}`, { locked: true })
    const own = await scene.create()
    await scene.run(own.id)
    await scene.act(own.id, 'stop')
    expect(await suspend(scene.account.userId)).toMatchObject({ status: 200, body: { pods: 1, failed: [] } })
    await scene.host.waitFor(({ id, desired }) => id === `${pod.id}-1` && desired !== 'running')
    await scene.host.report(`${pod.id}-1`, { state: 'exited' })
    const row = await env.DB.prepare('SELECT status, status_reason, charged_from FROM pods WHERE id = ?').bind(pod.id).first()
    expect(row).toEqual({ status: 'EXITED', status_reason: 'stopped: the account is suspended by the operator', charged_from: null })
    expect(await usageOf(pod.id)).toHaveLength(1)
    // A repeated request changes nothing.
    expect((await suspend(scene.account.userId)).body).toMatchObject({ pods: 0, failed: [] })
    expect((await suspend(scene.account.userId, 'resume')).body).toMatchObject({ pods: 1, failed: [] })
    await scene.run(pod.id, 2)
    expect(await scene.get(pod.id)).toMatchObject({ status: 'RUNNING', statusReason: null, locked: true })
    expect(await scene.get(own.id)).toMatchObject({ status: 'EXITED', statusReason: null })
    scene.leave()
  })

  it('[M10][DER-40] gets nothing of a host, even with a key that is still cached elsewhere', async () => {
    const scene = await podScene()
    const pod = await scene.create()
    await scene.run(pod.id)
    await scene.act(pod.id, 'stop')
    await scene.host.report(`${pod.id}-1`, { state: 'exited' })
    // As in another isolate: the row is updated, and the cached decision remains.
    await env.DB.prepare('UPDATE teams SET suspended_at = 1 WHERE id = ?')
      .bind(await scene.team())
      .run()
    expect((await scene.call.post('/v2/pods', { name: 'p', image: 'acme/idle:1', cpu: { id: 'cpu3c', vcpuCount: 2 } })).status).toBe(403)
    expect((await scene.act(pod.id, 'start')).status).toBe(403)
    const row = await env.DB.prepare('SELECT COUNT(*) AS pods FROM pods WHERE team_id = ?')
      .bind(await scene.team())
      .first()
    expect(row).toEqual({ pods: 1 })
    scene.leave()
  })
})

describe('open streams', () => {
  beforeEach(() => {
    STREAM_CHECKS.everyMs = 20
  })
  afterEach(() => {
    STREAM_CHECKS.everyMs = PREVIOUS.everyMs
  })

  it('[M5][DER-42] of a job end when their key is revoked, and continue for others', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const reader = await createKey(queue.account.userId)
    const [doomed, other] = [await openEvents(queue, jobId, reader.key), await openEvents(queue, jobId, queue.account.key)]
    await worker.stream(jobId, { output: 'a' })
    await Promise.all([doomed, other].map((stream) => stream.until((text) => text.includes('"a"'))))
    expect((await admin().delete(`/admin/v1/keys/${reader.id}`)).status).toBe(204)
    expect(await doomed.rest()).not.toContain('"b"')
    await worker.stream(jobId, { output: 'b' })
    await other.until((text) => text.includes('"b"'))
    await worker.done(jobId, { output: [] }, true)
    expect(await other.rest()).toContain('event: end')
  })

  it('[M5][M10][DER-42] of a job and of a log end when the account is suspended', async () => {
    const scene = await podScene()
    const pod = await scene.create()
    await scene.run(pod.id)
    const log = await readLog({ account: scene.account, id: pod.id })
    await suspend(scene.account.userId)
    await log.ended()
    scene.leave()
  })

  it('[DER-28] of a key end when its maker loses permissions, and continue for the keys of others', async () => {
    const scene = await podScene()
    const member = await createAccount()
    const team = await createOrganization(scene.account.key)
    await joinTeam(team, member, 'DEV')
    const [theirs, own] = [await createKeyIn(team, member), await createKeyIn(team, scene.account)]
    const pod = await api(own.key).post('/v2/pods', podBody())
    await scene.run(pod.body.id)
    const read = ({ key }: { key: string }) => readLog({ account: { ...member, key }, id: pod.body.id })
    const [doomed, other] = [await read(theirs), await read(own)]
    await api(scene.account.key).patch(`/v2/organizations/${team}/members/${member.userId}`, { role: 'BILLING' })
    await doomed.ended()
    await scene.host.ship(await scene.host.waitFor(({ id }) => id === `${pod.body.id}-1`), ['still here'])
    expect(await other.lines(1)).toEqual(['still here'])
    await other.close()
    scene.leave()
  })

  it('[M5][KEY-11] of one key cost one D1 query a minute together, and all end with it', async () => {
    const { key, keyId } = await createAccount()
    const { everyMs: tickMs, maxAgeMs } = PREVIOUS
    const header = `Bearer ${key}`
    const caller = await authenticate(env, header, Date.now())
    if (!caller.ok) throw new Error(caller.problem)
    dropCachedDecisions()
    const ask = (nowMs: number) =>
      Promise.all(Array.from({ length: 100 }, () => isStillGood(env, header, caller.principal, nowMs, maxAgeMs)))
    const prepare = vi.spyOn(env.DB, 'prepare')
    const startMs = Date.now()
    for (let nowMs = startMs; nowMs < startMs + 600_000; nowMs += tickMs) expect(new Set(await ask(nowMs))).toEqual(new Set([true]))
    expect(prepare.mock.calls.length).toBeGreaterThan(9)
    expect(prepare.mock.calls.length).toBeLessThanOrEqual(11)
    prepare.mockRestore()
    // As in another isolate: the cached decision of this one remains.
    await env.DB.prepare('UPDATE api_keys SET revoked_at = 1 WHERE id = ?').bind(keyId).run()
    await ask(startMs + 660_000)
    expect(new Set(await ask(startMs + 660_000))).toEqual(new Set([false]))
  })
})
