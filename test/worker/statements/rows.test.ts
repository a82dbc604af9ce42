import { type CountedStatement, recordAllRows, sumOfRows } from '../../support/cost/all-rows.ts'
import {
  afterEach,
  api,
  createAccount,
  createKey,
  describe,
  env,
  expect,
  it,
  onTestFinished,
  runInDurableObject,
  vi,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, PodScene } from '../../support/pods/pod-scene.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { untilQuiet } from '../../support/time.ts'

/**
 * Rows of an operation in D1 and in the objects, together with everything that it causes there. Written ones are exact. Ids are random, so
 * an index is entered at random places and read ones differ by a few: their number is a bound.
 */
type Budget = Record<'d1' | 'objects', readonly [mostRead: number, written: number]>

/** Terminated pods of an account, below its budget `formerPods`: the rows of more are deleted (POD-76). */
const FORMER_PODS = 900

/** Every row is billed, and an entry of an index is a row. More than here is a decision; less is progress, and the number follows. */
const BUDGETS = {
  'first call with a key': { d1: [15, 1], objects: [1, 0] },
  'call with a known key': { d1: [1, 0], objects: [1, 0] },
  'create a pod': { d1: [110, 18], objects: [16, 7] },
  'report that it runs': { d1: [3, 3], objects: [8, 1] },
  'list pods': { d1: [20, 0], objects: [1, 0] },
  'beat of a host': { d1: [0, 0], objects: [2, 0] },
  'ship 100 log lines': { d1: [0, 0], objects: [25, 1] },
  'stop a pod': { d1: [10, 17], objects: [40, 7] },
  'report that it ended': { d1: [20, 4], objects: [12, 1] },
  'start a pod': { d1: [95, 13], objects: [40, 8] },
  // The deletion beyond `formerPods` walks an index of the account's terminated pods, which that budget bounds.
  'terminate a pod': { d1: [20 + 2 * FORMER_PODS, 16], objects: [45, 8] },
} as const satisfies Record<string, Budget>
type Operation = keyof typeof BUDGETS

/** Statements that run when a cache of the isolate has expired, which depends on the clock and not on the operation. */
const OF_CACHES = [
  /^select [^(]* from "(catalog_entries|quotas)"/,
  /^select "name", "limits"/,
  /^select "public_key_x", "epoch" from "hosts"/,
  /^SELECT COALESCE\(\(SELECT COALESCE\(json_extract\(b\.bounds/,
]
const MANY = 10_000

interface Found {
  rows: Budget
  statements: CountedStatement[]
}

afterEach(() => vi.restoreAllMocks())

/** The operations' rows for a new account with `past` terminated pods and as many usage rows, audit rows and expired keys. */
async function rowsOfPods(host: FakeHost, past: number): Promise<Map<Operation, Found>> {
  const scene = new PodScene(host, await createAccount())
  const first = await scene.create()
  await scene.run(first.id)
  await scene.act(first.id, 'stop')
  await host.report(`${first.id}-1`, { state: 'exited' })
  if (past > 0) await addPast(scene, first.id, past)
  const { key } = await createKey(scene.account.userId)
  const recorded = await runInDurableObject(hostStub(env, host.id), (_, { storage }) => recordAllRows(storage.sql))
  const found = new Map<Operation, Found>()
  const step = async (name: Operation, act: () => Promise<unknown>) => {
    const from = recorded.length
    await act()
    const own = () => recorded.slice(from).filter(({ text }) => !OF_CACHES.some((form) => form.test(text)))
    const rows = () => budgetOf(own())
    await untilQuiet(
      () => recorded.length,
      () => isWithin(rows(), BUDGETS[name]),
    )
    found.set(name, { rows: rows(), statements: own() })
  }
  await step('first call with a key', () => api(key).get(`${PODS}/${first.id}`))
  await step('call with a known key', () => api(key).get(`${PODS}/${first.id}`))
  let id = ''
  await step('create a pod', async () => {
    ;({ id } = await scene.create())
  })
  await step('report that it runs', () => scene.run(id))
  await step('list pods', () => scene.call.get(PODS))
  await step('beat of a host', () => host.beat())
  const workload = await host.waitFor((one) => one.id === `${id}-1`)
  await host.ship(workload, ['first'])
  const lines = Array.from({ length: 100 }, (_, line) => String(line))
  await step('ship 100 log lines', () => host.ship(workload, lines, 2))
  await step('stop a pod', () => scene.act(id, 'stop'))
  await step('report that it ended', () => host.report(`${id}-1`, { state: 'exited' }))
  await step('start a pod', () => scene.act(id, 'start'))
  await scene.run(id, 2)
  await step('terminate a pod', () => scene.act(id, 'terminate'))
  for (const generation of [1, 2]) await host.report(`${id}-${generation}`, { state: 'gone' })
  await scene.end(first.id)
  await host.beat()
  vi.restoreAllMocks()
  return found
}

const isWithin = (rows: Budget, budget: Budget) =>
  (['d1', 'objects'] as const).every((place) => rows[place][0] <= budget[place][0] && rows[place][1] === budget[place][1])

function budgetOf(statements: readonly CountedStatement[]): Budget {
  const { d1, objects } = sumOfRows(statements)
  return { d1: [d1.read, d1.written], objects: [objects.read, objects.written] }
}

/** Fails with the statements of each operation whose rows are not those of its budget. */
function expectBudgets(found: ReadonlyMap<Operation, Found>, situation: string): void {
  const wrong = [...found].flatMap(([name, { rows, statements }]) => (isWithin(rows, BUDGETS[name]) ? [] : [{ name, rows, statements }]))
  for (const { name, rows, statements } of wrong) {
    const texts = statements.map(
      ({ place, read, written, text }) => `  ${place} ${read}/${written} ${text.replaceAll(/\s+/g, ' ').slice(0, 160)}`,
    )
    console.info([`${name} ${situation}: ${JSON.stringify(rows)}`, ...texts].join('\n'))
  }
  expect(Object.fromEntries(wrong.map(({ name, rows }) => [name, rows])), situation).toEqual({})
  expect([...found.keys()], situation).toEqual(Object.keys(BUDGETS))
}

/** Copies of rows as an account leaves them behind that has used the plane for a long time. */
async function addPast(scene: PodScene, podId: string, count: number): Promise<void> {
  const pods = Math.min(count, FORMER_PODS)
  const teamId = await scene.team()
  const copy = async (table: string, where: string, changes: Record<string, string>, copies = count) => {
    const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>()
    const names = results.map(({ name }) => name)
    const values = names.map((name) => changes[name] ?? `one.${name}`)
    const { meta } = await env.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
       INSERT INTO ${table} (${names}) SELECT ${values} FROM n, (SELECT * FROM ${table} WHERE ${where} LIMIT 1) one`,
    ).run()
    expect(meta.changes, table).toBeGreaterThanOrEqual(copies)
  }
  const id = `'${teamId}-' || i`
  await copy('pods', `id = '${podId}'`, { id, status: "'TERMINATED'", host_id: "'none'" }, pods)
  await copy('usage', `team_id = '${teamId}'`, { workload_id: id, resource_id: id })
  await copy('audit', `team_id = '${teamId}'`, { id })
  await copy('api_keys', `team_id = '${teamId}'`, { id, expires_at: '1' })
}

describe('rows of the plane', () => {
  it('[DEV-17] pods, keys, hosts and logs cost as many rows after 10,000 pods as after one', { timeout: 180_000 }, async () => {
    // Alarms come by the clock: their work belongs to no operation here. Other files share this runtime, so the function is put back.
    const restoreAlarms = await runInDurableObject(hostStub(env, 'any'), (_, { storage }) => {
      const prototype = Object.getPrototypeOf(storage) as DurableObjectStorage
      const { setAlarm } = prototype
      prototype.setAlarm = () => Promise.resolve()
      return () => {
        prototype.setAlarm = setAlarm
      }
    })
    onTestFinished(restoreAlarms)
    const host = await FakeHost.join(gpus(8))
    host.stopBeating()
    // The first round fills the caches.
    await rowsOfPods(host, 0)
    expectBudgets(await rowsOfPods(host, 0), 'after one pod')
    expectBudgets(await rowsOfPods(host, MANY), `after ${MANY} pods`)
    host.leave()
  })
})
