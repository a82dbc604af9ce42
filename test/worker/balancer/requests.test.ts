import { inFlightUse } from '../../../src/effects/in-flight.ts'
import {
  admin,
  api,
  createAccount,
  createEndpoint,
  createKey,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  send,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { reply, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { openRequests, type Scene, setUp, startWorker } from '../../support/queue/balancer-scene.ts'
import { advance } from '../../support/queue/queue.ts'
import { endpointStub, hostTunnelStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

describe('a request to a load-balancing endpoint', () => {
  it('[LB-1, LB-3, END-10] starts a worker, waits for it, and returns its response; the worker is given the port to listen on', async () => {
    const scene = await setUp({ env: { PORT: '8000', HEALTH_CHECK_PATH: '/ready' } })
    const asked = scene.ask('/v1/generate?n=2', { method: 'POST', body: 'hello', headers: { 'X-Own': 'yes' } })
    const workload = await scene.host.waitFor((one) => one.platformEnv.RUNPOD_ENDPOINT_ID === scene.endpointId)
    expect(await openRequests(scene)).toEqual({ inFlight: 0, waiting: 1, reason: expect.stringContaining('a worker is starting') })
    const { platformEnv, health } = workload
    expect([platformEnv.PORT, platformEnv.PORT_HEALTH, platformEnv.HEALTH_CHECK_PATH, health]).toEqual([
      '8000',
      '8000',
      '/ready',
      { port: 8_000, path: '/ready' },
    ])
    expect(Object.keys(platformEnv).filter((name) => /KEY|WEBHOOK/.test(name))).toEqual([])
    await startWorker(scene)
    const answer = await asked
    expect(answer.status).toBe(200)
    const received = (await answer.json()) as Record<string, unknown>
    expect(received).toMatchObject({
      kind: 'http',
      workloadId: workload.id,
      port: 8_000,
      method: 'POST',
      path: '/v1/generate?n=2',
      body: 'hello',
    })
    const names = Object.fromEntries(received.headers as [string, string][])
    expect([names['x-own'], names.authorization, names['x-forwarded-prefix']]).toEqual(['yes', undefined, `/lb/${scene.endpointId}`])
    await until(async () => (await openRequests(scene)).inFlight === 0)
  })

  it('[LB-6, LB-15] is 503 with the reason and Retry-After when no worker is ready in time', async () => {
    const scene = await setUp()
    await runInDurableObject(endpointStub(env, scene.endpointId), (object) => {
      object.core.pace.slotWaitMs = 50
    })
    const answer = await scene.ask('/')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10'])
    expect(((await answer.json()) as { detail: string }).detail).toMatch(/^no worker was free within 0\.05 s: /)
    const none = await setUp({ workers: { min: 0, max: 0 } })
    const refused = await none.ask('/')
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { title: 'Service Unavailable', status: 503, detail: 'workers.max is 0, so no worker may start' },
    ])
  })

  it('[LB-4, LB-5] goes to the worker with the fewest, at most requestCount at a time, and more requests bring another worker', async () => {
    const held: string[] = []
    const open: (() => void)[] = []
    const scene = await setUp(
      { scaling: { type: 'REQUEST_COUNT', requestCount: 2 }, workers: { min: 1, max: 2 } },
      async ({ stream, target }) => {
        stream.accept()
        held.push(target.workloadId)
        await new Promise<void>((resolve) => open.push(resolve))
        await reply(stream, 200, 'done')
      },
    )
    const first = await startWorker(scene)
    const asked = Array.from({ length: 4 }, () => scene.ask('/'))
    await until(() => held.length === 2)
    expect(await openRequests(scene)).toMatchObject({ inFlight: 2, waiting: 2 })
    const second = await startWorker(scene, [first])
    await until(() => held.length === 4)
    expect(held).toEqual([first, first, second, second])
    for (const go of open) go()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('[LB-9] goes to another worker when the first one was unreachable, and is 502 when the response broke off', async () => {
    let gone = ''
    const scene = await setUp({ workers: { min: 2, max: 2 } }, ({ stream, target }) => {
      gone ||= target.workloadId
      if (target.workloadId === gone) return stream.reset({ code: 'unreachable', detail: 'nothing listens' })
      stream.accept()
      if (target.path === '/break') return stream.reset({ code: 'broken', detail: 'the worker closed the connection' })
      return reply(stream, 200, target.workloadId)
    })
    const first = await startWorker(scene)
    const second = await startWorker(scene, [first])
    const answer = await scene.ask('/', { method: 'POST', body: 'x' })
    expect([answer.status, await answer.text()]).toEqual([200, gone === first ? second : first])
    const broken = await scene.ask('/break')
    expect([broken.status, ((await broken.json()) as { detail: string }).detail]).toEqual([
      502,
      'the worker did not finish its response: the worker closed the connection',
    ])
    await until(async () => (await openRequests(scene)).inFlight === 0)
  })

  it('[LB-16] frees its slot once, granted or not; the next waiting request gets it', async () => {
    const scene = await setUp({ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 1, max: 1 } })
    const worker = await startWorker(scene)
    await runInDurableObject(endpointStub(env, scene.endpointId), async ({ core: { slots } }) => {
      const released: string[] = []
      const take = (lease: string) => slots.take(lease, () => void released.push(lease), new AbortController().signal, 60_000)
      expect(await take('first')).toMatchObject({ lease: 'first', workerId: worker })
      const [second, third] = [take('second'), take('third')]
      expect([slots.held().get(worker), slots.waiting()]).toEqual([1, 2])
      slots.giveBack('second')
      expect([await second, slots.waiting(), released]).toEqual([null, 1, ['second']])
      slots.giveBack('first')
      expect(await third).toMatchObject({ lease: 'third', workerId: worker })
      for (const lease of ['first', 'second', 'none']) slots.giveBack(lease)
      expect([slots.held().get(worker), released]).toEqual([1, ['second', 'first']])
      slots.giveBack('third')
      expect([slots.held().size, released]).toEqual([0, ['second', 'first', 'third']])
    })
  })

  it('[LB-1] streams: data of a worker arrives before it has finished, and a client that leaves ends the request', async () => {
    let stream: Parameters<Serve>[0]['stream'] | undefined
    const scene = await setUp({ workers: { min: 1, max: 1 } }, async (served) => {
      stream = served.stream
      stream.accept()
      stream.sendHead({ status: 200, headers: [['content-type', 'text/event-stream']] })
      await stream.write(new TextEncoder().encode('data: 1\n\n'))
    })
    await startWorker(scene)
    const leaving = new AbortController()
    const answer = await scene.ask('/events', { signal: leaving.signal })
    const reader = answer.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n')
    leaving.abort()
    await reader?.cancel().catch(() => undefined)
    await stream?.over
    await until(async () => (await openRequests(scene)).inFlight === 0)
  })

  it("[LB-12, LB-13] hides the key from the worker and the connection from the client; under the plane's own address no cookie is set", async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } }, async ({ stream }) => {
      stream.accept()
      const headers = { 'set-cookie': 'a=1', connection: 'x-hop', 'x-hop': '1', 'x-podplane-failure': 'forged', 'x-own': '2' }
      await reply(stream, 201, 'ok', Object.entries(headers))
    })
    await startWorker(scene)
    const answer = await scene.ask('/', { headers: { Cookie: 'console=secret', 'X-Forwarded-For': '1.2.3.4', 'X-Podplane-User': 'root' } })
    const { headers } = answer
    expect([answer.status, headers.get('x-own'), headers.get('x-hop'), headers.get('set-cookie')]).toEqual([201, '2', null, null])
    expect(headers.get('content-security-policy')).toBe('sandbox')
    const received = Object.fromEntries(scene.tunnel.served.at(-1)?.target.headers ?? [])
    expect(['authorization', 'cookie', 'x-podplane-user'].map((name) => received[name])).toEqual([undefined, undefined, undefined])
  })

  it('[LB-2] without a domain of the operator the endpoint answers below /lb/, which is named in requestUrls', async () => {
    const scene = await setUp()
    const shown = await api(scene.account.key).get(`/v2/serverless/${scene.endpointId}`)
    const base = `http://plane.test/lb/${scene.endpointId}`
    expect(shown.body).toMatchObject({ type: 'LOAD_BALANCER', requestUrls: { base, health: `${base}/ping` }, workers: { idleTimeout: 60 } })
    expect(shown.body.scaling).toEqual({ type: 'REQUEST_COUNT', requestCount: 4 })
  })

  it('[LB-10, AUT-5] needs a key that may write jobs of this endpoint; for other keys the endpoint does not exist', async () => {
    const scene = await setUp()
    const otherTenant = await createAccount()
    const reader = await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes: ['jobs:read'] })
    const statuses = await Promise.all(
      [otherTenant.key, reader.key, 'nonsense'].map(
        async (key) => (await scene.ask('/', { headers: { Authorization: `Bearer ${key}` } })).status,
      ),
    )
    const unknown = await send('/lb/nosuchendpoint/', { headers: { Authorization: `Bearer ${scene.account.key}` } })
    expect([...statuses, unknown.status]).toEqual([404, 401, 401, 404])
    expect(await openRequests(scene)).toEqual({ inFlight: 0, waiting: 0 })
  })

  it('[LB-14] is refused by an endpoint of the other kind, with the right path', async () => {
    const scene = await setUp()
    const call = api(scene.account.key)
    const run = await call.post(`/v2/${scene.endpointId}/run`, { input: {} })
    const status = await call.get(`/v2/${scene.endpointId}/status/x`)
    const queue = await createEndpoint(scene.account.key)
    const asked = await send(`/lb/${queue}/`, { headers: { Authorization: `Bearer ${scene.account.key}` } })
    expect([run.status, status.status, asked.status]).toEqual([400, 400, 400])
    expect(run.body.detail).toContain('requestUrls.base')
  })

  it('[LB-11] is refused before any of its body is forwarded, if that is above 100 MiB', async () => {
    const scene = await setUp()
    const answer = await scene.ask('/', { method: 'POST', body: 'x', headers: { 'Content-Length': String(100 * 2 ** 20 + 1) } })
    expect(answer.status).toBe(413)
  })

  it('[REST-20] of unknown length counts by the bytes received, and is refused where its account has no room', async () => {
    const scene = await setUp({ scaling: { type: 'REQUEST_COUNT', requestCount: 20 } })
    const { account } = scene
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { inFlightBytes: 2 ** 20 })
    const teamId = await teamOf(account)
    const chunked = (bytes: number) =>
      scene.ask('/', { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, body: new Response('x'.repeat(bytes)).body })
    const first = chunked(10)
    await startWorker(scene)
    expect((await first).status).toBe(200)
    const small = await Promise.all(Array.from({ length: 10 }, () => chunked(10)))
    expect(small.map(({ status }) => status)).toEqual(small.map(() => 200))
    expect((await inFlightUse(env, teamId, Date.now())).used).toBe(110)
    const [one, another] = [await chunked(0.7 * 2 ** 20), await chunked(0.7 * 2 ** 20)]
    expect([one.status, another.status, another.headers.get('retry-after')]).toEqual([200, 429, '1'])
  })
})

describe('its workers', () => {
  it('[LB-16] keep their requests and slots over a restart of the object', async () => {
    const scene = await setUp({ workers: { min: 0, max: 1, idleTimeout: 1 } }, ({ stream }) => stream.accept())
    const leaving = new AbortController()
    const asked = scene.ask('/', { signal: leaving.signal }).catch(() => null)
    const workerId = await startWorker(scene)
    await until(async () => (await openRequests(scene)).inFlight === 1)
    const stub = () => endpointStub(env, scene.endpointId)
    const phase = () => runInDurableObject(stub(), (object) => object.core.state.workers.get(workerId)?.phase ?? 'gone')
    await runInDurableObject(stub(), (_, state) => state.abort('restarted')).catch(() => null)
    await advance(scene.endpointId, 10_000)
    expect([await openRequests(scene), await phase()]).toEqual([{ inFlight: 0, waiting: 0 }, 'READY'])
    await stub().renewSlots([{ endpointId: scene.endpointId, workerId, lease: 'kept' }])
    await advance(scene.endpointId, 55_000)
    expect([await openRequests(scene), await phase()]).toEqual([{ inFlight: 1, waiting: 0 }, 'READY'])
    leaving.abort()
    await asked
    await stub().releaseSlot({ endpointId: scene.endpointId, workerId, lease: 'kept' }, true)
    await until(async () => (await openRequests(scene)).inFlight === 0)
    await advance(scene.endpointId, 5_000)
    await until(async () => (await phase()) === 'DRAINING')
  })

  it('[LB-24] are stored as busy once for quick requests, and a second after the last one as idle since its end', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } })
    const workerId = await startWorker(scene)
    const stub = endpointStub(env, scene.endpointId)
    const idleSinceMs = () =>
      runInDurableObject(stub, ({ core }) => {
        const worker = core.state.workers.get(workerId)
        return worker?.phase === 'READY' ? worker.idleSinceMs : undefined
      })
    await scene.ask('/')
    const commits = await runInDurableObject(stub, ({ core }) => vi.spyOn(core, 'transact'))
    for (let asked = 0; asked < 5; asked += 1) await scene.ask('/')
    await until(async () => (await openRequests(scene)).inFlight === 0)
    const endedMs = Date.now()
    expect([commits.mock.calls.length, await idleSinceMs()]).toEqual([0, null])
    await until(async () => (await idleSinceMs()) !== null)
    commits.mockRestore()
    expect([Date.now() - endedMs >= 900, Number(await idleSinceMs()) <= endedMs]).toEqual([true, true])
  })

  it('[LB-17] of an older release get no new request and end after their last one', async () => {
    const open: (() => void)[] = []
    const scene = await setUp({ workers: { min: 1, max: 2 } }, async ({ stream, target }) => {
      stream.accept()
      await new Promise<void>((resolve) => open.push(resolve))
      await reply(stream, 200, target.workloadId)
    })
    const old = await startWorker(scene)
    const first = scene.ask('/')
    await until(() => open.length === 1)
    await api(scene.account.key).patch(`/v2/serverless/${scene.endpointId}`, { image: 'registry.example/app:2' })
    const second = scene.ask('/')
    const next = await startWorker(scene, [old])
    await until(() => open.length === 2)
    for (const go of open) go()
    expect([await (await first).text(), await (await second).text()]).toEqual([old, next])
    await scene.host.waitFor((one) => one.id === old && one.desired === 'stopped')
  })

  it('[LB-18] of a draining host wait for requests as long as `timeout`, and for none when the endpoint is deleted', async () => {
    const isStopped = (scene: Scene, id: string) => scene.host.desired().some((one) => one.id === id && one.desired === 'stopped')
    const hold: Serve = ({ stream }) => stream.accept()
    const drained = await setUp({ workers: { min: 1, max: 1 }, timeout: 60_000 }, hold)
    const first = await startWorker(drained)
    const asked = drained.ask('/').catch(() => null)
    await until(() => drained.tunnel.served.length === 1)
    const stub = endpointStub(env, drained.endpointId)
    await stub.hostChanged([first], { kind: 'draining' })
    await advance(drained.endpointId, 40_000)
    expect(isStopped(drained, first)).toBe(false)
    await stub.renewSlots([{ endpointId: drained.endpointId, workerId: first, lease: 'open' }])
    await advance(drained.endpointId, 21_000)
    await until(() => isStopped(drained, first))
    const deleted = await setUp({ workers: { min: 1, max: 1 } }, hold)
    const second = await startWorker(deleted)
    const last = deleted.ask('/').catch(() => null)
    await until(() => deleted.tunnel.served.length === 1)
    await api(deleted.account.key).delete(`/v2/serverless/${deleted.endpointId}`)
    await until(() => isStopped(deleted, second))
    // The tunnel of the second scene has replaced that of the first.
    for (const { stream } of deleted.tunnel.served) stream.reset({ code: 'broken', detail: 'over' })
    await Promise.all([asked, last])
  })

  it('[HOST-127] are not reached on a host whose tunnel has been silent for 30 s', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } })
    await startWorker(scene)
    await runInDurableObject(endpointStub(env, scene.endpointId), (object) => {
      object.core.pace.slotWaitMs = 50
    })
    await runInDurableObject(hostTunnelStub(env, scene.host.id), (object) => {
      object.now = () => Date.now() + 30_001
    })
    const answer = await scene.ask('/')
    expect([answer.status, scene.tunnel.served]).toEqual([503, []])
    await runInDurableObject(hostTunnelStub(env, scene.host.id), (object) => {
      object.now = () => Date.now()
    })
  })

  it('[LB-7] get no request while they fail their checks', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } })
    const id = await startWorker(scene)
    expect((await scene.ask('/')).status).toBe(200)
    await scene.host.report(id, { state: 'running', health: 'failing', reason: 'GET /ping on port 80: answered 500' })
    const asked = scene.ask('/')
    await until(async () => (await openRequests(scene)).waiting === 1)
    expect((await openRequests(scene)).reason).toContain('answered 500')
    await scene.host.report(id, { state: 'running', health: 'healthy' })
    expect((await asked).status).toBe(200)
  })

  it('[LB-5] end after the idle timeout without a request, and not with one', async () => {
    const scene = await setUp({ workers: { min: 0, max: 1, idleTimeout: 1 } }, ({ stream }) => stream.accept())
    const leaving = new AbortController()
    const asked = scene.ask('/', { signal: leaving.signal }).catch(() => null)
    const id = await startWorker(scene)
    await until(() => scene.tunnel.served.length === 1)
    const stub = endpointStub(env, scene.endpointId)
    const phase = () => runInDurableObject(stub, (object) => object.core.state.workers.get(id)?.phase ?? 'gone')
    await advance(scene.endpointId, 5_000)
    expect(await phase()).toBe('READY')
    leaving.abort()
    await asked
    await until(async () => (await openRequests(scene)).inFlight === 0)
    await advance(scene.endpointId, 5_000)
    await until(async () => (await phase()) === 'DRAINING')
  })
})
