import { openLogin } from '../../../../src/effects/registry-login.ts'
import { Vault } from '../../../../src/platform/seal.ts'
import { api, createAccount, createEndpoint, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { insertPod, multiply, statusesWith, terminatePod } from '../../../support/pods/resources.ts'

const PATH = '/v2/registries'
const CANARY = 'canary-7f3a'
const BODY = { name: 'ghcr', username: `user-${CANARY}`, password: `pass-${CANARY}-ü:"\n` }

async function create(key: string, changes: object = {}): Promise<{ id: string; name: string }> {
  const reply = await api(key).post(PATH, { ...BODY, ...changes })
  expect(reply.status).toBe(201)
  return reply.body
}

describe('registries', () => {
  it('[REG-1][PAG-5][GEN-3] are stored, read, listed and deleted; only id and name are ever shown', async () => {
    const { key } = await createAccount()
    const registry = await create(key)
    expect(registry).toEqual({ id: expect.stringMatching(/^[a-z0-9]{14}$/), name: 'ghcr' })
    expect(await api(key).get(`${PATH}/${registry.id}`)).toMatchObject({ status: 200, body: registry })
    expect((await api(key).get(PATH)).body).toEqual({ registries: [registry] })
    expect(await api(key).delete(`${PATH}/${registry.id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(`${PATH}/${registry.id}`)).status).toBe(404)
    expect((await api(key).delete(`${PATH}/${registry.id}`)).status).toBe(404)
  })

  it('[REG-1] are listed oldest first: a client that deletes from the front reaches those in use last', async () => {
    const account = await createAccount()
    const made = [await create(account.key), await create(account.key), await create(account.key)]
    for (const [n, { id }] of made.entries()) {
      await env.DB.prepare('UPDATE registries SET created_at = ? WHERE id = ?').bind(n, id).run()
    }
    expect((await api(account.key).get(PATH)).body.registries).toEqual(made)
  })

  it('[REG-1] there is no PATCH', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    const reply = await api(key).patch(`${PATH}/${id}`, { name: 'x' })
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, DELETE'])
  })

  const REFUSED: [string, object, string][] = [
    ['[REG-1] no name', { name: undefined }, "$: missing property 'name'"],
    ['[REG-1] no user name', { username: undefined }, "$: missing property 'username'"],
    ['[REG-1] an empty user name', { username: '' }, '$.username: minLength: got 0, want 1'],
    ['[REG-1] an empty password', { password: '' }, '$.password: minLength: got 0, want 1'],
    ['[RES-3] a password of 16385 characters', { password: 'x'.repeat(16_385) }, '$.password: maxLength: got 16385, want 16384'],
    ['[STRICT-1] an unknown member', { url: 'x' }, "$: additional properties 'url' not allowed"],
    ['[STRICT-2] null', { password: null }, '$.password: got null, want string'],
    [
      '[GEN-6] a control character in the name',
      { name: 'a\tb' },
      '$.name: does not match pattern: want text without control characters and marks of direction',
    ],
    [
      '[GEN-6] a control character in the user name',
      { username: `${CANARY}\n` },
      '$.username: does not match pattern: want text without control characters and marks of direction',
    ],
    [
      '[GEN-6] NUL in the password',
      { password: `${CANARY}\u0000` },
      '$.password: does not match pattern: want text without NUL characters',
    ],
  ]
  it.each(REFUSED)('%s is 422, and the secrets are not repeated', async (_title, changes, error) => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, { ...BODY, ...changes })
    expect(reply).toMatchObject({ status: 422, body: { errors: [error] } })
    expect(JSON.stringify(reply.body)).not.toContain(CANARY)
  })

  it('[STRICT-1] __proto__ is 422, and the secrets are not repeated', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, `{"__proto__":{},${JSON.stringify(BODY).slice(1)}`)
    expect(reply).toMatchObject({ status: 422, body: { errors: ["$: additional properties '__proto__' not allowed"] } })
    expect(JSON.stringify(reply.body)).not.toContain(CANARY)
  })

  it('[RES-1] an account has at most 1000', async () => {
    const account = await createAccount()
    await create(account.key)
    await multiply('registries', 'name, username_sealed, password_sealed, created_at', account, 999)
    expect(await api(account.key).post(PATH, BODY)).toMatchObject({
      status: 400,
      body: { detail: 'an account has at most 1000 registry credentials; delete one first' },
    })
  })
})

describe('secrets', () => {
  it('[REG-1][RES-3] are in no reply and, unsealed, nowhere in the database', async () => {
    const { key } = await createAccount()
    const { id } = await create(key)
    const replies = [
      await api(key).get(PATH),
      await api(key).get(`${PATH}/${id}`),
      await api(key).post(PATH, BODY),
      await api(key).post(PATH, { ...BODY, bogus: CANARY }),
      await api(key).post(PATH, `{"password":"${CANARY}"`),
      await api(key).post('/v2/templates', { name: 't', image: 'i', registry: id }),
      await api(key).delete(`${PATH}/${id}`),
    ]
    for (const reply of replies) expect(JSON.stringify([reply.body, [...reply.headers]])).not.toContain(CANARY)
    const { results } = await env.DB.prepare('SELECT * FROM registries').all()
    expect(results.length).toBeGreaterThan(0)
    expect(JSON.stringify(results)).not.toContain(CANARY)
  })

  it('[REG-1][RES-3] open for the account that stored them, and for no other', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const { id } = await create(mine.key)
    expect(await openLogin(env, await teamOf(mine), id, 'ghcr.io/a')).toEqual({
      username: BODY.username,
      password: BODY.password,
      host: 'ghcr.io',
    })
    expect(await openLogin(env, await teamOf(theirs), id, 'ghcr.io/a')).toBeNull()
    expect(await openLogin(env, await teamOf(mine), 'nosuchcredential', 'ghcr.io/a')).toBeNull()
  })

  it('[RES-3] do not open in another row, in another field, under another secret, or after tampering', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const [a, b] = [await create(account.key), await create(account.key)]
    const set = (id: string, field: string, from: string, fromField: string) =>
      env.DB.prepare(`UPDATE registries SET ${field} = (SELECT ${fromField} FROM registries WHERE id = ?) WHERE id = ?`)
        .bind(from, id)
        .run()
    await set(a.id, 'password_sealed', b.id, 'password_sealed')
    expect(await openLogin(env, teamId, a.id, 'a')).toBeNull()
    expect(await openLogin({ ...env, TOKEN_SECRET: 'another-secret-of-32-characters-or-so' }, teamId, b.id, 'a')).toBeNull()
    await set(b.id, 'password_sealed', b.id, 'username_sealed')
    expect(await openLogin(env, teamId, b.id, 'a')).toBeNull()
    const c = await create(account.key)
    await env.DB.prepare("UPDATE registries SET password_sealed = 'AAAA' WHERE id = ?").bind(c.id).run()
    expect(await openLogin(env, teamId, c.id, 'a')).toBeNull()
  })

  it('[RES-3] the same text is sealed differently each time', async () => {
    const vault = new Vault(['secret'])
    const [first, second] = [vault.seal(['use', 'here'], 'text'), vault.seal(['use', 'here'], 'text')]
    expect(first).not.toBe(second)
    expect(vault.open(['use', 'here'], first)).toBe('text')
    expect(vault.open(['use', 'there'], first)).toBeNull()
    expect(vault.open(['other use', 'here'], first)).toBeNull()
  })
})

describe('delete', () => {
  it('[REG-2] is 400 while a live pod pulls with it', async () => {
    const account = await createAccount()
    const { id } = await create(account.key)
    const pod = await insertPod(await teamOf(account), { registry_id: id, status: 'ERROR' })
    expect(await api(account.key).delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: { detail: 'Registry credential is in use by a pod and cannot be deleted', code: 'IN_USE' },
    })
    await terminatePod(pod)
    expect((await api(account.key).delete(`${PATH}/${id}`)).status).toBe(204)
  })

  it('[REG-2] is 400 while an endpoint names it', async () => {
    const { key } = await createAccount()
    const [{ id }, endpointId] = [await create(key), await createEndpoint(key)]
    await env.DB.prepare("UPDATE endpoints SET config = json_set(config, '$.container.registry', ?) WHERE id = ?")
      .bind(id, endpointId)
      .run()
    expect(await api(key).delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: { detail: 'Registry credential is in use by an endpoint and cannot be deleted' },
    })
    await api(key).delete(`/v2/serverless/${endpointId}`)
    expect((await api(key).delete(`${PATH}/${id}`)).status).toBe(204)
  })

  it('[REG-2] sets it to null in the templates that name it, and in no others', async () => {
    const { key } = await createAccount()
    const [gone, kept] = [await create(key), await create(key)]
    const template = async (registry: string) => (await api(key).post('/v2/templates', { name: registry, image: 'i', registry })).body
    const [first, second] = [await template(gone.id), await template(kept.id)]
    expect([first.registry, second.registry]).toEqual([gone.id, kept.id])
    expect((await api(key).delete(`${PATH}/${gone.id}`)).status).toBe(204)
    const read = async ({ id }: { id: string }) => (await api(key).get(`/v2/templates/${id}`)).body.registry
    expect([await read(first), await read(second)]).toEqual([null, kept.id])
  })
})

describe('access', () => {
  it('[AUT-5] an id that is unknown or of another account is the same 404', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const registry = await create(theirs.key)
    for (const path of [`${PATH}/${registry.id}`, `${PATH}/nosuchcredential`]) {
      for (const reply of [await api(mine.key).get(path), await api(mine.key).delete(path)]) {
        expect(reply).toMatchObject({ status: 404, body: { detail: 'resource not found' } })
      }
    }
    expect((await api(mine.key).get(PATH)).body).toEqual({ registries: [] })
    expect((await api(theirs.key).get(PATH)).body).toEqual({ registries: [registry] })
  })

  it('[AUT-5] reading and writing take their scopes', async () => {
    const account = await createAccount()
    const path = `${PATH}/nosuchcredential`
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, BODY],
      ['delete', path],
    ]
    expect(await statusesWith(account, 'registries:read', calls)).toEqual([200, 404, 403, 403])
    expect(await statusesWith(account, 'registries:write', calls)).toEqual([403, 403, 201, 404])
  })
})
