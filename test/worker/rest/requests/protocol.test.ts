import { RESERVED_WORDS } from '../../../../src/contract/reserved-words.ts'
import { adminDocument } from '../../../../src/http/admin-api.ts'
import { restDocument } from '../../../../src/http/rest-api.ts'
import { UNSCOPED } from '../../../support/access/operations.ts'
import { admin, api, createAccount, createEndpoint, createKey, describe, endpointBody, expect, it, send } from '../../../support/harness.ts'

const PATH = '/v2/serverless'
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('body size', () => {
  const bodyOf = (bytes: number) => {
    const empty = JSON.stringify(endpointBody({ env: { A: '' } })).length
    return endpointBody({ env: { A: 'a'.repeat(bytes - empty) } })
  }

  it('[RATE-6] 102400 bytes pass, one more is 413', async () => {
    const { key } = await createAccount()
    expect((await api(key).post(PATH, bodyOf(102_400))).status).toBe(201)
    expect(await api(key).post(PATH, bodyOf(102_401))).toMatchObject({
      status: 413,
      body: { title: 'Payload Too Large', status: 413, detail: 'request body exceeds 102400 bytes' },
    })
  })

  it('[ERR-6][RATE-3] is decided before the key, so without rate limit headers', async () => {
    const reply = await api(null).post(PATH, bodyOf(102_401))
    expect(reply.status).toBe(413)
    expect(reply.headers.get('ratelimit')).toBeNull()
  })

  it('[RATE-6] the declared length of a chunked body is ignored', async () => {
    const account = await createAccount()
    const reply = await send('/v2/serverless', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${account.key}`,
        'Content-Type': 'application/json',
        'Content-Length': '20',
        'Transfer-Encoding': 'chunked',
      },
      body: new Response(JSON.stringify({ name: 'x'.repeat(200_000) })).body,
    })
    expect(reply.status).toBe(413)
  })

  it('[RATE-6][REST-11] a body of undeclared length is measured as well', async () => {
    const { key } = await createAccount()
    const stream = (bytes: number) => {
      const text = new TextEncoder().encode(JSON.stringify(bodyOf(bytes)))
      return new ReadableStream({
        start(controller) {
          for (let at = 0; at < text.length; at += 10_000) controller.enqueue(text.slice(at, at + 10_000))
          controller.close()
        },
      })
    }
    const post = (bytes: number, headers: Record<string, string>) =>
      send(PATH, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: stream(bytes) })
    expect((await post(102_401, {})).status).toBe(413)
    expect((await post(102_400, { Authorization: `Bearer ${key}` })).status).toBe(201)
  })
})

describe('content type', () => {
  it('[ERR-2] [REST-10] a body that is not `application/json` is 415', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'application/merge-patch+json']
    for (const type of types) {
      const refused = {
        status: 415,
        body: { title: 'Unsupported Media Type', status: 415, detail: 'content type must be application/json' },
      }
      expect(await api(key).post(PATH, JSON.stringify(endpointBody()), { 'Content-Type': type }), type).toMatchObject(refused)
      expect(await api(key).patch(`${PATH}/${id}`, { workers: { max: 2 } }, { 'Content-Type': type }), type).toMatchObject(refused)
    }
    expect((await api(key).get(`${PATH}/${id}`)).body.workers.max).toBe(3)
    expect((await api(key).post(PATH, endpointBody(), { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(201)
  })

  it('[REST-10] a body without a content type is validated nevertheless', async () => {
    const { key } = await createAccount()
    const bare = await send(PATH, { method: 'POST', headers: { Authorization: `Bearer ${key}` }, body: new Uint8Array([123, 125]) })
    expect(bare.status).toBe(415)
    const none = await send(PATH, { method: 'POST', headers: { Authorization: `Bearer ${key}` } })
    expect(none.status).toBe(400)
  })

  it('[REST-10] a trailing slash is another path', async () => {
    const { key } = await createAccount()
    expect((await api(key).get(`${PATH}/`)).status).toBe(404)
    expect((await api(key).get(PATH)).status).toBe(200)
  })
})

describe('paths and methods', () => {
  it('[ERR-2] another method of a known path is 405 with Allow', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    expect(await api(key).put(PATH, {})).toMatchObject({
      status: 405,
      body: { title: 'Method Not Allowed', status: 405, detail: 'The requested method is not allowed for this path.' },
    })
    expect((await api(key).delete(PATH)).headers.get('allow')).toBe('GET, POST')
    expect((await api(key).post(`${PATH}/${id}`, {})).headers.get('allow')).toBe('GET, PATCH, DELETE')
  })

  it('[ERR-6] 401 comes before 404 and 405', async () => {
    expect((await api(null).put(PATH, {})).status).toBe(401)
    expect((await api(null).get('/v2/pods')).status).toBe(401)
  })

  it('[CFG-2][GEN-5] every reserved word is REST: 404 problem once the key is good', async () => {
    const { key } = await createAccount()
    const served = new Set(Object.keys(restDocument().paths ?? {}).map((path) => path.split('/')[2]))
    for (const word of RESERVED_WORDS.filter((name) => name !== 'openapi.json')) {
      for (const path of served.has(word) ? [`/v2/${word}/x/y/z/run`] : [`/v2/${word}`, `/v2/${word}/x`, `/v2/${word}/run`]) {
        const reply = await api(key).get(path)
        expect(reply, path).toMatchObject({ status: 404, body: { detail: 'The requested path was not found.' } })
        expect(reply.headers.get('content-type'), path).toBe('application/problem+json')
        expect((await api(null).get(path)).status, path).toBe(401)
      }
    }
    expect((await api(key).get(`${PATH}/a/b/c`)).status).toBe(404)
  })

  it('[API-3][ERR-1] a path that no interface has is a problem; one of the job API is plain JSON', async () => {
    const other = await api(null).get('/nosuch')
    expect(other).toMatchObject({ status: 404, body: { title: 'Not Found', status: 404, detail: 'The requested path was not found.' } })
    expect(other.headers.get('content-type')).toBe('application/problem+json')
    const job = await api(null).post('/v2/abcdefgh123456/run', { input: {} })
    expect(job.status).toBe(401)
    expect(job.headers.get('content-type')).toBe('application/json')
  })
})

describe('request id', () => {
  it('[API-12] is echoed when it is plain, generated otherwise, and on problems too', async () => {
    const id = async (given: string | null, path = '/healthz') =>
      (await send(path, { headers: given === null ? {} : { 'X-Request-ID': given } })).headers.get('x-request-id')
    expect(await id('abc-1.2_3')).toBe('abc-1.2_3')
    expect(await id('a'.repeat(128))).toBe('a'.repeat(128))
    expect(await id('a'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id('a b')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id(null)).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id('mine', PATH)).toBe('mine')
  })

  it('[API-31] is on replies of other interfaces, too: jobs, GraphQL, workers of endpoints and ports of pods', async () => {
    const { key } = await createAccount()
    const endpointId = await createEndpoint(key, { workers: { min: 0, max: 0 } })
    const asked = async (path: string, init: RequestInit = {}, authorization = `Bearer ${key}`) => {
      const headers = { Authorization: authorization, 'Content-Type': 'application/json', 'X-Request-ID': 'mine' }
      const response = await send(path, { ...init, headers })
      await response.body?.cancel()
      return [response.status, response.headers.get('x-request-id')]
    }
    const job = { method: 'POST', body: '{"input":{}}' }
    const none = '/v2/nosuchendpoint'
    expect({
      accepted: await asked(`/v2/${endpointId}/run`, job),
      health: await asked(`/v2/${endpointId}/health`),
      unknownJob: await asked(`/v2/${endpointId}/status/none`),
      badBody: await asked(`/v2/${endpointId}/run`, { ...job, body: '{' }),
      unknown: await asked(`${none}/run`, job),
      noKey: await asked(`${none}/run`, job, 'Bearer wrong'),
      noWorker: await asked(`${none}/job-take/none`, {}, 'wrong'),
      document: await asked('/graphql', { method: 'POST', body: '{"query":"{ myself { id } }"}' }),
      noServer: await asked(`/lb/${endpointId}/`),
      noEntry: await asked('/proxy/nosuchpod/8888/'),
    }).toEqual({
      accepted: [200, 'mine'],
      health: [200, 'mine'],
      unknownJob: [404, 'mine'],
      badBody: [400, 'mine'],
      unknown: [404, 'mine'],
      noKey: [401, 'mine'],
      noWorker: [429, 'mine'],
      document: [200, 'mine'],
      noServer: [400, 'mine'],
      noEntry: [404, 'mine'],
    })
  })
})

describe('documents', () => {
  it('[CFG-3][ERR-2] are served without a key, as generated, and take no other method', async () => {
    const rest = await api(null).get('/v2/openapi.json')
    expect(rest.status).toBe(200)
    expect(rest.headers.get('content-type')).toBe('application/json')
    expect(rest.body).toEqual(plain(restDocument()))
    expect((await api(null).get('/admin/v1/openapi.json')).body).toEqual(plain(adminDocument()))
    const { key } = await createAccount()
    const put = await api(key).put('/v2/openapi.json', {})
    expect(put).toMatchObject({ status: 405, body: { title: 'Method Not Allowed' } })
    expect(put.headers.get('allow')).toBe('GET')
  })

  it('the reference page loads everything from this origin', async () => {
    const page = await send('/docs')
    const html = await page.text()
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(html).not.toMatch(/https?:\/\//)
    expect(html).toContain('disable-telemetry="true"')
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.*; script-src [^ ;/]+\/reference\/redoc\.standalone\.js$/,
    )
    const script = await send('/reference/redoc.standalone.js')
    expect(script.status).toBe(200)
    expect(script.headers.get('content-type')).toMatch(/javascript/)
    await script.body?.cancel()
  })

  it('[PLANE-20] the root redirects a browser to the reference and names the documents to a program', async () => {
    const visit = (headers: Record<string, string>) => send('/', { headers, redirect: 'manual' })
    const browser = await visit({ Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' })
    expect([browser.status, browser.headers.get('location'), browser.headers.get('vary')]).toEqual([302, '/docs', 'Accept'])
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json, text/html;q=0.5' }]) {
      const { links, ...rest } = (await (await visit(headers as Record<string, string>)).json()) as { links: Record<string, string> }
      expect(rest).toEqual({ name: 'podplane' })
      expect(Object.keys(links)).toEqual(['console', 'reference', 'openapi', 'operatorOpenapi', 'health'])
      for (const link of Object.values(links)) expect((await send(link)).status, link).toBe(200)
    }
  })

  it('health needs no key', async () => expect((await api(null).get('/healthz')).body).toEqual({ status: 'ok' }))
})

describe('inventory', () => {
  interface Operation {
    'x-scope'?: string
    requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
  }
  const document = plain(restDocument()) as { paths: object; components: { schemas: Record<string, { example?: object }> } }
  // The examples are valid as they stand, so only the id can be refused.
  const exampleOf = ({ requestBody }: Operation): object | undefined => {
    const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
    return requestBody && (document.components.schemas[name]?.example ?? { input: {} })
  }
  const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      scope: operation['x-scope'] ?? '',
      body: exampleOf(operation),
    })),
  )
  const call = (key: string | null, method: string, path: string, body?: object) => api(key)[method as 'get'](path, body)

  it('[AUT-5] every documented route is authorised: 401 without a key, 403 without the scope', async () => {
    const owner = await createAccount()
    const id = await createEndpoint(owner.key)
    for (const { path, method, scope, body } of operations) {
      const isJob = path.startsWith('/v2/{endpointId}')
      const url = path.replace('{id}', id).replace('{endpointId}', id).replace('{jobId}', 'nosuchjob').replace('{workerId}', 'nosuchworker')
      const label = `${method} ${path}`
      expect((await call(null, method, url, body)).status, label).toBe(401)
      if (scope === UNSCOPED) continue
      const other = scope.startsWith('jobs') ? 'serverless:read' : 'jobs:read'
      const { body: created } = await admin().post(`/admin/v1/users/${owner.userId}/keys`, {
        name: 'x',
        permission: 'RESTRICTED',
        scopes: [other],
      })
      // The job API replies 401 for a missing scope (API-5).
      expect((await call(created.key, method, url, body)).status, label).toBe(isJob ? 401 : 403)
    }
  })

  it('[AUT-5] [ERR-21] a 403 names the scope that the key lacks', async () => {
    const { userId } = await createAccount()
    const { key } = await createKey(userId, { permission: 'RESTRICTED', scopes: ['jobs:read'] })
    for (const [method, path, scope] of [
      ['post', '/v2/serverless', 'serverless:write'],
      ['get', '/v2/pods', 'pods:read'],
      ['get', '/v2/templates/nosuch', 'templates:read'],
    ] as const) {
      expect((await api(key)[method](path)).body).toEqual({
        title: 'Forbidden',
        status: 403,
        detail: 'access denied',
        errors: [`the key lacks the scope ${scope}`],
      })
    }
  })

  it('[AUT-4a] every operator route is 401 without the operator key', async () => {
    for (const [path, methods] of Object.entries(plain(adminDocument().paths) as Record<string, object>)) {
      for (const method of Object.keys(methods)) {
        const url = path.replace('{id}', 'x')
        expect((await call(null, method, url)).status, `${method} ${path}`).toBe(401)
        expect((await call((await createAccount()).key, method, url)).status, `${method} ${path}`).toBe(401)
      }
    }
  })
})

it('[STRICT-1] a body nested too deep for recursion gets a reply, not a failure', async () => {
  const { key } = await createAccount()
  const deep = `{"\\u0061":${'['.repeat(40_000)}${']'.repeat(40_000)}}`
  expect((await api(key).post(PATH, deep)).status).toBe(422)
})

it('[KEY-1] every 401 names its scheme', async () => {
  for (const path of [PATH, '/v2/aaaaaaaaaaaaaa/health', '/admin/v1/users', '/host/v1/link']) {
    const reply = await api(null).get(path)
    expect([path, reply.status, reply.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer'])
  }
})

it('[ACC-5][ERR-2] a path that is written like the pattern of its route reaches it once, so that its large body can be read', async () => {
  const { key } = await createAccount()
  expect(await api(key).patch('/v2/account/secrets/:id', { name: 'x'.repeat(110_000) })).toMatchObject({ status: 422 })
})
