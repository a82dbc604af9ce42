import { openDatabase, openRecords } from '../../../src/db/client.ts'
import { measureSecrets, readSecretValues } from '../../../src/db/resources/secrets.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createKey,
  describe,
  env,
  expect,
  it,
  ORIGIN,
  send,
  teamOf,
} from '../../support/harness.ts'
import { statusesWith } from '../../support/pods/resources.ts'

const PATH = '/v2/account/secrets'
const VALUE_BYTES = 16_777_216
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

// biome-ignore lint/suspicious/noExplicitAny: bodies of replies are asserted whole; typing each would say everything twice
async function create(key: string, body: object): Promise<any> {
  const reply = await api(key).post(PATH, body)
  expect(reply).toMatchObject({ status: 201 })
  return reply.body
}

/** The value that a workload of the account gets. */
async function readValue(account: Account, name: string): Promise<string | undefined> {
  const measured = await measureSecrets(openDatabase(env.DB), await teamOf(account), [name])
  return (await readSecretValues(openRecords(env), measured)).get(name)
}

const rows = async (sql: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(sql)
      .bind(...values)
      .all()
  ).results

const partsOf = (id: string) => rows('SELECT version, part FROM secret_parts WHERE secret_id = ? ORDER BY part', id)

describe('secrets', () => {
  it('[ACC-2][GEN-3] are created, read, listed, rotated and deleted; the value is never returned', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const made = await create(account.key, { name: 'DB_PASSWORD', value: 'canary-1', description: 'of orders' })
    const secret = { id: expect.stringMatching(/^[a-z0-9]{14}$/), name: 'DB_PASSWORD', description: 'of orders', createdAt: TIME }
    expect(made).toEqual({ ...secret, valueLastUpdatedAt: null })
    expect(await call.get(`${PATH}/${made.id}`)).toMatchObject({ status: 200, body: made })
    const other = await create(account.key, { name: 'a/b-c.d_e', value: '' })
    expect(other).toMatchObject({ description: null })
    expect((await call.get(PATH)).body.secrets).toHaveLength(2)
    expect((await call.get(`${PATH}?name=DB_PASSWORD`)).body).toEqual({ secrets: [made] })
    expect((await call.get(`${PATH}?name=nobody`)).body).toEqual({ secrets: [] })
    const described = await call.patch(`${PATH}/${made.id}`, { description: '' })
    expect(described).toMatchObject({ status: 200, body: { ...made, description: null } })
    expect(await readValue(account, 'DB_PASSWORD')).toBe('canary-1')
    const rotated = await call.patch(`${PATH}/${made.id}`, { value: 'canary-2' })
    expect(rotated.body).toEqual({ ...made, description: null, valueLastUpdatedAt: TIME })
    expect(await readValue(account, 'DB_PASSWORD')).toBe('canary-2')
    expect(await partsOf(made.id)).toHaveLength(1)
    expect(await call.delete(`${PATH}/${made.id}`)).toMatchObject({ status: 204, body: null })
    expect((await call.get(`${PATH}/${made.id}`)).status).toBe(404)
    expect((await call.delete(`${PATH}/${made.id}`)).status).toBe(404)
    expect(await partsOf(made.id)).toEqual([])
    expect((await call.get(PATH)).body.secrets).toEqual([other])
  })

  const NAME = '$.name: '
  const REFUSED: [string, object, string][] = [
    ['[ACC-2] no name', { name: undefined }, "$: missing property 'name'"],
    ['[ACC-2] no value', { value: undefined }, "$: missing property 'value'"],
    [
      '[ACC-3] a digit first',
      { name: '1a' },
      `${NAME}does not match pattern: want letters, digits, _, ., - and /, with a letter or _ first`,
    ],
    ['[ACC-3] 192 characters', { name: 'x'.repeat(192) }, `${NAME}maxLength: got 192, want 191`],
    ['[ACC-3] a name of the platform', { name: 'RunPod_X' }, `${NAME}must not start with RUNPOD`],
    ['[ACC-5] a description of 65536 bytes', { description: 'é'.repeat(32_768) }, '$.description: must be at most 65535 bytes of UTF-8'],
    ['[SECRET-3] NUL in the value', { value: 'canary\u0000' }, '$.value: does not match pattern: want text without NUL characters'],
    ['[SECRET-3] half a character', { value: 'canary\ud83d' }, '$.value: has half a surrogate pair, which is no text'],
    ['[STRICT-1] an unknown member', { url: 'x' }, "$: additional properties 'url' not allowed"],
    ['[STRICT-2] null', { value: null }, '$.value: got null, want string'],
  ]
  it.each(REFUSED)('%s is 422, and the value is not repeated', async (_title, changes, error) => {
    const { key } = await createAccount()
    const reply = await api(key).post(PATH, { name: 'A', value: 'canary', ...changes })
    expect(reply).toMatchObject({ status: 422, body: { errors: [error] } })
    expect(JSON.stringify(reply.body)).not.toContain('canary')
    expect((await api(key).get(PATH)).body.secrets).toEqual([])
  })

  it('[ACC-2] the name never changes', async () => {
    const { key } = await createAccount()
    const { id } = await create(key, { name: 'A', value: 'x' })
    expect((await api(key).patch(`${PATH}/${id}`, { name: 'B' })).status).toBe(422)
    expect((await api(key).get(`${PATH}/${id}`)).body.name).toBe('A')
  })

  it('[ACC-4] a taken name is 409, of two at once too; another account may have it', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    await create(mine.key, { name: 'A', value: 'first' })
    expect(await api(mine.key).post(PATH, { name: 'A', value: 'second' })).toMatchObject({
      status: 409,
      body: { detail: 'the account already has a secret A; change that secret, or choose another name' },
    })
    expect(await readValue(mine, 'A')).toBe('first')
    const both = await Promise.all(['x', 'y'].map((value) => api(theirs.key).post(PATH, { name: 'A', value })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(await rows('SELECT name FROM secrets WHERE team_id = ?', await teamOf(theirs))).toEqual([{ name: 'A' }])
  })

  it('[POD-22] a repeat under its Idempotency-Key makes no second one', async () => {
    const { key } = await createAccount()
    const body = { name: 'A', value: 'x' }
    const replies = [
      await api(key).post(PATH, body, { 'Idempotency-Key': 'k' }),
      await api(key).post(PATH, body, { 'Idempotency-Key': 'k' }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([201, 201])
    expect(replies[1]?.body).toEqual(replies[0]?.body)
    expect((await api(key).post(PATH, { ...body, value: 'y' }, { 'Idempotency-Key': 'k' })).status).toBe(422)
  })

  it('[AUD-1][SECRET-5] every change is in the audit log, and of a value only its length', async () => {
    const account = await createAccount()
    const { id } = await create(account.key, { name: 'A', value: 'canary', description: 'd' })
    await api(account.key).patch(`${PATH}/${id}`, { value: 'canary-2' })
    await api(account.key).patch(`${PATH}/${id}`, { description: '' })
    await api(account.key).delete(`${PATH}/${id}`)
    const noted = await rows(
      `SELECT action, resource_id, before, after FROM audit WHERE team_id = ? AND actor_kind = 'KEY' ORDER BY rowid`,
      await teamOf(account),
    )
    const states = noted.map(({ action, before, after }) => [action, JSON.parse(String(before)), JSON.parse(String(after))])
    const [first, second, third] = [
      { name: 'A', description: 'd', bytes: 6 },
      { name: 'A', description: 'd', bytes: 8 },
      { name: 'A', description: null, bytes: 8 },
    ]
    expect(states).toEqual([
      ['secrets.create', null, first],
      ['secrets.rotate', first, second],
      ['secrets.update', second, third],
      ['secrets.delete', third, null],
    ])
    expect(noted.map(({ resource_id }) => resource_id)).toEqual([id, id, id, id])
    expect(JSON.stringify(noted)).not.toContain('canary')
  })
})

describe('large values', () => {
  it('[ACC-5][SECRET-1][SECRET-2] one byte under the limit is stored in parts; the limit and bodies beyond are 422', {
    timeout: 60_000,
  }, async () => {
    const account = await createAccount()
    const value = `é${'x'.repeat(VALUE_BYTES - 4)}\n`
    const { id } = await create(account.key, { name: 'BIG', value, description: 'd'.repeat(65_535) })
    expect((await readValue(account, 'BIG')) === value).toBe(true)
    const parts = await partsOf(id)
    expect(parts.length).toBe(22)
    const sizes = await rows('SELECT MAX(octet_length(sealed)) AS most FROM secret_parts WHERE secret_id = ?', id)
    expect(Number(sizes[0]?.most)).toBeLessThan(1_100_000)
    const refused = { status: 422, body: { errors: ['$.value: must be under 16777216 bytes of UTF-8'] } }
    expect(await api(account.key).patch(`${PATH}/${id}`, { value: `${value}x` })).toMatchObject(refused)
    expect(await partsOf(id)).toEqual(parts)
    const declared = { 'Content-Length': '40000000', 'Content-Type': 'application/json', Authorization: `Bearer ${account.key}` }
    const reply = await send(PATH, { method: 'POST', headers: declared, body: '{}' })
    expect([reply.status, await reply.text()]).toEqual([422, expect.stringContaining('$.value: must be under 16777216 bytes')])
    expect((await api(account.key).patch(`${PATH}/${id}`, { value: 'short' })).status).toBe(200)
    expect(await readValue(account, 'BIG')).toBe('short')
    expect(await partsOf(id)).toHaveLength(1)
  })

  it('[SECRET-2] a large body of small members is refused before it is parsed, and one without a key before it is read', async () => {
    const { key } = await createAccount()
    const nested = `{"name":"A","value":[${'[],'.repeat(60_000)}[]]}`
    expect(await api(key).post(PATH, nested)).toMatchObject({ status: 422, body: { errors: ['$.value: want string'] } })
    const many = `{${Array.from({ length: 20_000 }, (_, i) => `"m${i}":""`).join()}}`
    expect((await api(key).post(PATH, many)).status).toBe(422)
    let read = 0
    const body = new ReadableStream({
      pull(controller) {
        read += 65_536
        if (read > 2_000_000) controller.close()
        else controller.enqueue(new Uint8Array(65_536))
      },
    })
    const reply = await send(`${ORIGIN}${PATH}`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expect(reply.status).toBe(401)
    expect(read).toBeLessThan(1_000_000)
  })

  it('[BUDGET-4] large bodies of an account count together', async () => {
    const account = await createAccount()
    const budgets = await admin().put(`/admin/v1/users/${account.userId}/budgets`, { inFlightBytes: 500_000 })
    expect(budgets.status).toBe(200)
    const post = (name: string) => api(account.key).post(PATH, { name, value: 'x'.repeat(300_000) })
    expect((await post('A')).status).toBe(201)
    expect(await post('B')).toMatchObject({ status: 429 })
    expect((await api(account.key).get(PATH)).body.secrets).toHaveLength(1)
  })

  it('[SECRET-1] a value whose write was interrupted has no reader, and is deleted by a later write', async () => {
    const account = await createAccount()
    const team = await teamOf(account)
    const { id } = await create(account.key, { name: 'A', value: 'kept' })
    const old = Date.now() - 3_600_000
    await env.DB.batch([
      env.DB.prepare("INSERT INTO secrets VALUES ('claim', ?, ':claim', NULL, 0, 5, ?, NULL)").bind(team, old),
      env.DB.prepare("INSERT INTO secret_parts VALUES ('claim', ?, 0, 'x')").bind(old * 1_000),
      env.DB.prepare("INSERT INTO secret_parts VALUES (?, ?, 0, 'x')").bind(id, old * 1_000),
    ])
    expect((await api(account.key).get(PATH)).body.secrets.map(({ name }: { name: string }) => name)).toEqual(['A'])
    expect((await api(account.key).get(`${PATH}/claim`)).status).toBe(404)
    expect((await api(account.key).delete(`${PATH}/claim`)).status).toBe(404)
    expect(await readValue(account, 'A')).toBe('kept')
    await create(account.key, { name: 'B', value: 'y' })
    expect(await rows("SELECT id FROM secrets WHERE id = 'claim'")).toEqual([])
    expect(await partsOf('claim')).toEqual([])
    expect(await partsOf(id)).toHaveLength(1)
    expect(await readValue(account, 'A')).toBe('kept')
  })

  it('[SECRET-1] during simultaneous rotations every reader gets a whole value, and nothing is left over', {
    timeout: 60_000,
  }, async () => {
    const account = await createAccount()
    const large = (letter: string) => letter.repeat(2_000_000)
    const { id } = await create(account.key, { name: 'A', value: large('0') })
    const seen: (string | undefined)[] = []
    const reading = async () => {
      for (let n = 0; n < 5; n += 1) seen.push(await readValue(account, 'A'))
    }
    const rotate = (letter: string) => api(account.key).patch(`${PATH}/${id}`, { value: large(letter) })
    const [, ...replies] = await Promise.all([reading(), rotate('1'), rotate('2'), rotate('3')])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    // A value that has changed since it was measured is not returned; a boot then measures again.
    const whole = seen.filter((value) => value !== undefined)
    expect(whole.filter((value) => value.length !== 2_000_000 || new Set(value).size !== 1)).toEqual([])
    expect(await partsOf(id)).toHaveLength(3)
  })
})

describe('budgets', () => {
  it('[SECRET-4][BUDGET-1] number and bytes are limited, by the statement that writes too, and shown', async () => {
    const account = await createAccount()
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { secrets: 2, secretBytes: 10 })
    const { id } = await create(account.key, { name: 'A', value: '1234567' })
    const post = (name: string, value: string) => api(account.key).post(PATH, { name, value })
    const beyond = {
      status: 400,
      body: { code: 'RULE', detail: expect.stringContaining('is 10: 7 are in use and the request needs 4 more') },
    }
    expect(await post('B', '1234')).toMatchObject(beyond)
    expect((await api(account.key).patch(`${PATH}/${id}`, { value: '12345678901' })).status).toBe(400)
    expect(await readValue(account, 'A')).toBe('1234567')
    const together = await Promise.all([post('B', '1'), post('C', '1'), post('D', '1')])
    expect(together.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    const { secrets, secretBytes } = (await api(account.key).get('/v2/account/limits')).body
    expect([secrets, secretBytes]).toEqual([
      { used: 2, bound: 2, unit: 'count', shared: true },
      { used: 8, bound: 10, unit: 'bytes', shared: true },
    ])
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { secretBytes: 3 })
    expect((await api(account.key).patch(`${PATH}/${id}`, { value: '12345' })).status).toBe(200)
  })

  it('[AUT-5] reading and writing take their scopes', async () => {
    const account = await createAccount()
    const path = `${PATH}/nosuchsecret`
    const calls: [string, string, unknown?][] = [
      ['get', PATH],
      ['get', path],
      ['post', PATH, { name: 'A', value: 'x' }],
      ['patch', path, { value: 'x' }],
      ['delete', path],
    ]
    expect(await statusesWith(account, 'account:read', calls)).toEqual([200, 404, 403, 403, 403])
    expect(await statusesWith(account, 'account:write', calls)).toEqual([403, 403, 201, 404, 404])
    const other = await createKey((await createAccount()).userId)
    expect((await api(other.key).get(PATH)).body.secrets).toEqual([])
  })
})
