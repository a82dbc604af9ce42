import { MAX_ANSWER_BYTES } from '../../../../src/domain/idempotency.ts'
import { restDocument } from '../../../../src/http/rest-api.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createKey,
  describe,
  endpointBody,
  env,
  expect,
  it,
  teamOf,
} from '../../../support/harness.ts'
import { multiply } from '../../../support/pods/resources.ts'

interface Create {
  path: string
  list: string
  /** The member of the list reply that contains the items. */
  key: string
  body: Record<string, unknown>
  /** The members in which the second body differs. */
  other: Record<string, unknown>
}

const CREATES: Create[] = [
  { path: '/v2/serverless', list: '/v2/serverless', key: 'endpoints', body: endpointBody({ env: { A: '1' } }), other: { name: 'other' } },
  { path: '/v2/templates', list: '/v2/templates', key: 'templates', body: { name: 't', image: 'acme/model:1' }, other: { name: 'other' } },
  {
    path: '/v2/network-volumes',
    list: '/v2/network-volumes',
    key: 'networkVolumes',
    body: { name: 'v', size: 10, dataCenter: 'EU-RO-1' },
    other: { size: 20 },
  },
  { path: '/v2/global-volumes', list: '/v2/global-volumes', key: 'globalVolumes', body: { name: 'g' }, other: { name: 'other' } },
  {
    path: '/v2/registries',
    list: '/v2/registries',
    key: 'registries',
    body: { name: 'r', username: 'u', password: 'p' },
    other: { password: 'q' },
  },
  {
    path: '/v2/registries/delegations',
    list: '/v2/registries/delegations',
    key: 'delegations',
    body: { resource: 'arn:aws:ecr:us-east-1:123456789012:repository/team/models' },
    other: { name: 'other' },
  },
]
const WITH = (key: string) => ({ 'Idempotency-Key': key })
const count = async ({ key }: Account, create: Create) => (await api(key).get(create.list)).body[create.key].length
const stored = async (account: Account) =>
  (
    await env.DB.prepare('SELECT * FROM idempotency_keys WHERE team_id = ?')
      .bind(await teamOf(account))
      .all()
  ).results

describe('Idempotency-Key of every create', () => {
  it('[IDEM-2] is taken by every create that returns 201, as the document says', () => {
    const { paths = {} } = JSON.parse(JSON.stringify(restDocument())) as {
      paths?: Record<string, { post?: { responses: object; parameters?: { name: string }[] } }>
    }
    const creates = Object.entries(paths).filter(([path, { post }]) => post && '201' in post.responses && !path.includes('{'))
    const others = ['/v2/pods', '/v2/clusters', '/v2/account/keys', '/v2/account/secrets', '/v2/organizations']
    expect(creates.map(([path]) => path).sort()).toEqual([...others, ...CREATES.map(({ path }) => path)].sort())
    for (const [path, { post }] of creates) {
      expect(
        post?.parameters?.map(({ name }) => name),
        path,
      ).toContain('Idempotency-Key')
      expect(post?.responses, path).toHaveProperty('409')
    }
  })

  it.each(CREATES)('[IDEM-2] $path: a repeat gets the first reply, another body 422, another account its own', async (create) => {
    const [account, otherTenant] = [await createAccount(), await createAccount()]
    const post = (body: object, { key } = account) => api(key).post(create.path, body, WITH('k-1'))
    const first = await post(create.body)
    expect(first.status).toBe(201)
    expect(await post(create.body)).toMatchObject({ status: 201, body: first.body })
    expect(await post({ ...create.body, ...create.other })).toMatchObject({
      status: 422,
      body: { errors: ['$.Idempotency-Key: was already used with a different request'] },
    })
    expect(await count(account, create)).toBe(1)
    const foreign = await post(create.body, otherTenant)
    expect(foreign.status).toBe(201)
    expect(foreign.body.id).not.toBe(first.body.id)
  })

  it.each(CREATES)('[IDEM-2] $path: of five simultaneous ones one creates', async (create) => {
    const account = await createAccount()
    const replies = await Promise.all(Array.from({ length: 5 }, () => api(account.key).post(create.path, create.body, WITH('k-2'))))
    expect(new Set(replies.map(({ status }) => status)).has(201)).toBe(true)
    for (const { status } of replies) expect([201, 409]).toContain(status)
    expect(await count(account, create)).toBe(1)
  })

  it('[IDEM-2] one key stands for one request in each operation', async () => {
    const account = await createAccount()
    for (const { path, body } of CREATES) expect((await api(account.key).post(path, body, WITH('k-3'))).status, path).toBe(201)
  })

  it('[IDEM-2] a create that is refused on write stores no reply, and its key is free again', async () => {
    const account = await createAccount()
    const taken = { name: 'taken' }
    await api(account.key).post('/v2/global-volumes', taken)
    await api(account.key).post('/v2/templates', { ...taken, image: 'acme/model:1' })
    for (const [path, body] of [
      ['/v2/global-volumes', taken],
      ['/v2/templates', { ...taken, image: 'acme/model:1' }],
    ] as const) {
      expect((await api(account.key).post(path, body, WITH('k-4'))).status, path).toBe(400)
    }
    await api(account.key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-RO-1' })
    await multiply('network_volumes', 'name, size_gb, data_center_id, type, created_at', account, 999)
    const full = await api(account.key).post('/v2/network-volumes', { name: 'w', size: 10, dataCenter: 'EU-RO-1' }, WITH('k-4'))
    expect(full.status).toBe(400)
    expect(await stored(account)).toEqual([])
    expect((await api(account.key).post('/v2/templates', { name: 'free', image: 'acme/model:1' }, WITH('k-4'))).status).toBe(201)
  })

  it('[IDEM-2] no password can be guessed from the stored data of a request', async () => {
    const account = await createAccount()
    const body = { name: 'r', username: 'u', password: 'p' }
    await api(account.key).post('/v2/registries', body, WITH('k-5'))
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(body))))
    const plainDigest = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const rows = await stored(account)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(plainDigest)
    expect(JSON.stringify(rows)).not.toContain('password')
  })

  it('[IDEM-4] endpoints and templates: a repeat shows the current env to readers, and others the values that they sent', async () => {
    const account = await createAccount()
    for (const [path, scope] of [
      ['/v2/serverless', 'serverless'],
      ['/v2/templates', 'templates'],
    ] as const) {
      const asked =
        scope === 'templates' ? { name: 't', image: 'acme/model:1', env: { A: 'first' } } : endpointBody({ env: { A: 'first' } })
      const writer = api((await createKey(account.userId, { permission: 'RESTRICTED', scopes: [`${scope}:write`] })).key)
      const { id } = (await api(account.key).post(path, asked, WITH('k-6'))).body
      expect((await api(account.key).patch(`${path}/${id}`, { env: { A: 'rotated' } })).status).toBe(200)
      expect((await api(account.key).post(path, asked, WITH('k-6'))).body, path).toMatchObject({ id, env: { A: 'rotated' } })
      expect((await writer.post(path, asked, WITH('k-6'))).body, path).toMatchObject({ id, env: { A: 'first' } })
    }
  })

  it('[IDEM-4] an endpoint from a private template is shown again to no key that may not read templates', async () => {
    const account = await createAccount()
    const template = { name: 'private', image: 'acme/model:1', serverless: true, env: { T: 'of-the-template' } }
    const templateId = (await api(account.key).post('/v2/templates', template)).body.id
    const body = { ...endpointBody({ templateId }), image: undefined }
    expect((await api(account.key).post('/v2/serverless', body, WITH('k-7'))).status).toBe(201)
    const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['serverless:write'] })
    expect(await api(key).post('/v2/serverless', body, WITH('k-7'))).toMatchObject({
      status: 403,
      body: { errors: ['the key lacks the scope templates:read'] },
    })
  })

  it('[H5][IDEM-3] stored replies are limited: beyond the limit a new key is refused, and a known one gets its reply', async () => {
    const account = await createAccount()
    const setBudgets = (budgets: object) => admin().put(`/admin/v1/users/${account.userId}/budgets`, budgets)
    const post = (name: string, headers = {}) => api(account.key).post('/v2/global-volumes', { name }, headers)
    const names = async () =>
      (await api(account.key).get('/v2/global-volumes')).body.globalVolumes.map(({ name }: { name: string }) => name)
    await setBudgets({ keptAnswers: 2 })
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post(name, WITH(`bound-${name}`))))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400])
    const made: string[] = await names()
    expect(made).toHaveLength(2)
    const detail =
      /^the account's budget keptAnswers .* is 2: 2 are in use and the request needs 1 more; retry when .*, or send no Idempotency-Key, or ask/
    expect(await post('e', WITH('bound-e'))).toMatchObject({ status: 400, body: { code: 'RULE', detail: expect.stringMatching(detail) } })
    expect((await post(String(made[0]), WITH(`bound-${made[0]}`))).status).toBe(201)
    expect((await post('f')).status).toBe(201)
    expect((await names()).toSorted()).toEqual([...made, 'f'].toSorted())
    // The limit in bytes counts too: a request in progress counts as the largest reply.
    await setBudgets({ keptAnswerBytes: MAX_ANSWER_BYTES })
    expect((await post('g', WITH('bound-g'))).body.detail).toContain('budget keptAnswerBytes')
    const { keptAnswers, keptAnswerBytes } = (await api(account.key).get('/v2/account/limits')).body
    expect({ keptAnswers, isSmall: keptAnswerBytes.used > 0 && keptAnswerBytes.used < 2_000 }).toEqual({
      keptAnswers: { used: 2, bound: 5_000, unit: 'count', shared: false },
      isSmall: true,
    })
    // Expired replies do not count.
    await setBudgets({ keptAnswers: 2 })
    await env.DB.prepare("UPDATE idempotency_keys SET claimed_at = 1 WHERE key LIKE 'bound-%'").run()
    expect((await post('h', WITH('bound-h'))).status).toBe(201)
    expect(await stored(account)).toHaveLength(1)
  })
})
