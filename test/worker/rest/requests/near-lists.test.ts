import { createApp } from '../../../../src/app.ts'
import {
  type Account,
  admin,
  afterEach,
  beforeEach,
  createAccount,
  createExecutionContext,
  describe,
  env,
  evictDurableObject,
  expect,
  it,
  ORIGIN,
  vi,
} from '../../../support/harness.ts'
import { rateLimiterStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const START = Date.UTC(2027, 0, 1)
const SECOND_MS = 1_000

/**
 * A database with a replica that lags: it answers a statement as it did the first time, until a session asks for a newer state than it
 * has. The primary is the database of the test.
 */
class Lagging {
  /** Texts of the statements, by who answered them. */
  readonly primary: string[] = []
  readonly replica: string[] = []
  private state = ''
  private readonly answers = new Map<string, Promise<unknown>>()
  private readonly originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>()

  readonly binding: D1Database = {
    prepare: (text) => {
      this.primary.push(text)
      return env.DB.prepare(text)
    },
    batch: (statements) => env.DB.batch(statements),
    exec: (text) => env.DB.exec(text),
    dump: () => env.DB.dump(),
    withSession: (constraint) => {
      if (constraint !== 'first-unconstrained' && String(constraint) > this.state) this.catchUp(String(constraint))
      return {
        prepare: (text: string) => this.lagging(text, env.DB.prepare(text)),
        batch: <Row>(statements: D1PreparedStatement[]) => {
          this.replica.push('a batch')
          return env.DB.batch<Row>(statements.map((one) => this.originals.get(one) ?? one))
        },
        getBookmark: () => this.state,
      }
    },
  }

  private catchUp(state: string): void {
    this.state = state
    this.answers.clear()
  }

  private lagging(text: string, statement: D1PreparedStatement, values: unknown[] = []): D1PreparedStatement {
    const answered = new Proxy(statement, {
      get: (target, name) => {
        if (name === 'bind') return (...given: unknown[]) => this.lagging(text, target.bind(...given), given)
        return (...given: never[]) => {
          this.replica.push(text)
          const key = JSON.stringify([name, text, values])
          const known = this.answers.get(key) ?? (Reflect.get(target, name) as (...all: never[]) => Promise<unknown>).call(target, ...given)
          this.answers.set(key, known)
          return known
        }
      },
    })
    this.originals.set(answered, statement)
    return answered
  }
}

let database = new Lagging()
beforeEach(() => {
  database = new Lagging()
  vi.useFakeTimers({ toFake: ['Date'], now: START })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function call(account: Account, method: string, path: string, body?: object) {
  const request = new Request(`${ORIGIN}${path}`, {
    method,
    headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const bindings = { ...env, DB: database.binding, READ_REPLICAS: '1' }
  const response = await createApp().fetch(request, bindings, createExecutionContext())
  return {
    status: response.status,
    body: response.status === 204 ? null : ((await response.json()) as { templates: { name: string }[]; id: string }),
  }
}
const names = async (account: Account) => (await call(account, 'GET', '/v2/templates')).body?.templates.map(({ name }) => name).toSorted()
const create = async (account: Account, name: string) => {
  const made = await call(account, 'POST', '/v2/templates', { name, image: 'acme/t:1' })
  expect(made.status).toBe(201)
  return made.body?.id ?? ''
}
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** Reads lists until the replica answers them. */
async function readNear(account: Account): Promise<void> {
  // The counter of a new account knows its writes from its first request on.
  await names(account)
  pass(16 * SECOND_MS)
  await until(async () => {
    const before = database.replica.length
    await names(account)
    return database.replica.length > before
  })
}

describe('lists from a replica', () => {
  it('[RATE-34] contain every write of the caller, however far the replica lags', async () => {
    const account = await createAccount({ exempt: false })
    const seen = [await names(account)]
    for (const name of ['a', 'b', 'c']) {
      await create(account, name)
      seen.push(await names(account))
      pass(20 * SECOND_MS)
      seen.push(await names(account), await names(account))
      await readNear(account)
      seen.push(await names(account))
    }
    const [a, b, c] = [['a'], ['a', 'b'], ['a', 'b', 'c']]
    expect(seen).toEqual([[], a, a, a, a, b, b, b, b, c, c, c, c])
    expect(database.replica.length).toBeGreaterThan(0)
  })

  it('[RATE-34] the replica of this test lags: a write of others may be missing', async () => {
    const account = await createAccount({ exempt: false })
    await create(account, 'a')
    await readNear(account)
    await env.DB.prepare("DELETE FROM templates WHERE name = 'a'").run()
    expect(await names(account)).toEqual(['a'])
    await create(account, 'b')
    expect(await names(account)).toEqual(['b'])
  })

  it('[RATE-34] are read from the primary while a write may be under way, and after a restart of the counter', async () => {
    const account = await createAccount({ exempt: false })
    await readNear(account)
    await call(account, 'DELETE', '/v2/templates/nosuch')
    const before = database.replica.length
    await names(account)
    pass(14 * SECOND_MS)
    await names(account)
    expect(database.replica.length).toBe(before)
    await readNear(account)
    vi.spyOn(database.binding, 'batch').mockImplementationOnce(async (statements) => {
      await evictDurableObject(rateLimiterStub(env, account.userId))
      for (let read = 0; read < 5; read += 1) expect(await names(account)).toEqual([])
      return env.DB.batch(statements)
    })
    await create(account, 'a')
    expect(await names(account)).toEqual(['a'])
  })

  it('[RATE-34] a write that took long, or was not counted, is announced before it is answered', async () => {
    const account = await createAccount({ exempt: false })
    await names(account)
    await readNear(account)
    vi.spyOn(database.binding, 'batch').mockImplementation(async (statements) => {
      pass(60 * SECOND_MS)
      // Lists are read from the replica again while the write is under way.
      await readNear(account)
      return env.DB.batch(statements)
    })
    await create(account, 'slow')
    vi.restoreAllMocks()
    expect(await names(account)).toEqual(['slow'])
    await readNear(account)
    const stub = rateLimiterStub(env, account.userId)
    const away = { take: () => Promise.reject(new Error('overloaded')), wrote: () => stub.wrote() }
    const get = vi.spyOn(env.RATE_LIMITER, 'get').mockReturnValue(away as unknown as ReturnType<typeof env.RATE_LIMITER.get>)
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await create(account, 'unheard')
    get.mockRestore()
    expect(await names(account)).toEqual(['slow', 'unheard'])
  })

  it('[RATE-34] nothing that decides reads a replica: no single resource, no write, no account without windows', async () => {
    const account = await createAccount({ exempt: false })
    const id = await create(account, 'a')
    await readNear(account)
    const before = database.replica.length
    const primary = database.primary.length
    await call(account, 'GET', `/v2/templates/${id}`)
    await call(account, 'GET', '/v2/account/keys')
    await call(account, 'GET', '/v2/account/audit')
    await call(account, 'PATCH', `/v2/templates/${id}`, { name: 'b' })
    await call(account, 'DELETE', `/v2/templates/${id}`)
    expect(database.primary.length).toBeGreaterThan(primary)
    await admin().put(`/admin/v1/users/${account.userId}/quotas`, { minute: 60, hour: 3000, day: 50000, exempt: true })
    pass(70 * SECOND_MS)
    expect((await call(account, 'GET', '/v2/templates')).status).toBe(200)
    expect(database.replica.length).toBe(before)
  })

  it('[RATE-34] cost no call to the counter beside the count of each request', async () => {
    const account = await createAccount({ exempt: false })
    await readNear(account)
    const calls = vi.spyOn(env.RATE_LIMITER, 'get')
    await create(account, 'a')
    await names(account)
    expect(calls).toHaveBeenCalledTimes(2)
  })

  it.each(['/v2/pods', '/v2/serverless', '/v2/clusters', '/v2/templates', '/v2/network-volumes', '/v2/global-volumes', '/v2/registries'])(
    '[RATE-34] %s is such a list',
    async (path) => {
      const account = await createAccount({ exempt: false })
      await readNear(account)
      const before = database.replica.length
      expect((await call(account, 'GET', path)).status).toBe(200)
      expect(database.replica.length).toBeGreaterThan(before)
    },
  )
})
