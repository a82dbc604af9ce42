import { auditOf, auditRows } from '../../support/access/audited.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import {
  afterEach,
  api,
  createAccount,
  createEndpoint,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podBody, podScene } from '../../support/pods/pod-scene.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub } from '../../support/runner/stubs.ts'
import { waitUntil } from '../../support/time.ts'

const SECRET = 'hunter2-canary'
const DIGEST = expect.stringMatching(/^hmac-sha256:[\w-]{16}$/)

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the audit row of a change', () => {
  it('[AUD-3] [AUD-4] contains env as names and digests, and for a PATCH only the changed members', async () => {
    const account = await createAccount()
    const id = await createEndpoint(account.key, { env: { TOKEN: SECRET, MODE: 'a' } })
    await api(account.key).patch(`/v2/serverless/${id}`, { env: { TOKEN: SECRET, MODE: 'b' }, workers: { max: 7 } })
    await api(account.key).delete(`/v2/serverless/${id}`)
    const rows = (await auditOf(account)).filter(({ resourceId }) => resourceId === id)
    expect(rows.map(({ action, before }) => ({ action, before }))).toEqual([
      { action: 'endpoints.create', before: null },
      { action: 'endpoints.update', before: { 'env.MODE': DIGEST, version: 1, workers: expect.objectContaining({ max: 3 }) } },
      { action: 'endpoints.delete', before: {} },
    ])
    const [created, updated, deleted] = rows.map(({ after }) => after)
    expect(created).toMatchObject({ name: 'echo', image: 'builtin/echo', version: 1, 'env.TOKEN': DIGEST, 'env.MODE': DIGEST })
    expect(updated).toEqual({ 'env.MODE': DIGEST, version: 2, workers: expect.objectContaining({ max: 7 }) })
    expect(updated?.['env.MODE']).not.toEqual(created?.['env.MODE'])
    expect(deleted).toBeNull()
    expect(JSON.stringify(rows)).not.toContain(SECRET)
  })

  it('[AUD-3] contains the name and the host of a registry login', async () => {
    const account = await createAccount()
    const reply = await api(account.key).post('/v2/registries', { name: 'ghcr', username: 'ada', password: SECRET, host: 'ghcr.io' })
    const rows = await auditRows('resource_id = ?', reply.body.id)
    expect(rows.map(({ before, after }) => ({ before, after }))).toEqual([{ before: null, after: { name: 'ghcr', host: 'ghcr.io' } }])
  })

  it('[AUD-2] is not written for a change that is refused on write', async () => {
    const { key, ...account } = await createAccount()
    const body = { name: 'taken', image: 'acme/idle:1' }
    expect((await api(key).post('/v2/templates', body)).status).toBe(201)
    const refused = await api(key).post('/v2/templates', body)
    expect(refused.status).toBe(400)
    expect(await auditRows('request_id = ?', refused.headers.get('x-request-id'))).toEqual([])
    const templates = (await auditOf({ key, ...account })).filter(({ resourceKind }) => resourceKind === 'template')
    expect(templates).toHaveLength(1)
  })

  it('[AUD-5] is written for changes of a pod by hosts and the plane: ended by itself, its host lost', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.host.report(`${id}-1`, { state: 'exited' })
    const rows = await waitUntil('a row of the host', async () => {
      const found = await auditRows('resource_id = ?', id)
      return found.length > 1 && found
    })
    expect(rows.map(({ action, actorKind, credentialId, before, after }) => ({ action, actorKind, credentialId, before, after }))).toEqual([
      {
        action: 'pods.create',
        actorKind: 'KEY',
        credentialId: scene.account.keyId,
        before: null,
        after: expect.objectContaining({ wanted: 'RUNNING' }),
      },
      {
        action: 'pods.report',
        actorKind: 'HOST',
        credentialId: scene.host.id,
        before: { wanted: 'RUNNING' },
        after: { wanted: 'STOPPED' },
      },
    ])
    scene.host.leave()
  })
})

describe('[AUD-6] a row about a change in D1', () => {
  it('is written in the batch of its change, without a call of its own', async () => {
    await FakeHost.join()
    const account = await createAccount()
    const template = (name: string) => api(account.key).post('/v2/templates', { name, image: 'acme/idle:1' })
    // The first request fills the caches of the key.
    await template('first')
    const calls = watchDatabase()
    expect((await template('second')).status).toBe(201)
    expect(calls.splice(0)).toHaveLength(1)
    const pod = await api(account.key).post('/v2/pods', podBody({ gpu: { id: 'NVIDIA GeForce RTX 4090' } }))
    expect(pod.status).toBe(201)
    await api(account.key).patch(`/v2/pods/${pod.body.id}`, { name: 'other' })
    const audited = calls.filter((statements) => statements.some((text) => text.includes('"audit"')))
    expect(audited).toHaveLength(2)
    for (const statements of audited) {
      const at = statements.findIndex((text) => text.includes('"audit"'))
      expect(statements[at - 1]).toMatch(/^(insert into|update|delete from) "pods"/i)
    }
  })
})

describe('[AUD-7] a row about a change in an object', () => {
  it('waits in the object until the database accepts it, and is written once', async () => {
    const queue = await setUpQueue()
    await run(queue, { n: 1 })
    const down = vi.spyOn(Object.getPrototypeOf(env.DB), 'batch').mockRejectedValue(new Error('D1 is away'))
    expect((await queue.post('/purge-queue')).status).toBe(200)
    const stub = endpointStub(env, queue.endpointId)
    await waitUntil('a hand-over that fails', () => down.mock.calls.length > 0)
    expect(await runInDurableObject(stub, ({ core }) => core.audit.size)).toBe(1)
    down.mockRestore()
    await runInDurableObject(stub, async ({ core }) => {
      core.now = () => Date.now() + 120_000
      await core.audit.drain()
      await core.audit.drain()
    })
    const rows = await auditRows("team_id = ? AND action = 'queues.purge'", await teamOf(queue.account))
    expect(rows.map(({ resourceId, before, after }) => ({ resourceId, before, after }))).toEqual([
      { resourceId: queue.endpointId, before: { queued: 1 }, after: { queued: 0 } },
    ])
    expect(await runInDurableObject(stub, ({ core }) => core.audit.size)).toBe(0)
  })

  it('is not written for a job that was over already', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, { n: 1 })
    for (let n = 0; n < 2; n += 1) expect((await queue.post(`/cancel/${jobId}`)).status).toBe(200)
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => core.audit.drain())
    const cancelled = () => auditRows('resource_id = ?', jobId)
    await waitUntil('the row', async () => (await cancelled()).length > 0)
    expect((await cancelled()).map(({ action, before }) => ({ action, before }))).toEqual([
      { action: 'jobs.cancel', before: { status: 'IN_QUEUE' } },
    ])
  })
})
