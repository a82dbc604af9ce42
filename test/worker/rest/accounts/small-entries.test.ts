import { parseAllowList } from '../../../../src/domain/webhook/url.ts'
import { asPlane } from '../../../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../../../src/objects/stubs.ts'
import worker from '../../../../src/worker.ts'
import {
  api,
  createAccount,
  createKey,
  describe,
  endpointBody,
  env,
  expect,
  it,
  runInDurableObject,
  send,
} from '../../../support/harness.ts'
import { EventReader } from '../../../support/http/event-reader.ts'
import { runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

const fetchWith = (changes: object, url: string) =>
  worker.fetch(
    new Request(url, { headers: { Authorization: `Bearer ${env.OPERATOR_KEY}` } }) as Parameters<typeof worker.fetch>[0],
    { ...env, ...changes } as typeof env,
    { waitUntil: () => undefined, passThroughOnException: () => undefined } as unknown as ExecutionContext,
  )

describe('the operator API', () => {
  it('[L10][ADM-10] is served on ADMIN_HOST and nowhere else, its document too', async () => {
    const statuses = async (changes: object, host: string) =>
      Promise.all(
        ['/admin/v1/users', '/admin/v1/openapi.json', '/v2/openapi.json'].map(
          async (path) => (await fetchWith(changes, `http://${host}${path}`)).status,
        ),
      )
    expect(await statuses({}, 'plane.test')).toEqual([200, 200, 200])
    expect(await statuses({ ADMIN_HOST: 'Admin.test' }, 'admin.test')).toEqual([200, 200, 200])
    for (const host of ['plane.test', 'admin.test.evil.test', 'admin.test:81']) {
      expect([host, await statuses({ ADMIN_HOST: 'admin.test' }, host)]).toEqual([host, [404, 404, 200]])
    }
  })
})

describe('replies of the job API', () => {
  it('[L10][API-30] have the content type that they declare, for every caller and result', async () => {
    const queue = await setUpQueue()
    const { jobId } = await runAndTake(queue)
    const base = `/v2/${queue.endpointId}`
    const paths = [`${base}/health`, `${base}/status/${jobId}`, `${base}/status/nosuchjob`, `${base}/nosuch`, '/v2/nosuchendpoint/health']
    const replies = await Promise.all(paths.map((path) => api(queue.account.key).get(path)))
    replies.push(await queue.post('/run', { input: {} }), await queue.post('/run', '{'), await api(null).get(`${base}/health`))
    expect(new Set(replies.map(({ headers }) => headers.get('x-content-type-options')))).toEqual(new Set(['nosniff']))
    const stream = await send(`${base}/stream/${jobId}`, {
      headers: { Authorization: `Bearer ${queue.account.key}`, Accept: 'text/event-stream' },
    })
    expect(stream.headers.get('x-content-type-options')).toBe('nosniff')
    await stream.body?.cancel()
  })
})

describe('names', () => {
  const BAD = ['a\u0007', 'a\u0085b', '\u202egnp.exe', 'a\u2066b\u2069', 'a\u200bb', '\ufeffa', 'a\u2028b', 'x'.repeat(192)]

  it('[L9][GEN-10] contain no control characters or direction marks and have 191 characters at most', async () => {
    const { key } = await createAccount()
    const pod = { image: 'acme/idle:1', cpu: { id: 'cpu3c', vcpuCount: 2 } }
    const named: [string, object][] = [
      ['/v2/pods', pod],
      ['/v2/serverless', endpointBody()],
      ['/v2/templates', { image: 'acme/idle:1' }],
      ['/v2/registries', { username: 'u', password: 'p' }],
    ]
    for (const [path, body] of named) {
      for (const name of BAD) expect([path, name, (await api(key).post(path, { ...body, name })).status]).toEqual([path, name, 422])
    }
    const { results } = await env.DB.prepare('SELECT name FROM endpoints UNION SELECT name FROM templates').all<{ name: string }>()
    expect(results.filter(({ name }) => BAD.includes(name))).toEqual([])
    const good = ['x'.repeat(191), 'Модель', 'نموذج', '模型', '👩‍🚀 pod']
    for (const name of good)
      expect([name, (await api(key).post('/v2/templates', { image: 'acme/idle:1', name })).status]).toEqual([name, 201])
  })
})

describe('webhooks of a plane on one machine', () => {
  it('[M7][HOOK-21] reach the host for the named account alone', async () => {
    const [mine, theirs] = [await setUpQueue(), await setUpQueue()]
    const webhook = 'http://127.0.0.1:9/hook'
    const email = await env.DB.prepare('SELECT email FROM users WHERE id = ?').bind(mine.account.userId).first<string>('email')
    const set = (queue: typeof mine, allow: string, users: string[] | null) =>
      runInDurableObject(endpointStub(env, asPlane('endpoint', queue.endpointId, 'capacity appeared')), (object) => {
        Object.assign(object.core.settings, { webhookAllow: parseAllowList(allow), webhookAllowUsers: users })
      })
    for (const queue of [mine, theirs]) await set(queue, '127.0.0.0/8', [email ?? ''])
    try {
      expect((await mine.post('/run', { input: {}, webhook })).status).toBe(200)
      expect((await theirs.post('/run', { input: {}, webhook })).body.detail).toContain('$.webhook')
      // The parser decodes escapes in member names.
      const escaped = await theirs.post('/run', `{"input":{},"\\u0077ebhook":"${webhook}"}`)
      expect(escaped.status).toBe(400)
    } finally {
      for (const queue of [mine, theirs]) await set(queue, '', null)
    }
  })
})

describe('the stream of a job as JSON', () => {
  it('[L5] is drained by every caller who may read jobs; one who reads events drains nothing', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.stream(jobId, { output: 'a' })
    const reader = await createKey(queue.account.userId, { permission: 'READ_ONLY' })
    const path = `/v2/${queue.endpointId}/stream/${jobId}`
    const headers = { Authorization: `Bearer ${queue.account.key}`, Accept: 'text/event-stream' }
    const events = new EventReader(await send(path, { headers }))
    await events.until((text) => text.includes('"a"'))
    await events.leave()
    expect((await api(reader.key).get(path)).body.stream).toEqual([{ output: 'a' }])
    expect((await api(queue.account.key).get(path)).body.stream).toEqual([])
  })
})
