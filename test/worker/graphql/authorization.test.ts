import { ROLES, SCOPES, scopesOfRole } from '../../../src/domain/access.ts'
import { FakeProvider } from '../../support/access/provider.ts'
import {
  type Account,
  admin,
  beforeAll,
  createAccount,
  createKey,
  describe,
  expect,
  it,
  joinTeam,
  send,
  teamOf,
} from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { documentOf, fieldsOf, type Guarded } from '../../support/http/graphql-schema/fields.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

// Every field that reads or changes something × every kind of caller. The document names no ids, so a permitted caller receives an error
// about missing arguments.

interface Caller {
  name: string
  headers: Record<string, string>
  /** Null: the caller has no key. */
  scopes: ReadonlySet<string> | null
}

const ALL = new Set<string>(SCOPES)
const [QUERIES, MUTATIONS, OF_USER] = [fieldsOf('Query'), fieldsOf('Mutation'), fieldsOf('User')]
/** Fields for any key, which return no data of an account. */
const OF_ANY_KEY = /^(Query\.(myModels?|flash\w+)|Mutation\.\w*(Flash|Model|deployBuild)\w*)$/
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

const isLetIn = ({ isPublic, scope }: Guarded, { scopes }: Caller) => isPublic || (scopes !== null && (scope === null || scopes.has(scope)))

async function ask(headers: Record<string, string>, query: string) {
  const response = await send('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  })
  const body = (await response.json()) as { errors?: { message: string; path?: string[] }[]; data?: Record<string, unknown> }
  return { status: response.status, errors: body.errors ?? [], data: body.data }
}

/** The names of the fields that were not refused to the caller. */
async function letIn(caller: Caller, fields: readonly Guarded[], query: string, at: number): Promise<string[]> {
  const { status, errors } = await ask(caller.headers, query)
  expect(status, caller.name).toBe(200)
  const refused = errors.filter(({ message }) => /^access denied|^this field needs an API key/.test(message)).map(({ path }) => path?.[at])
  return fields.filter(({ field }) => !refused.includes(field.name)).map(({ name }) => name)
}

async function keysOf(account: Account): Promise<Caller[]> {
  const keyed = async (name: string, body: Record<string, unknown>, scopes: readonly string[]): Promise<Caller> => {
    return { name, headers: bearer((await createKey(account.userId, body)).key), scopes: new Set(scopes) }
  }
  const restricted = (name: string, scopes: readonly string[]) => keyed(name, { permission: 'RESTRICTED', scopes }, scopes)
  const callers = [
    { name: 'nobody', headers: {}, scopes: null },
    { name: 'a full key', headers: bearer(account.key), scopes: ALL },
    await keyed(
      'a read-only key',
      { permission: 'READ_ONLY' },
      SCOPES.filter((scope) => scope.endsWith(':read')),
    ),
  ]
  for (const scope of SCOPES) {
    callers.push(await restricted(`a key with ${scope} alone`, [scope]))
    callers.push(
      await restricted(
        `a key without ${scope}`,
        SCOPES.filter((other) => other !== scope),
      ),
    )
  }
  return callers
}

async function sessions(owner: Account): Promise<Caller[]> {
  const provider = await FakeProvider.start()
  const team = await teamOf(owner)
  return Promise.all(
    ROLES.map(async (role) => {
      const member = await createAccount()
      await joinTeam(team, member, role)
      const headers = { ...bearer(await provider.token({ email: member.email })), 'X-Team-Id': team }
      return { name: `a session of a ${role}`, headers, scopes: scopesOfRole(role) }
    }),
  )
}

describe('[GQL-39] the authorisation matrix of GraphQL', () => {
  const callers: Caller[] = []
  beforeAll(async () => {
    const account = await createAccount()
    callers.push(...(await keysOf(account)), ...(await sessions(account)))
  }, 600_000)

  it('[GQL-39] every root field states which callers may read it', () => {
    const silent = [...QUERIES, ...MUTATIONS].filter(({ isPublic, scope }) => !isPublic && scope === null).map(({ name }) => name)
    expect(silent.filter((name) => !OF_ANY_KEY.test(name))).toEqual([])
    expect([...QUERIES, ...MUTATIONS, ...OF_USER].filter(({ scope }) => scope !== null && !ALL.has(scope)).map(({ name }) => name)).toEqual(
      [],
    )
    expect(MUTATIONS.filter(({ scope, isPublic }) => isPublic || scope?.endsWith(':read')).map(({ name }) => name)).toEqual([])
    expect([...QUERIES, ...OF_USER].filter(({ scope }) => scope?.endsWith(':write')).map(({ name }) => name)).toEqual([])
  })

  it('[GQL-5] every field lets in the callers with its scope, and no others', async () => {
    // A template that every caller may read; the verb itself checks a private one.
    const none = ({ field }: Guarded) => (field.name === 'podTemplate' ? '(id: "runpod-ubuntu")' : '')
    const parts: [readonly Guarded[], string, number][] = [
      [QUERIES, documentOf('query', QUERIES, none), 0],
      [MUTATIONS, documentOf('mutation', MUTATIONS, none), 0],
      [OF_USER, documentOf('query', OF_USER, none).replace('query {', 'query { myself {').concat(' }'), 1],
    ]
    let cells = 0
    for (const caller of callers) {
      for (const [fields, query, at] of parts) {
        // A mutation without a key is refused as a whole.
        if (caller.scopes === null && at === 1) continue
        const expected = fields.filter((field) => isLetIn(field, caller)).map(({ name }) => name)
        expect(await letIn(caller, fields, query, at), caller.name).toEqual(expected)
        cells += fields.length
      }
    }
    console.info(`authorisation matrix of GraphQL: ${callers.length} callers, ${cells} cells`)
    expect(cells).toBeGreaterThan(3_000)
  }, 600_000)

  it('[GQL-4] an invalid key is 401, that of a suspended account gets the reason', async () => {
    expect((await ask(bearer('pp_nonsense'), '{ gpuTypes { id } }')).status).toBe(401)
    const suspended = await createAccount()
    await admin().post(`/admin/v1/users/${suspended.userId}/suspend`)
    const { status, errors } = await ask(bearer(suspended.key), '{ myself { id } }')
    expect([status, errors[0]?.message]).toEqual([403, expect.stringContaining('suspended')])
  })

  it("[AUT-6] a pod's own key does with its pod what its scopes permit, and nothing with anything else", async () => {
    const scene = await podScene(gpus(2))
    const [{ id }, other] = [await scene.create(), await scene.create({ name: 'q' })]
    const { platformEnv } = await scene.host.waitFor((workload) => workload.id === `${id}-1`)
    const headers = bearer(platformEnv.RUNPOD_API_KEY ?? '')
    const own = await ask(headers, `{ pod(input: {podId: "${id}"}) { id machine { podHostId } } }`)
    expect(own).toMatchObject({ errors: [], data: { pod: { id, machine: { podHostId: expect.stringContaining(id) } } } })
    const foreign = await ask(headers, `{ pod(input: {podId: "${other.id}"}) { id } }`)
    expect([foreign.data, foreign.errors[0]?.message]).toEqual([{ pod: null }, expect.stringMatching(/^access denied/)])
    const stop = await ask(headers, `mutation { podStop(input: {podId: "${other.id}"}) { id } }`)
    expect(stop.errors[0]?.message).toMatch(/^access denied/)
    expect((await scene.get(other.id)).status).toBe('PROVISIONING')
    expect((await ask(headers, '{ myself { pods { id } } }')).errors[0]?.message).toMatch(/^access denied/)
    scene.leave()
  })
})
