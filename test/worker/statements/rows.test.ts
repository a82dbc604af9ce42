import { type Budget, Costs } from '../../support/cost/budgets.ts'
import { type Counted, recordCosts, withoutAlarms } from '../../support/cost/recorder.ts'
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

/** Terminated pods of an account, below its budget `formerPods`: the rows of more are deleted (POD-76). */
const FORMER_PODS = 900

/** Every row is billed, and an entry of an index is a row. More than here is a decision; less is progress, and the number follows. */
const BUDGETS = {
  'first call with a key': { d1: [15, 1, 3, 4500], objects: [1, 0, 0, 0] },
  'call with a known key': { d1: [1, 0, 1, 2200], objects: [1, 0, 0, 0] },
  'call within a limit of requests': { d1: [1, 0, 1, 1700], objects: [1, 3, 1, 100] },
  'create a pod': { d1: [149, 31, 7, 31_900], objects: [16, 7, 2, 200] },
  'report that it runs': { d1: [3, 4, 2, 3800], objects: [8, 1, 1, 200] },
  'list pods': { d1: [20, 0, 2, 5600], objects: [1, 0, 1, 100] },
  'beat of a host': { d1: [0, 0, 0, 0], objects: [2, 0, 0, 0] },
  'ship 100 log lines': { d1: [0, 0, 0, 0], objects: [25, 1, 1, 6600] },
  'stop a pod': { d1: [10, 18, 3, 7100], objects: [40, 7, 3, 300] },
  'report that it ended': { d1: [52, 16, 4, 5800], objects: [12, 1, 1, 200] },
  'start a pod': { d1: [95, 26, 5, 20_000], objects: [40, 8, 4, 400] },
  // The deletion beyond `formerPods` walks an index of the account's terminated pods, which that budget bounds.
  'terminate a pod': { d1: [20 + FORMER_PODS, 16, 3, 7800], objects: [45, 8, 3, 300] },
  'hourly cleanup': { d1: [30, 4, 8, 4200], objects: [25, 5, 0, 0] },
} as const satisfies Record<string, Budget>

/** Statements that run when a cache of the isolate has expired, which depends on the clock and not on the operation. */
const OF_CACHES = [
  /^select [^(]* from "(catalog_entries|quotas)"/,
  /^select "name", "limits"/,
  /^select "public_key_x", "epoch" from "hosts"/,
  /^SELECT COALESCE\(\(SELECT COALESCE\(json_extract\(b\.bounds/,
]
const MANY = 10_000

afterEach(() => vi.restoreAllMocks())

const isOfCaches = ({ text }: Counted) => OF_CACHES.some((form) => form.test(text))

/** The operations' costs for a new account with `past` terminated pods and as many usage rows, audit rows and expired keys. */
async function costsOfPods(host: FakeHost, past: number): Promise<Costs<keyof typeof BUDGETS>> {
  const scene = new PodScene(host, await createAccount())
  const first = await scene.create()
  await scene.run(first.id)
  await scene.act(first.id, 'stop')
  await host.report(`${first.id}-1`, { state: 'exited' })
  if (past > 0) await addPast(scene, first.id, past)
  if (past > 0) await addFormerPods(await new PodScene(host, await createAccount()).team(), first.id)
  await addOld(scene, first.id)
  const { key } = await createKey(scene.account.userId)
  // The operator has exempted the other account from the limit of requests.
  const limited = await createAccount({ exempt: false })
  await api(limited.key).get(PODS)
  const costs = new Costs(BUDGETS, await recordCosts(), isOfCaches)
  await costs.step('first call with a key', () => api(key).get(`${PODS}/${first.id}`))
  await costs.step('call with a known key', () => api(key).get(`${PODS}/${first.id}`))
  await costs.step('call within a limit of requests', () => api(limited.key).get(PODS))
  let id = ''
  await costs.step('create a pod', async () => {
    ;({ id } = await scene.create())
  })
  await costs.step('report that it runs', () => scene.run(id))
  await costs.step('list pods', () => scene.call.get(PODS))
  await costs.step('beat of a host', () => host.beat())
  const workload = await host.waitFor((one) => one.id === `${id}-1`)
  await host.ship(workload, ['first'])
  const lines = Array.from({ length: 100 }, (_, line) => String(line))
  await costs.step('ship 100 log lines', () => host.ship(workload, lines, 2))
  await costs.step('stop a pod', () => scene.act(id, 'stop'))
  await costs.step('report that it ended', () => host.report(`${id}-1`, { state: 'exited' }))
  await costs.step('start a pod', () => scene.act(id, 'start'))
  await scene.run(id, 2)
  await costs.step('terminate a pod', () => scene.act(id, 'terminate'))
  for (const generation of [1, 2]) await host.report(`${id}-${generation}`, { state: 'gone' })
  await scene.end(first.id)
  await host.beat()
  await costs.step('hourly cleanup', () => keepHouse(host))
  vi.restoreAllMocks()
  return costs
}

/** Copies of rows as an account leaves them behind that has used the plane for a long time. */
async function addPast(scene: PodScene, podId: string, count: number): Promise<void> {
  const teamId = await scene.team()
  const [id, own] = [`'${teamId}-' || i`, `team_id = '${teamId}'`]
  await addFormerPods(teamId, podId)
  await copyRows('usage', own, { workload_id: id, resource_id: id }, count)
  await copyRows('audit', own, { id }, count)
  await copyRows('api_keys', own, { id, expires_at: '1' }, count)
}

/** Terminated pods of an account, copies of a pod. */
async function addFormerPods(teamId: string, podId: string): Promise<void> {
  const changes = { id: `'${teamId}-' || i`, team_id: `'${teamId}'`, status: "'TERMINATED'", host_id: "'none'" }
  await copyRows('pods', `id = '${podId}'`, changes, FORMER_PODS)
}

/** A pod, a usage row and an audit row that the next cleanup deletes. */
async function addOld(scene: PodScene, podId: string): Promise<void> {
  const teamId = await scene.team()
  const [id, own] = [`'${teamId}-old'`, `team_id = '${teamId}'`]
  await copyRows('pods', `id = '${podId}'`, { id, status: "'TERMINATED'", host_id: "'none'", changed_at: '1' }, 1)
  await copyRows('usage', own, { workload_id: id, resource_id: id, started_at: '1', ended_at: '2' }, 1)
  await copyRows('audit', own, { id, at: '1' }, 1)
}

async function copyRows(table: string, where: string, changes: Record<string, string>, copies: number): Promise<void> {
  const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>()
  const names = results.map(({ name }) => name)
  const values = names.map((name) => changes[name] ?? `one.${name}`)
  const { meta } = await env.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
     INSERT INTO ${table} (${names}) SELECT ${values} FROM n, (SELECT * FROM ${table} WHERE ${where} LIMIT 1) one`,
  ).run()
  expect(meta.changes, table).toBeGreaterThanOrEqual(copies)
}

/** The alarm of a host's object at the time of its cleanup, which comes once an hour. */
async function keepHouse(host: FakeHost): Promise<void> {
  await runInDurableObject(hostStub(env, host.id), async (object, { storage }) => {
    storage.sql.exec("UPDATE timers SET due_at = CASE name WHEN 'housekeeping' THEN 1 ELSE 9e15 END /* of a test */")
    await object.alarm()
  })
}

describe('rows of the plane', () => {
  it('[DEV-17] pods, keys, hosts and logs cost as many rows after 10,000 pods as after one', { timeout: 180_000 }, async () => {
    onTestFinished(await withoutAlarms())
    const host = await FakeHost.join(gpus(8))
    host.stopBeating()
    // The first round fills the caches.
    await costsOfPods(host, 0)
    for (const past of [0, MANY]) (await costsOfPods(host, past)).expectBudgets(`after ${past + 1} pods`)
    host.leave()
  })
})
