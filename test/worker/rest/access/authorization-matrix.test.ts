import { randomBytes } from 'node:crypto'
import { ROLES, SCOPES, scopesOfRole } from '../../../../src/domain/access.ts'
import { formatApiKey } from '../../../../src/domain/key-text.ts'
import { issueWorkerToken } from '../../../../src/effects/workers/worker-token.ts'
import { adminDocument } from '../../../../src/http/admin-api.ts'
import { ask, DOCUMENTED, documentedIn, type Operation, UNSCOPED } from '../../../support/access/operations.ts'
import { FakeProvider } from '../../../support/access/provider.ts'
import {
  type Account,
  admin,
  beforeAll,
  createAccount,
  createEndpoint,
  createKey,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { Browser, PAGE } from '../../../support/http/browser.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

// Every documented operation × every kind of caller, on ids that do not exist: a permitted caller gets 404 or a collection of its own.

type Verdict = '401' | '403' | 'a scope is missing' | 'let in'

interface Caller {
  name: string
  header: string | null
  /** The caller acts for an account that is not its maker's own. */
  isGuest?: boolean
  /** The team that a session acts for; absent for a key and for the own account. */
  team?: string
  /** Cookies that a browser sends instead of a header. */
  cookies?: Record<string, string>
  /** `reads`: an operator for operations that change nothing. */
  isOperator?: boolean | 'reads'
  expected(scope: string, method: string): Verdict
}

const bearer = (key: string) => `Bearer ${key}`
const always = (verdict: Verdict) => () => verdict
const ifHeld = (scopes: ReadonlySet<string>) => (scope: string) =>
  scope === UNSCOPED || scopes.has(scope) ? 'let in' : 'a scope is missing'
const restricted = async ({ userId }: Account, scopes: readonly string[]) =>
  bearer((await createKey(userId, { permission: 'RESTRICTED', scopes })).key)

async function otherTenants(account: Account): Promise<Caller[]> {
  const revoked = await createKey(account.userId)
  await admin().delete(`/admin/v1/keys/${revoked.id}`)
  const expired = await createKey(account.userId, { expiresAt: '2020-01-01T00:00:00Z' })
  const tokens: Record<string, string | null> = {
    nobody: null,
    'a bad key': bearer('pp_nonsense'),
    'a key that nobody issued': bearer(formatApiKey('0000000000', randomBytes(32))),
    'a revoked key': bearer(revoked.key),
    'an expired key': bearer(expired.key),
    'the operator': OPERATOR,
    'a host': bearer((await FakeHost.enrol()).accessToken),
    'a worker': await issueWorkerToken(env, await createEndpoint(account.key), 'w1'),
  }
  return Object.entries(tokens).map(([name, header]) => ({ name, header, expected: always('401') }))
}

async function keysOf(account: Account): Promise<Caller[]> {
  const readOnly = await createKey(account.userId, { permission: 'READ_ONLY' })
  const scene = await podScene(gpus(1))
  const { id } = await scene.create()
  const pod = (await scene.host.waitFor((workload) => workload.id === `${id}-1`)).platformEnv.RUNPOD_API_KEY ?? ''
  const suspended = await createAccount()
  await admin().post(`/admin/v1/users/${suspended.userId}/suspend`)
  return [
    { name: 'a full key', header: bearer(account.key), expected: always('let in') },
    {
      name: 'a read-only key',
      header: bearer(readOnly.key),
      expected: (scope) => (scope === UNSCOPED || scope.endsWith(':read') ? 'let in' : 'a scope is missing'),
    },
    { name: 'a pod', header: bearer(pod), expected: ifHeld(new Set()) },
    { name: 'a key of a suspended account', header: bearer(suspended.key), expected: always('403') },
  ]
}

async function keysByScope(account: Account): Promise<Caller[]> {
  const callers: Caller[] = []
  for (const scope of SCOPES) {
    const others = SCOPES.filter((other) => other !== scope)
    callers.push({ name: `a key with ${scope} alone`, header: await restricted(account, [scope]), expected: ifHeld(new Set([scope])) })
    callers.push({ name: `a key without ${scope}`, header: await restricted(account, others), expected: ifHeld(new Set(others)) })
  }
  return callers
}

async function keysByRole(owner: Account): Promise<Caller[]> {
  const team = await teamOf(owner)
  const callers: Caller[] = []
  for (const role of ROLES) {
    const member = await createAccount()
    await joinTeam(team, member, role)
    await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, member.keyId).run()
    callers.push({
      name: `a key of a member who is ${role}`,
      header: bearer(member.key),
      isGuest: true,
      expected: ifHeld(scopesOfRole(role)),
    })
  }
  return callers
}

/** Sessions of a signed-in user, in the own account and as a member of another. */
async function sessions(owner: Account): Promise<Caller[]> {
  const provider = await FakeProvider.start()
  const team = await teamOf(owner)
  const callers: Caller[] = []
  for (const role of ROLES) {
    const member = await createAccount()
    await joinTeam(team, member, role)
    const header = bearer(await provider.token({ email: member.email }))
    callers.push({ name: `a session of a ${role}`, header, team, expected: ifHeld(scopesOfRole(role)) })
    if (role === 'BASIC') callers.push({ name: 'that session in its own account', header, expected: always('let in') })
  }
  return callers
}

/** Browsers, whose cookies stand for the credential of their sign-in (SESSION-2), and count only from pages of the plane (SESSION-4). */
async function browsers(account: Account): Promise<Caller[]> {
  const readOnly = await createKey(account.userId, { permission: 'READ_ONLY' })
  const revoked = await createKey(account.userId)
  const member = await createAccount()
  const team = await teamOf(account)
  await joinTeam(team, member, 'BASIC')
  const user = await cookieOf({ link: await linkFor(member.userId) })
  const operator = await cookieOf({ link: await linkFor(member.userId, true) })
  const ended = await cookieOf({ key: revoked.key })
  await admin().delete(`/admin/v1/keys/${revoked.id}`)
  const reads = (scope: string) => scope === UNSCOPED || scope.endsWith(':read')
  return [
    {
      name: 'the cookie of a read-only key',
      cookies: { ...PAGE, ...(await cookieOf({ key: readOnly.key })) },
      expected: (scope: string) => (reads(scope) ? 'let in' : 'a scope is missing') as Verdict,
    },
    { name: 'the cookie of a user', cookies: { ...PAGE, ...user }, expected: always('let in') },
    { name: 'the cookie of a BASIC member', cookies: { ...PAGE, ...user }, team, expected: ifHeld(scopesOfRole('BASIC')) },
    {
      name: 'a cookie without the mark of a page',
      cookies: user,
      expected: (_: string, method: string) => (method === 'get' ? 'let in' : '401') as Verdict,
    },
    { name: 'a cookie from another site', cookies: { ...PAGE, ...user, 'Sec-Fetch-Site': 'cross-site' }, expected: always('401') },
    {
      name: 'a cookie from a page in a sandbox',
      cookies: { 'X-Requested-With': 'podplane', ...user, Origin: 'null' },
      expected: always('401'),
    },
    { name: 'the cookie of a revoked key', cookies: { ...PAGE, ...ended }, expected: always('401') },
    { name: 'a cookie that nobody was given', cookies: { ...PAGE, Cookie: `podplane-session=${'x'.repeat(43)}` }, expected: always('401') },
    { name: 'the cookie of an operator who is a user', cookies: { ...PAGE, ...operator }, isOperator: true, expected: always('let in') },
    {
      name: 'the cookie of an operator without the mark of a page',
      cookies: operator,
      isOperator: 'reads' as const,
      expected: (_: string, method: string) => (method === 'get' ? 'let in' : '401') as Verdict,
    },
    {
      name: 'the cookie of an operator from another site',
      cookies: { ...PAGE, ...operator, 'Sec-Fetch-Site': 'cross-site' },
      expected: always('401'),
    },
    {
      name: 'the cookie of an operator from a page in a sandbox',
      cookies: { 'X-Requested-With': 'podplane', ...operator, Origin: 'null' },
      expected: always('401'),
    },
    {
      name: 'the cookie of the operator key',
      cookies: { ...PAGE, ...(await cookieOf({ key: env.OPERATOR_KEY })) },
      isOperator: true,
      expected: always('401'),
    },
  ].map((caller) => ({ header: null, ...caller }))
}

async function linkFor(userId: string, isOperator = false): Promise<string> {
  return (await admin().post('/admin/v1/sign-in-links', { userId, isOperator })).body.link
}

async function cookieOf(by: { key: string } | { link: string }): Promise<Record<string, string>> {
  const browser = new Browser()
  expect((await browser.page('POST', '/console/session', by)).status).toBe(201)
  return { Cookie: `podplane-session=${browser.secret}` }
}

const OPERATOR = bearer(env.OPERATOR_KEY)
const OF_OPERATORS = documentedIn(adminDocument())
const nothing = (path: string) => path.replaceAll(/\{\w+\}/g, 'nothing0000000')
/** TEAM-3: operations that a user carries out only in their own account, not in one where they are a guest. */
const IN_OWN_ACCOUNT = ['post /v2/organizations', 'post /v2/organizations/invitations/accept', 'post /v2/organizations/invitations/decline']
/** TEAM-20, ACC-7: every session has keys of its own and reads its own user, whatever its role. */
const OF_ONESELF = /^\w+ \/v2\/(account\/keys|user)/
/** TEAM-21: the maker of a key must hold the scopes that it grants. */
const scopesNeeded = ({ scope, body }: Operation) => [scope, ...((body as { scopes?: string[] } | undefined)?.scopes ?? [])]
/** API-5: the job API replies 401 to a key without the permission; a suspended account gets the reason on both surfaces. */
const onSurface = ({ path }: Operation, verdict: Verdict): Verdict =>
  verdict === 'a scope is missing' ? (path.startsWith('/v2/{endpointId}/') ? '401' : '403') : verdict
const received = (status: number): Verdict => (status === 401 || status === 403 ? `${status}` : 'let in')

describe('[API-5] [AUT-3] [AUT-4] [AUT-5] [ORG-3] the authorisation matrix', () => {
  const callers: Caller[] = []

  beforeAll(async () => {
    const account = await createAccount()
    const makers = [otherTenants, keysOf, keysByScope, keysByRole, sessions, browsers]
    for (const make of makers) callers.push(...(await make(account)))
  }, 600_000)

  it('every operation names its scope', () => {
    expect(
      DOCUMENTED.filter(({ scope }) => scope !== UNSCOPED && !SCOPES.some((known) => known === scope)).map(({ path }) => path),
    ).toEqual([])
  })

  it('every operation lets in the callers with its scope, and no others', async () => {
    let cells = 0
    for (const { name, header, team, cookies, isGuest = false, expected } of callers) {
      const want: Record<string, Verdict> = {}
      const got: Record<string, Verdict> = {}
      for (const operation of DOCUMENTED) {
        const label = `${operation.method} ${operation.path}`
        const decisions = scopesNeeded(operation).map((scope) => expected(scope, operation.method))
        const held = decisions.find((verdict) => verdict !== 'let in') ?? 'let in'
        const isOwn = team !== undefined && OF_ONESELF.test(label)
        want[label] = isGuest && IN_OWN_ACCOUNT.includes(label) ? '403' : onSurface(operation, isOwn ? 'let in' : held)
        got[label] = received((await call(header, operation, team, cookies)).status)
        cells += 1
      }
      expect(got, name).toEqual(want)
    }
    console.info(`authorisation matrix: ${callers.length} callers x ${DOCUMENTED.length} operations = ${cells} cells`)
    expect(cells).toBe(callers.length * DOCUMENTED.length)
  }, 600_000)

  it('[AUT-4a] [SESSION-4] every operation of the operator API lets in the operator, and no others', async () => {
    for (const { name, header, team, cookies, isOperator = header === OPERATOR } of callers) {
      const got = await Promise.all(OF_OPERATORS.map(async (operation) => received((await call(header, operation, team, cookies)).status)))
      const isLetIn = (method: string) => isOperator === true || (isOperator === 'reads' && method === 'get')
      expect(got, name).toEqual(OF_OPERATORS.map(({ method }) => (isLetIn(method) ? 'let in' : '401')))
    }
    console.info(
      `operator API: ${callers.length} callers x ${OF_OPERATORS.length} operations = ${callers.length * OF_OPERATORS.length} cells`,
    )
  }, 600_000)
})

function call(header: string | null, operation: Operation, team: string | undefined, cookies: Record<string, string> = {}) {
  return ask(header, operation, nothing(operation.path), 'nothing0000000', { ...cookies, ...(team !== undefined && { 'X-Team-Id': team }) })
}
