import { createApp } from '../../../src/app.ts'
import { createAccount, createExecutionContext, describe, env, expect, it, ORIGIN, send } from '../../support/harness.ts'
import { graphql } from '../../support/http/graphql.ts'

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })
const seen = async (response: Response) => ({ status: response.status, body: await response.json() })
const MYSELF = '{"query":"query { myself { id } }"}'

describe('callers', () => {
  it('[GQL-1] [GQL-2] a key in the header or the parameter; the parameter decides; variables may be null', async () => {
    const [one, other] = [await createAccount(), await createAccount()]
    const bearer = { Authorization: `Bearer ${one.key}` }
    const of = (id: string) => ({ status: 200, body: { data: { myself: { id } } } })
    expect(await seen(await post('/graphql', MYSELF, bearer))).toEqual(of(one.userId))
    expect(await seen(await post(`/graphql?api_key=${other.key}`, MYSELF, bearer))).toEqual(of(other.userId))
    expect(await seen(await post('/graphql?api_key=', '{"query":"{ myself { id } }","variables":null}', bearer))).toEqual(of(one.userId))
  })

  it('[GQL-3] without a key: myself is null without errors, the catalog answers, all else is null with an error', async () => {
    const ask = graphql(null)
    expect((await ask('{ myself { id } }')).body).toEqual({ data: { myself: null } })
    const catalog = await ask('{ gpuTypes(input: {id: "NVIDIA L4"}) { id } }')
    expect(catalog.body).toEqual({ data: { gpuTypes: [{ id: 'NVIDIA L4' }] } })
    const refused = await ask('mutation { podStop(input: {podId: "p1"}) { id } }')
    expect(refused.status).toBe(200)
    expect(refused.body.data).toEqual({ podStop: null })
    expect(refused.body.errors).toEqual([
      {
        message: 'this field needs an API key: send it as Authorization: Bearer, or as the parameter api_key',
        extensions: { code: 'RUNPOD' },
        locations: [{ line: 1, column: 12 }],
        path: ['podStop'],
      },
    ])
  })

  it('[GQL-4] a wrong key is 401 with a body that clients parse', async () => {
    const unauthorized = { status: 401, body: { errors: [{ message: 'Unauthorized' }] } }
    expect(await seen(await post('/graphql', MYSELF, { Authorization: 'Bearer wrong' }))).toEqual(unauthorized)
    expect(await seen(await post('/graphql?api_key=wrong', MYSELF))).toEqual(unauthorized)
  })
})

describe('documents', () => {
  it('[GQL-9] comments, aliases, names of operations, enums, nulls, a space before a colon', async () => {
    const { key } = await createAccount()
    const { status, body } = await graphql(key)(`# what is there
      mutation Mutation { one : saveEndpoint ( input : { flashBootType : FLASHBOOT , instanceIds : null , name : "a" } ) { id } }`)
    expect([status, body.data]).toEqual([200, { one: null }])
    expect(body.errors[0].message).toContain('$.gpuIds: list the GPU pools')
    expect((await graphql(key)('query Query { me: myself { Id: id } }')).body.data).toEqual({ me: { Id: expect.any(String) } })
  })
})

describe('settings of the operator', () => {
  const served = async (settings: Record<string, string>, init: RequestInit = {}) =>
    createApp().fetch(new Request(`${ORIGIN}/graphql`, init), { ...env, ...settings }, createExecutionContext())

  it('[GQL-29] [GQL-11] the date of deprecation and the end, on every reply', async () => {
    const settings = { GRAPHQL_DEPRECATED_AT: '2026-11-15T00:00:00Z', GRAPHQL_SUNSET_AT: '2027-02-01' }
    const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: MYSELF }
    for (const init of [post, { method: 'GET' }]) {
      const { headers } = await served(settings, init)
      expect(['Deprecation', 'Sunset', 'Link'].map((name) => headers.get(name))).toEqual([
        '@1794700800',
        'Mon, 01 Feb 2027 00:00:00 GMT',
        '</v2/openapi.json>; rel="successor-version"',
      ])
    }
    const { headers } = await served({ GRAPHQL_DEPRECATED_AT: 'soon' }, post)
    expect(['Deprecation', 'Sunset', 'Link'].map((name) => headers.get(name))).toEqual([null, null, null])
  })

  it('[GQL-31] an editor for browsers, where it is switched on', async () => {
    const browser = { headers: { Accept: 'text/html,*/*' } }
    const page = await served({ GRAPHIQL: '1' }, browser)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'")
    expect(await page.text()).not.toMatch(/https?:/)
    expect((await served({ GRAPHIQL: '1' })).status).toBe(405)
    expect((await served({}, browser)).status).toBe(405)
  })

  it('[GQL-2] a reply is not cached, as its address may contain a key', async () => {
    const { headers } = await post('/graphql', MYSELF)
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
  })
})

describe('errors', () => {
  it('[GQL-5] a missing scope is a business error of the field', async () => {
    const { key } = await createAccount({ key: { permission: 'RESTRICTED', scopes: ['templates:read'] } })
    const { status, body } = await graphql(key)('{ myself { id email pods { id } } }')
    expect(status).toBe(200)
    expect(body.data.myself).toMatchObject({ email: null, pods: null })
    expect(body.errors.map(({ message, path, extensions }: Record<string, unknown>) => ({ message, path, extensions }))).toEqual([
      { message: 'access denied: the key lacks the scope account:read', path: ['myself', 'email'], extensions: { code: 'RUNPOD' } },
      { message: 'access denied: the key lacks the scope pods:read', path: ['myself', 'pods'], extensions: { code: 'RUNPOD' } },
    ])
  })

  it('[GQL-6] a document that does not parse or validate is 400 with errors', async () => {
    const ask = graphql((await createAccount()).key)
    const bad = await ask('query($input: GpuLowestPriceInput!) { gpuTypes { lowestPrice(input: $input) { gpuName } } }', {
      input: { nonsense: 1 },
    })
    expect(bad.status).toBe(400)
    expect(bad.body.errors[0].message).toContain('Field "nonsense" is not defined by type "GpuLowestPriceInput"')
    for (const text of ['query {', '{ nothing }', 'mutation { podTerminate(input: { podId: "b"c" }) }']) {
      const { status, body } = await ask(text)
      expect({ status, hasErrors: body.errors.length > 0, data: body.data }).toEqual({ status: 400, hasErrors: true, data: undefined })
    }
  })

  it('[GQL-6] an unknown or unnamed operation and a subscription are 400, before anything runs', async () => {
    const ask = graphql((await createAccount()).key)
    const first = async (text: string) => {
      const { status, body } = await ask(text)
      return { status, ...body.errors[0], data: body.data }
    }
    const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' }
    const unclear = { status: 400, message: 'Could not determine what operation to execute.', extensions, data: undefined }
    expect(await first('query A { myself { id } } query B { nothing }')).toEqual(unclear)
    expect(await first('fragment F on User { id }')).toEqual(unclear)
    expect(await first('subscription { pods }')).toEqual({
      status: 400,
      message: 'Schema is not configured to execute subscription operation.',
      locations: [{ line: 1, column: 1 }],
      extensions,
      data: undefined,
    })
  })

  it('[GQL-6] an invalid body is refused in the same form', async () => {
    const { key } = await createAccount()
    const bearer = { Authorization: `Bearer ${key}` }
    const first = async (response: Response) => ({
      status: response.status,
      message: ((await response.json()) as { errors: { message: string }[] }).errors[0]?.message,
    })
    expect(await first(await post('/graphql', '{', bearer))).toEqual({ status: 400, message: 'the request body is not valid JSON' })
    expect(await first(await post('/graphql', '{}', bearer))).toEqual({ status: 400, message: 'query: want a GraphQL document' })
    expect(await first(await post('/graphql', MYSELF, { ...bearer, 'Content-Type': 'text/plain' }))).toEqual({
      status: 415,
      message: 'content type must be application/json',
    })
    expect(await first(await send('/graphql', { headers: bearer }))).toEqual({
      status: 405,
      message: 'The requested method is not allowed for this path.',
    })
  })
})
