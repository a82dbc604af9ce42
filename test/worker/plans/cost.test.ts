import { type Call, callOf, nameOf } from '../../support/access/audited.ts'
import { DOCUMENTED, fill, type Operation } from '../../support/access/operations.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import { afterEach, api, createAccount, describe, env, expect, it, send, vi } from '../../support/harness.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'

// Many plans: the cost of each one for the database, and whether it leaves rows behind.

const PLANNABLE = DOCUMENTED.filter(({ method, isPlannable }) => method !== 'get' && isPlannable)
/** Bounds on calls to D1 and on statements in them. Most plans need half as many. */
const [MAX_CALLS, MAX_STATEMENTS] = [6, 20]

afterEach(() => {
  vi.restoreAllMocks()
})

async function plan(operation: Operation, { key, params, body = operation.body }: Call) {
  const calls = watchDatabase()
  const response = await send(`${fill(operation.path, params)}?dryRun=true`, {
    method: operation.method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${key}`,
      'Idempotency-Key': crypto.randomUUID(),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const seen = { status: response.status, text: await response.text(), calls: [...calls] }
  vi.restoreAllMocks()
  return seen
}

const answersKept = () => env.DB.prepare('SELECT COUNT(*) AS count FROM idempotency_keys').first<{ count: number }>()

describe('[DRY-32] a plan', () => {
  it.each(PLANNABLE.map((operation) => ({ name: nameOf(operation), operation })))(
    '$name costs a few reads, and keeps no key of its own',
    async ({ operation }) => {
      const call = await callOf(operation)
      await plan(operation, call)
      const kept = await answersKept()
      const { status, text, calls } = await plan(operation, call)
      expect(status, text).toBe(200)
      expect(calls.length).toBeLessThanOrEqual(MAX_CALLS)
      expect(calls.flat().length).toBeLessThanOrEqual(MAX_STATEMENTS)
      expect(calls.flat().filter((statement) => !/^\s*(select|with)\b/i.test(statement))).toEqual([])
      expect(await answersKept()).toEqual(kept)
    },
  )

  it('of all resources of an account costs as much with many pods as with one', async () => {
    const scene: PodScene = await podScene()
    const operation = PLANNABLE.find(({ path }) => path === '/v2/spend/stop')
    if (!operation) throw new Error('nothing stops everything')
    const call = { key: scene.account.key, params: {}, body: {} }
    await scene.create({})
    await plan(operation, call)
    const one = await plan(operation, call)
    for (const name of ['b', 'c', 'd', 'e']) await scene.create({ name })
    const many = await plan(operation, call)
    expect([one.status, many.status]).toEqual([200, 200])
    expect(JSON.parse(many.text).stops).toHaveLength(5)
    expect(many.calls).toEqual(one.calls)
    scene.leave()
  })

  it('counts as a normal request', async () => {
    const { key } = await createAccount()
    const left = async () => {
      const { status, headers } = await api(key).post('/v2/spend/stop?dryRun=true', {})
      return [status, Number(/"minute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])] as const
    }
    const [first, second] = [await left(), await left()]
    expect(second).toEqual([200, first[1] - 1])
  })
})
