import { issueWorkerToken } from '../../../../src/effects/workers/worker-token.ts'
import { V1_ROUTES } from '../../../../src/http/v1/v1-api.ts'
import { dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import {
  type Answer,
  ask,
  DOCUMENTED,
  fill,
  KINDS,
  OF_WORKERS,
  type Operation,
  operationsOf,
  UNSCOPED,
  unknownOf,
} from '../../../support/access/operations.ts'
import { FakeProvider } from '../../../support/access/provider.ts'
import { snapshot, VICTIMS, type Victim } from '../../../support/access/victims.ts'
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
  listDurableObjectIds,
  send,
  teamOf,
  vi,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { V1_KINDS, v1, v1BodyOf } from '../../../support/http/v1.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

// Calls every route that names something with every kind of caller without access. The reply alone proves nothing, so the rows of the
// victim are compared too.

/** A caller with some kind of key, or with none, that is not valid for any victim. */
interface Principal {
  name: string
  /** The `Authorization` header for a call about `id`, which is the victim's or unknown. */
  headerFor(victim: Victim, id: string): Promise<string | null>
  /** The team that the call names. */
  teamFor?(victim: Victim): Promise<string>
  /** Whether the caller may read and write collections of its own. */
  collections: 'own' | 'read' | 'none'
}

let otherTenant: Account
let provider: FakeProvider
let otherTenantsSession: string
let otherTenantsEndpoint: string
let otherTenantsPod: string
let otherTenantsHost: string
const victims = new Map<string, Victim>()

const bearer = (key: string) => `Bearer ${key}`
const keyOf = async (userId: string, body: Record<string, unknown>) => bearer((await createKey(userId, body)).key)
const NOUNS = ['pods', 'serverless', 'templates', 'volumes', 'registries', 'account']
const SCOPES = [...NOUNS.flatMap((noun) => [`${noun}:read`, `${noun}:write`]), 'organizations:read']

const PRINCIPALS: readonly Principal[] = [
  { name: 'the full key of another team', headerFor: async () => bearer(otherTenant.key), collections: 'own' },
  {
    name: 'a read-only key of another team',
    headerFor: () => keyOf(otherTenant.userId, { permission: 'READ_ONLY' }),
    collections: 'read',
  },
  {
    name: 'a key of another team that is restricted to this very id',
    headerFor: (_, id) =>
      keyOf(otherTenant.userId, { permission: 'RESTRICTED', scopes: [...SCOPES, `jobs:read@${id}`, `jobs:write@${id}`] }),
    collections: 'own',
  },
  { name: 'a session of another user', headerFor: async () => otherTenantsSession, collections: 'own' },
  {
    name: 'a session of another user that names the owner’s account',
    headerFor: async () => otherTenantsSession,
    teamFor: ({ owner }) => teamOf(owner),
    collections: 'own',
  },
  {
    name: 'a session of a user who was a member there',
    async headerFor({ owner }) {
      const team = await teamOf(owner)
      await joinTeam(team, otherTenant, 'ADMIN')
      const header = bearer(await provider.token({ email: otherTenant.email, sub: otherTenant.userId }))
      const acting = await send('/v2/user', { headers: { Authorization: header, 'X-Team-Id': team } })
      expect([acting.status, acting.headers.get('x-account-id')], 'it was one').toEqual([200, team])
      await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, otherTenant.userId).run()
      dropCachedDecisions()
      return header
    },
    teamFor: ({ owner }) => teamOf(owner),
    collections: 'own',
  },
  {
    name: 'a worker of another endpoint',
    headerFor: () => issueWorkerToken(env, otherTenantsEndpoint, 'w1'),
    collections: 'none',
  },
  {
    name: 'another worker of the same endpoint',
    headerFor: (_, id) => issueWorkerToken(env, id, 'another'),
    collections: 'none',
  },
  { name: 'a pod of another team', headerFor: async () => otherTenantsPod, collections: 'none' },
  { name: 'a host', headerFor: async () => otherTenantsHost, collections: 'none' },
  { name: 'the operator', headerFor: async () => bearer(env.OPERATOR_KEY), collections: 'none' },
  { name: 'a caller without a key', headerFor: async () => null, collections: 'none' },
  {
    name: 'a key of the owner that was revoked',
    async headerFor({ owner }) {
      const { id, key } = await createKey(owner.userId)
      expect((await admin().delete(`/admin/v1/keys/${id}`)).status).toBe(204)
      return bearer(key)
    },
    collections: 'none',
  },
]

beforeAll(async () => {
  provider = await FakeProvider.start()
  otherTenant = await createAccount()
  otherTenantsSession = bearer(await provider.token({ email: otherTenant.email, sub: otherTenant.userId }))
  // This call caches the provider's keys; then the mock of the plane's calls is removed.
  expect((await send('/v2/user', { headers: { Authorization: otherTenantsSession } })).status).toBe(200)
  vi.restoreAllMocks()
  otherTenantsEndpoint = await createEndpoint(otherTenant.key)
  const scene = await podScene(gpus(1))
  const { id } = await scene.create()
  otherTenantsPod = bearer((await scene.host.waitFor((workload) => workload.id === `${id}-1`)).platformEnv.RUNPOD_API_KEY ?? '')
  otherTenantsHost = bearer((await FakeHost.enrol()).accessToken)
  for (const [kind, create] of Object.entries(VICTIMS)) victims.set(kind, await create())
}, 600_000)

const victimOf = (kind: string): Victim => {
  const victim = victims.get(kind)
  if (!victim) throw new Error(`no victim for ${kind}{…}`)
  return victim
}

/** 429 is the refusal of a worker's poll (WRK-7). */
const REFUSED = [401, 403, 404, 429]

/** The whole reply of a route without an id, unless it is a stream. */
async function readAll(
  authorization: string | null,
  { method, path, body }: Operation,
  more: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const response = await send(path, {
    method: method.toUpperCase(),
    headers: {
      ...more,
      ...(authorization !== null && { Authorization: authorization }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

describe.each(PRINCIPALS)('[C1] [AUT-22] $name', ({ headerFor, teamFor, collections }) => {
  const naming = async (victim: Victim) => (teamFor ? { 'X-Team-Id': await teamFor(victim) } : undefined)

  it.each(KINDS)('is refused by every route of %s{…}, as for an unknown id, and changes nothing', async (kind) => {
    const victim = victimOf(kind)
    const [[name, id] = ['', '']] = Object.entries(victim.params)
    const unknownId = unknownOf(id)
    const [header, unknownHeader] = [await headerFor(victim, id), await headerFor(victim, unknownId)]
    const more = await naming(victim)
    const before = await snapshot(victim)
    const foreign: Record<string, Answer> = {}
    const unknown: Record<string, Answer> = {}
    for (const operation of [...operationsOf(kind), ...(kind === '/v2/' ? OF_WORKERS : [])]) {
      const label = `${operation.method} ${operation.path}`
      foreign[label] = await ask(header, operation, fill(operation.path, victim.params), id, more)
      unknown[label] = await ask(unknownHeader, operation, fill(operation.path, { ...victim.params, [name]: unknownId }), unknownId, more)
    }
    for (const [label, { status }] of Object.entries(foreign)) expect(REFUSED, label).toContain(status)
    expect(foreign).toEqual(unknown)
    expect(await snapshot(victim)).toEqual(before)
  })

  it.each(Object.entries(V1_KINDS))(
    '[LEG-4] is refused by every route of v1 for one of %s, as for an unknown id, and changes nothing',
    async (kind, v2Path) => {
      const victim = victimOf(v2Path)
      const { id = '' } = victim.params
      const [header, unknownHeader] = [await headerFor(victim, id), await headerFor(victim, unknownOf(id))]
      const more = await naming(victim)
      const before = await snapshot(victim)
      const answersFor = async (named: string, header: string | null) => {
        const answers: Record<string, unknown> = {}
        for (const { method, path } of V1_ROUTES.filter((route) => route.path.startsWith(`/${kind}/:id`))) {
          const given = { ...more, ...(header !== null && { Authorization: header }) }
          const { status, headers, body } = await v1(null).call(method, path.replace(':id', named), v1BodyOf(method, path), given)
          expect(REFUSED, `${method} ${path}`).toContain(status)
          answers[`${method} ${path}`] = [status, [...headers.keys()].sort(), JSON.stringify(body).replaceAll(named, '<id>')]
        }
        return answers
      }
      expect(await answersFor(id, header)).toEqual(await answersFor(unknownOf(id), unknownHeader))
      expect(await snapshot(victim)).toEqual(before)
    },
  )

  it('receives nothing of a victim from routes without an id, and changes nothing', async () => {
    const everyone = [...victims.values()]
    const header = await headerFor(victimOf('/v2/serverless/'), 'nothing')
    const more = await naming(victimOf('/v2/serverless/'))
    const before = await snapshots(everyone)
    for (const operation of DOCUMENTED.filter(({ path }) => !path.includes('{'))) {
      const isRead = operation.method === 'get'
      // The caller may create objects of its own.
      if (!isRead && collections === 'own') continue
      const label = `${operation.method} ${operation.path}`
      const { status, text } = await readAll(header, operation, more)
      const isForAnyKey = operation.scope === UNSCOPED && [200, 400].includes(status)
      if ((!isRead || collections === 'none') && !isForAnyKey) expect([401, 403], label).toContain(status)
      // The scopes of the caller's own key may contain ids, which the caller itself has written.
      const shown = text.replaceAll(/"scopes":\[[^\]]*\]/g, '')
      const named = everyone.flatMap(({ params }) => Object.values(params)).filter((id) => shown.includes(id))
      expect(named, label).toEqual([])
    }
    expect(await snapshots(everyone)).toEqual(before)
  })
})

describe('an id that does not exist', () => {
  it('[M6] [AUT-20] [AUT-22] creates no object in any call', async () => {
    const header = bearer(otherTenant.key)
    // These first calls create the objects that belong to the caller.
    await readAll(header, { method: 'get', path: '/v2/webhooks/deliveries', scope: '', body: undefined })
    await readAll(header, { method: 'get', path: `/v2/serverless/${otherTenantsEndpoint}/workers`, scope: '', body: undefined })
    const before = await objects()
    for (const kind of KINDS) {
      const { params } = victimOf(kind)
      const unknown = Object.fromEntries(Object.entries(params).map(([name, id]) => [name, unknownOf(id)]))
      const ofOwnEndpoint = kind === '/v2/serverless/' ? [{ ...unknown, id: otherTenantsEndpoint }] : []
      for (const operation of [...operationsOf(kind), ...OF_WORKERS.filter(() => kind === '/v2/')]) {
        await ask(header, operation, fill(operation.path, unknown), 'none')
        if (!operation.path.includes('{workerId}')) continue
        for (const own of ofOwnEndpoint) await ask(header, operation, fill(operation.path, own), 'none')
      }
    }
    expect(await objects()).toEqual(before)
  })
})

/** The ids of all existing objects. */
async function objects(): Promise<unknown> {
  const lists = await Promise.all([
    listDurableObjectIds(env.ENDPOINT),
    listDurableObjectIds(env.HOST),
    listDurableObjectIds(env.HOST_TUNNEL),
    listDurableObjectIds(env.CLUSTER),
    listDurableObjectIds(env.WEBHOOK_SENDER),
    listDurableObjectIds(env.POD_LOG),
  ])
  return lists.map((ids) => ids.map(String).sort())
}

async function snapshots(of: readonly Victim[]): Promise<unknown[]> {
  const all: unknown[] = []
  for (const victim of of) all.push(await snapshot(victim))
  return all
}
