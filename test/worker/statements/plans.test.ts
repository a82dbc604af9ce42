import { applySchema } from '../../../durable-objects/sql-migrations.ts'
import { describe, env, expect, it, runInDurableObject } from '../../support/harness.ts'
import type { Plans } from '../../support/plans/files.ts'
import { faultsOf, type Section, stepsOf } from '../../support/plans/golden.ts'
import { clusterStub, endpointStub, hostStub, podLogStub, rateLimiterStub, webhookSenderStub } from '../../support/runner/stubs.ts'

const { STATEMENTS } = env as unknown as { STATEMENTS: Fetcher }
const ID = 'statements'
let readings = 0

type Explain = (text: string, values: unknown[]) => string[] | Promise<string[]>

/** Runs `use` with a function that explains statements of a store under its own schema. */
const STORES: Record<string, (use: (explain: Explain) => Promise<void>, change?: string) => Promise<void>> = {
  d1: (use) =>
    use(async (text, values) => {
      // The varying comment prevents D1 from reusing a prepared EXPLAIN, which would not see a changed schema.
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN /* ${readings++} */ ${text}`)
        .bind(...values)
        .all<{ detail: string }>()
      return stepsOf(results.map(({ detail }) => detail))
    }),
  endpoint: (use, change) =>
    runInDurableObject(endpointStub(env, change ?? ID), async ({ core }) => {
      await core.transact(() => undefined)
      if (change) core.ctx.storage.sql.exec(change)
      await use(inside(core.ctx.storage))
    }),
  host: (use) => runInDurableObject(hostStub(env, ID), (_, { storage }) => use(inside(storage))),
  'pod-log': (use) =>
    runInDurableObject(podLogStub(env, 'pod', ID), (object, { storage }) => {
      object.store.makeTables()
      return use(inside(storage))
    }),
  'webhook-sender': (use) => runInDurableObject(webhookSenderStub(env, ID), (_, { storage }) => use(inside(storage))),
  'rate-limiter': (use) => runInDurableObject(rateLimiterStub(env, ID), (_, { storage }) => use(inside(storage))),
  cluster: (use) =>
    runInDurableObject(clusterStub(env, ID), async (object, { storage }) => {
      await object.expect(ID)
      await use(inside(storage))
    }),
  // Statements that every object runs before it has tables of its own.
  'every-object': (use) =>
    runInDurableObject(podLogStub(env, 'pod', `${ID}-empty`), (_, { storage }) => {
      applySchema(storage, [])
      return use(inside(storage))
    }),
}

function inside({ sql }: DurableObjectStorage): Explain {
  return (text, values) => {
    const steps = sql.exec(`EXPLAIN QUERY PLAN ${text}`, ...values).toArray()
    return stepsOf(steps.map(({ detail }) => String(detail)))
  }
}

describe('statements', () => {
  it('[DEV-8] every plan is the one that test/plans has: nothing is scanned or sorted without a reason', { timeout: 120_000 }, async () => {
    const plans = await readPlans()
    expect(Object.keys(plans).filter((store) => !(store in STORES))).toEqual([])
    const found: Found = { faults: [], steps: {} }
    for (const [store, sections] of Object.entries(plans)) await explainAll(store, sections, found)
    const isUpdate = await (await STATEMENTS.fetch('http://statements/plans', { method: 'POST', body: JSON.stringify(found.steps) })).json()
    if (!isUpdate)
      expect(found.faults, `${found.faults.join('\n')}\n\`npm run plans -- test/worker/statements\` writes the plans anew.`).toEqual([])
  })

  it('[DEV-8] a missing index, and one too many that misleads SQLite, change plans', async () => {
    const { d1 = [], endpoint = [] } = await readPlans()
    const found: Found = { faults: [], steps: {} }
    await env.DB.exec('DROP INDEX allocations_host')
    await explainAll('d1', d1, found)
    expect(found.faults.some((fault) => fault.includes('insertPod'))).toBe(true)
    // With this additional index, every take read and sorted the whole queue (DEV-10).
    const misled: Found = { faults: [], steps: {} }
    await explainAll('endpoint', endpoint, misled, 'CREATE INDEX jobs_state ON jobs (state)')
    expect(misled.faults.some((fault) => fault.includes('ORDER BY low, order_key'))).toBe(true)
  })
})

/** The result for the statements of the stores. */
interface Found {
  faults: string[]
  /** Steps of plans, by store and text. */
  steps: Record<string, Record<string, string[]>>
}

async function readPlans(): Promise<Plans> {
  return (await STATEMENTS.fetch('http://statements/golden')).json()
}

async function explainAll(store: string, sections: readonly Section[], { faults, steps }: Found, change?: string): Promise<void> {
  const byText: Record<string, string[]> = {}
  steps[store] = byText
  await STORES[store]?.(async (explain) => {
    for (const { site, statements } of sections)
      for (const statement of statements) {
        const { text, values } = statement
        const bound = Array.from({ length: Math.max(values.length, placesIn(text)) }, (_, i) => values[i] ?? 'x')
        const where = `test/plans/${store}.txt: ${site}: ${text}`
        try {
          const details = byText[text] ?? (await explain(text, bound))
          byText[text] = details
          faults.push(...faultsOf(statement, details).map((fault) => `${where}\n  ${fault}`))
        } catch (error) {
          faults.push(`${where}\n  ${String(error)}`)
        }
      }
  }, change)
}

/** Number of values that a statement takes: one per `?`, or the highest of `?1`, `?2`. */
function placesIn(text: string): number {
  const bare = text.replaceAll(/'[^']*'/g, '')
  const numbered = [...bare.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number))
  return numbered.length > 0 ? Math.max(...numbered) : bare.split('?').length - 1
}
