import { watchDatabase } from '../../support/cost/watch-database.ts'
import { admin, createAccount, describe, env, expect, it, vi } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

const POD = 'id name machineId podType machine { podHostId gpuDisplayName } runtime { uptimeInSeconds ports { ip } }'

/** The number of statements that a document causes. */
async function statementsOf(key: string, query: string): Promise<number> {
  const calls = watchDatabase()
  const { status, body } = await graphql(key)(query)
  vi.restoreAllMocks()
  expect([status, body.errors]).toEqual([200, undefined])
  return calls.flat().length
}

/** Inserts `count` copies of a pod's row. */
async function copyPod(id: string, count: number): Promise<void> {
  const { results } = await env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(id).all()
  const row = results[0] ?? {}
  const columns = Object.keys(row)
  const insert = env.DB.prepare(`INSERT INTO pods (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
  await env.DB.batch(
    Array.from({ length: count }, (_, index) =>
      insert.bind(...Object.values({ ...row, id: `${id.slice(0, -5)}x${String(index).padStart(4, '0')}` })),
    ),
  )
}

describe('the cost of a document', () => {
  it('[GQL-30] as many statements for a hundred pods as for one', async () => {
    const scene = await podScene(gpus(1))
    const { key } = scene.account
    const { id } = await scene.create()
    await scene.run(id)
    const query = `{ myself { pods { ${POD} } again: pods { id } } }`
    await statementsOf(key, query)
    const ofOne = await statementsOf(key, query)
    await copyPod(id, 99)
    const { body } = await graphql(key)(query)
    expect([body.data.myself.pods.length, body.data.myself.again.length]).toEqual([100, 100])
    expect(new Set(body.data.myself.pods.map((pod: { machine: { podHostId: string } }) => pod.machine.podHostId)).size).toBe(100)
    expect(await statementsOf(key, query)).toBe(ofOne)
    expect(ofOne).toBeLessThan(6)
    scene.leave()
  })

  it('[GQL-77] no more items than a bound, however often it names a list', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await copyPod(id, 1_049)
    const lists = (count: number) => `{ myself { ${Array.from({ length: count }, (_, n) => `l${n}: pods { id }`).join(' ')} } }`
    const few = await graphql(scene.account.key)(lists(2))
    expect([few.body.errors, few.body.data.myself.l1.length]).toEqual([undefined, 1_050])
    const { body } = await graphql(scene.account.key)(lists(49))
    expect(body.errors[0].message).toContain('more than 50000 items')
    scene.leave()
  })

  it('[GQL-27] one request, and one more for each further mutation', async () => {
    const account = await createAccount({ exempt: false })
    const { status } = await admin().put(`/admin/v1/users/${account.userId}/quotas`, { minute: 3, hour: 3000, day: 50000, exempt: false })
    expect(status).toBeLessThan(300)
    const call = graphql(account.key)
    const mutation = 'mutation { a: deleteFlashApp b: deleteFlashApp c: deleteFlashApp d: deleteFlashApp }'
    const { body } = await call(mutation)
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual([
      'not supported',
      'not supported',
      'not supported',
      'too many requests: rate limit exceeded for the minute window',
    ])
    const refused = await call('{ myself { id } }')
    expect([refused.status, refused.body.errors[0].message]).toEqual([429, 'too many requests: rate limit exceeded for the minute window'])
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  it('[GQL-28] 120 requests a minute without a key from one address', async () => {
    const from = (address: string) => graphql(null)('{ myself { id } }', undefined, { 'X-Forwarded-For': address })
    for (let index = 0; index < 120; index += 1) expect((await from('203.0.113.7')).status).toBe(200)
    expect((await from('203.0.113.7')).body.errors[0].message).toMatch(/^too many requests: more than 120 requests without a key/)
    expect((await from('203.0.113.8')).status).toBe(200)
  })
})

describe('fields without a feature behind them', () => {
  it('[GQL-20] their documents are valid: reads are empty, changes are refused', async () => {
    const call = graphql((await createAccount()).key)
    const { body } = await call(`{ listings(input: {}) { id listedRelease { build { id imageName } config } } listing(id: "x") { id }
      listingFromRepo(repoOwner: "a", repoName: "b") { id } allAiApiPublicConfigs { id metadata } myModels { id versions { metadata } }
      myModel(owner: "a", name: "b") { id } flashApp(flashAppId: "a") { id flashEnvironments { id endpoints { id } } } myself { flashApps { id } serverlessDiscount { type } } }`)
    expect(body).toEqual({
      data: {
        listings: [],
        listing: null,
        listingFromRepo: null,
        allAiApiPublicConfigs: [],
        myModels: [],
        myModel: null,
        flashApp: null,
        myself: { flashApps: [], serverlessDiscount: null },
      },
    })
    const refused = await call('mutation { createFlashApp(input: {name: "a"}) { id } }')
    expect([refused.status, refused.body.errors[0].message, refused.body.data]).toEqual([200, 'not supported', { createFlashApp: null }])
  })

  it('[GQL-16] flashBootType is an enum inline and a string in variables', async () => {
    const call = graphql(null)
    const inline = await call('mutation { saveEndpoint(input: {flashBootType: FLASHBOOT, name: "a"}) { id } }')
    const text = await call('mutation($f: FlashBootType) { saveEndpoint(input: {flashBootType: $f}) { id } }', { f: '' })
    expect([inline.status, text.status]).toEqual([200, 200])
  })

  it('[GQL-12] a variable declared as ID is a string', async () => {
    const call = graphql((await createAccount()).key)
    const { status, body } = await call('query($id: ID!) { podTemplate(id: $id) { id } }', { id: 'none' })
    expect([status, body]).toEqual([200, { data: { podTemplate: null } }])
  })
})
