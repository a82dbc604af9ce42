import { consoleDocument } from '../../../src/http/console/console-api.ts'
import { V1_ROUTES } from '../../../src/http/v1/v1-api.ts'
import { noteChange } from '../../../src/services/audit.ts'
import { callOf, EXEMPT, nameOf } from '../../support/access/audited.ts'
import { DOCUMENTED, documentedIn, fill } from '../../support/access/operations.ts'
import { VICTIMS } from '../../support/access/victims.ts'
import { type Account, admin, api, createAccount, createKey, describe, env, expect, it, send } from '../../support/harness.ts'
import { FakeTunnel } from '../../support/hosts/fake-tunnel.ts'
import { Browser } from '../../support/http/browser.ts'
import { graphql } from '../../support/http/graphql.ts'
import { argumentsWith, documentOf, fieldsOf } from '../../support/http/graphql-schema/fields.ts'
import { v1 } from '../../support/http/v1.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

// Every operation of every document that tenants can call: a call that adds a row to D1 counts as a request of the account.

/** Operations of the job API whose rows another limit bounds (`countedBy`). */
const COUNTED_OTHERWISE: Readonly<Record<string, string>> = {
  'post /v2/{endpointId}/cancel/{jobId}': 'windows of LIM-1',
  'post /v2/{endpointId}/purge-queue': 'windows of LIM-1',
  'post /v2/{endpointId}/requests/cancel': 'windows of LIM-1',
  'post /v2/{endpointId}/requests/retry': 'windows of LIM-1',
}

async function rowsByTable(): Promise<Map<string, number>> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'd1_%'",
  ).all<{ name: string }>()
  const counts = results.map(({ name }) => `SELECT '${name}' AS name, COUNT(*) AS n FROM "${name}"`)
  const rows = await env.DB.batch<{ name: string; n: number }>(counts.map((count) => env.DB.prepare(count)))
  return new Map(rows.flatMap((reply) => reply.results.map(({ name, n }) => [name, n] as const)))
}

/** Requests that remain today for the user of the key. The read itself costs one request. */
async function leftOf(key: string): Promise<number> {
  const { headers } = await api(key).get('/v2/user')
  return Number(/"day";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
}

/** The tables to which a call adds rows, and the number of requests that it costs the user of the key. */
async function watched<Value>(key: string, call: () => Promise<Value>): Promise<{ value: Value; grown: string[]; spent: number }> {
  const { id } = (await api(key).get('/v2/user')).body
  await limit(id, 10_000)
  // The quota is read with another key of the user, because the call may revoke its own key.
  const other = (await createKey(id)).key
  const [left, before] = [await leftOf(other), await rowsByTable()]
  const value = await call()
  const after = await rowsByTable()
  const grown = [...after].filter(([name, n]) => n > (before.get(name) ?? 0)).map(([name]) => name)
  return { value, grown, spent: left - (await leftOf(other)) - 1 }
}

// Accounts of tests are exempt from limits by default.
async function limit(userId: string, requests: number): Promise<void> {
  const quota = { minute: requests, hour: requests, day: requests, exempt: false }
  expect((await admin().put(`/admin/v1/users/${userId}/quotas`, quota)).status).toBe(200)
}

const exhaust = async ({ userId, key }: Account) => {
  await limit(userId, 1)
  await api(key).get('/v2/user')
  expect((await api(key).get('/v2/user')).status).toBe(429)
}

describe('[S10] [SHR-3] a call that adds a row has used up a request of its account', () => {
  const changes = DOCUMENTED.filter((operation) => operation.method !== 'get' && !(nameOf(operation) in EXEMPT))
  const written: string[] = []

  it.each(changes.map((operation) => ({ name: nameOf(operation), operation })))('$name', async ({ name, operation }) => {
    const { key, params, body = operation.body } = await callOf(operation)
    const { value, grown, spent } = await watched(key, () =>
      send(fill(operation.path, params), {
        method: operation.method.toUpperCase(),
        headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    expect(value.status, await value.text()).toBeLessThan(300)
    if (grown.length > 0) written.push(name)
    if (!(name in COUNTED_OTHERWISE)) expect({ grown, spent }).toEqual({ grown, spent: grown.length > 0 ? 1 : expect.any(Number) })
  })

  it('of REST: most of them add one', () => {
    expect(written.length).toBeGreaterThan(changes.length / 2)
  })

  it.each(
    DOCUMENTED.filter(({ method, path }) => method === 'get' && (!path.includes('{') || path.slice(0, path.indexOf('{')) in VICTIMS)).map(
      ({ path }) => path,
    ),
  )('get %s', async (path) => {
    const victim = await VICTIMS[path.slice(0, path.indexOf('{'))]?.()
    const key = victim?.owner.key ?? (await createAccount()).key
    const { value, grown, spent } = await watched(key, () =>
      send(fill(path, victim?.params ?? {}), { headers: { Authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(2_000) }).catch(
        () => null,
      ),
    )
    await value?.body?.cancel()
    if (grown.length > 0) expect({ grown, spent }).toEqual({ grown, spent: 1 })
  })

  const CONSOLE: Readonly<Record<string, (account: Account) => Promise<() => Promise<{ status: number }>>>> = {
    'post /console/session':
      async ({ key }) =>
      async () =>
        new Browser().page('POST', '/console/session', { key }),
    'delete /console/session': async ({ key }) => {
      const browser = await Browser.signedIn(key)
      return () => browser.page('DELETE', '/console/session')
    },
    'post /console/session/link': async ({ userId }) => {
      const { body } = await admin().post('/admin/v1/sign-in-links', { userId })
      return () => new Browser().page('POST', '/console/session/link', { link: body.link })
    },
    'post /console/device': async () => () => api(null).post('/console/device', { name: 'laptop' }),
    'post /console/device/token': async (account) => {
      const [browser, device] = [await Browser.signedIn(account.key), await deviceOf()]
      await browser.page('POST', '/console/device/approve', { userCode: device.user_code })
      return () => api(null).post('/console/device/token', { device_code: device.device_code })
    },
    'post /console/device/approve': async ({ key }) => {
      const [browser, device] = [await Browser.signedIn(key), await deviceOf()]
      return () => browser.page('POST', '/console/device/approve', { userCode: device.user_code })
    },
    'post /console/device/deny': async ({ key }) => {
      const [browser, device] = [await Browser.signedIn(key), await deviceOf()]
      return () => browser.page('POST', '/console/device/deny', { userCode: device.user_code })
    },
  }
  /** Operations that write a row which an earlier request has paid for: a session ends once, and an approval yields one key. */
  const PAID = ['delete /console/session', 'post /console/device/token']
  const deviceOf = async () => (await api(null).post('/console/device', { name: 'laptop' })).body

  it.each(
    documentedIn(consoleDocument())
      .filter(({ method }) => method !== 'get')
      .map(nameOf),
  )('%s', async (name) => {
    const account = await createAccount()
    const call = await CONSOLE[name]?.(account)
    if (!call) throw new Error(`no call of ${name}: add one to CONSOLE`)
    const { value, grown, spent } = await watched(account.key, call)
    expect(value.status).toBeLessThan(300)
    if (grown.length > 0) expect({ grown, spent }).toEqual({ grown, spent: PAID.includes(name) ? 0 : 1 })
    // A repeat of an operation that was paid for once adds no row.
    if (name === 'post /console/device') return
    const again = await watched(account.key, call)
    if (again.grown.length > 0) expect(again.spent).toBe(1)
  })

  it('every route of v1', async () => {
    const account = await createAccount()
    const bodies: Readonly<Record<string, object>> = {
      '/templates': { name: 't', imageName: 'acme/idle:1' },
      '/networkvolumes': { name: 'v', size: 10, dataCenterId: 'EU-RO-1' },
      '/containerregistryauth': { name: 'r', username: 'u', password: 'p' },
    }
    const grew: string[] = []
    const ids = new Map<string, string>()
    for (const { method, path } of V1_ROUTES.filter((route) => route.method !== 'GET').toSorted((a, b) => a.path.length - b.path.length)) {
      const kind = `/${path.split('/')[1]}`
      const body = method === 'POST' && !path.includes(':id') ? bodies[path] : method === 'DELETE' ? undefined : { name: 'n2' }
      const at = path.replace(':id', ids.get(kind) ?? 'nosuchid')
      const { value, grown, spent } = await watched(account.key, () => v1(account.key).call(method, at, body))
      if (method === 'POST' && !path.includes(':id') && value.status < 300) ids.set(kind, value.body.id)
      if (grown.length === 0) continue
      grew.push(`${method} ${path}`)
      expect(spent, `${method} ${path}`).toBe(1)
    }
    expect(grew.length).toBeGreaterThanOrEqual(3)
  })

  const KINDS = ['/v2/pods/', '/v2/serverless/', '/v2/templates/', '/v2/registries/', '/v2/account/secrets/']
  it.each(KINDS)('every mutation of GraphQL with the id of one of %s', async (kind) => {
    const victim = await VICTIMS[kind]?.()
    if (!victim) throw new Error(`no victim of ${kind}`)
    const { key } = victim.owner
    const documents = fieldsOf('Mutation').map((mutation) =>
      documentOf('mutation', [mutation], ({ field }) => argumentsWith(victim.params.id ?? '', field)),
    )
    const { grown, spent } = await watched(key, async () => {
      for (const document of documents) await graphql(key)(document)
    })
    expect(spent).toBe(documents.length)
    expect(grown).toContain('audit')
  })

  it('each of several mutations in one document', async () => {
    const { key } = await createAccount()
    const registry = (name: string) => `saveRegistryAuth(input: { name: "${name}", username: "u", password: "p" }) { id }`
    const two = await watched(key, () => graphql(key)(`mutation { a: ${registry('one')} b: ${registry('two')} }`))
    expect(two.value.body.errors).toBeUndefined()
    expect([two.grown.includes('registries'), two.spent]).toEqual([true, 2])
  })
})

describe('[S10] [SHR-3] one request beyond the limit adds no row', () => {
  it('of a sign-in with a key: 429 with the wait, and no session', async () => {
    const account = await createAccount()
    await exhaust(account)
    const before = await rowsByTable()
    const reply = await new Browser().page('POST', '/console/session', { key: account.key })
    expect(reply.status).toBe(429)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await rowsByTable()).toEqual(before)
  })

  it('of a command in a pod, which is a GET: it does not start before the request is counted', async () => {
    const scene = await podScene()
    const begun: unknown[] = []
    await FakeTunnel.open(scene.host, (stream) => void begun.push(stream))
    const { id } = await scene.create()
    await scene.run(id)
    // Another key of the user, which has no recent refusal.
    const { key } = await createKey(scene.account.userId)
    await exhaust(scene.account)
    const before = await rowsByTable()
    const reply = await send(`/v2/pods/${id}/exec`, { headers: { Upgrade: 'websocket', Authorization: `Bearer ${key}` } })
    expect(reply.status).toBe(429)
    expect(await rowsByTable()).toEqual(before)
    expect(begun).toEqual([])
    scene.leave()
  })

  it('of a context without a limiter: it throws', () => {
    const principal = { via: 'KEY' as const, credentialId: 'c', userId: 'u', teamId: 't', scopes: new Set<string>() }
    const ctx = { env, principal, nowMs: 0, requestId: 'r' }
    const change = { action: 'a.b', resourceKind: 'a', resourceId: 'x', before: null, after: {} }
    expect(() => noteChange(ctx, change)).toThrow('its route needs the limiter')
  })
})
