import { BUDGETS, type BudgetName, SHARED_BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createEndpoint,
  describe,
  endpointBody,
  env,
  expect,
  it,
  teamOf,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podBody, podScene } from '../../../support/pods/pod-scene.ts'

const PATH = '/v2/serverless'
const RARE = 'NVIDIA RTX 4000 Ada Generation'
const TYPE = 'NVIDIA GeForce RTX 3090'

const setBudgets = ({ userId }: Account, budgets: object) => admin().put(`/admin/v1/users/${userId}/budgets`, budgets)
const limitsOf = async ({ key }: Account) => (await api(key).get('/v2/account/limits')).body
const rows = async (sql: string, ...values: string[]) =>
  (
    await env.DB.prepare(sql)
      .bind(...values)
      .all()
  ).results
const excess = (name: string, used: number, bound: number) =>
  expect.stringMatching(
    new RegExp(`budget ${name} .* is ${bound}: ${used} are in use and the request needs \\d+ more; .* or ask the operator`),
  )

describe('budgets', () => {
  it('[BUDGET-1][BUDGET-2] every budget is read with its use and its limit, which the operator sets and unsets', async () => {
    const account = await createAccount()
    const defaults = Object.fromEntries(
      Object.entries(BUDGETS).map(([name, { bound, unit }]) => [
        name,
        { used: 0, bound, unit, shared: SHARED_BUDGETS.has(name as BudgetName) },
      ]),
    )
    // The calling key counts as one.
    expect(await limitsOf(account)).toEqual({ plan: null, ...defaults, apiKeys: { ...defaults.apiKeys, used: 1 } })
    expect(await setBudgets(account, { gpus: 4, queuedBytes: 2 ** 40 })).toMatchObject({
      status: 200,
      body: { gpus: 4, queuedBytes: 2 ** 40 },
    })
    await createEndpoint(account.key)
    expect(await limitsOf(account)).toMatchObject({
      gpus: { used: 0, bound: 4 },
      queuedBytes: { bound: 2 ** 40 },
      endpoints: { used: 1, bound: 500 },
      releasesPerEndpoint: { used: 1, bound: 50 },
    })
    expect((await admin().get(`/admin/v1/users/${account.userId}/budgets`)).body).toEqual({ gpus: 4, queuedBytes: 2 ** 40 })
    expect((await setBudgets(account, {})).status).toBe(200)
    expect((await limitsOf(account)).gpus.bound).toBe(BUDGETS.gpus.bound)
    expect((await setBudgets(account, { gpu: 1 })).status).toBe(422)
    expect((await admin().put('/admin/v1/users/nobody/budgets', {})).status).toBe(404)
  })

  it('[H5][BUDGET-1] simultaneous creates do not pass the room, and the refusal names the numbers', async () => {
    const account = await createAccount()
    await setBudgets(account, { endpoints: 2 })
    const replies = await Promise.all(Array.from({ length: 5 }, () => api(account.key).post(PATH, endpointBody())))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400])
    expect(await api(account.key).post(PATH, endpointBody())).toMatchObject({
      status: 400,
      body: { code: 'RULE', detail: excess('endpoints', 2, 2) },
    })
    const { endpoints } = (await api(account.key).get(PATH)).body
    expect(endpoints).toHaveLength(2)
    expect((await api(account.key).delete(`${PATH}/${endpoints[0].id}`)).status).toBe(204)
    expect((await api(account.key).post(PATH, endpointBody())).status).toBe(201)
  })

  it('[H5][END-32] an endpoint keeps its newest releases, and a deleted one only its id', async () => {
    const account = await createAccount()
    await setBudgets(account, { releasesPerEndpoint: 3 })
    const id = await createEndpoint(account.key)
    for (let i = 1; i <= 5; i += 1) await api(account.key).patch(`${PATH}/${id}`, { env: { N: String(i) } })
    const { releases } = (await api(account.key).get(`${PATH}/${id}/releases`)).body
    expect(releases.map(({ version }: { version: number }) => version)).toEqual([6, 5, 4])
    expect((await api(account.key).delete(`${PATH}/${id}`)).status).toBe(204)
    expect(await rows('SELECT * FROM releases WHERE endpoint_id = ?', id)).toEqual([])
    expect(await rows('SELECT config FROM endpoints WHERE id = ?', id)).toEqual([{ config: '{}' }])
    expect(await limitsOf(account)).toMatchObject({ endpoints: { used: 0 }, releasesPerEndpoint: { used: 0 } })
  })

  it('[H5][BUDGET-1] stored texts are limited in bytes, in creates and in changes, and may always shrink', async () => {
    const account = await createAccount()
    const big = { BIG: 'x'.repeat(20_000) }
    const id = await createEndpoint(account.key, { env: big })
    const used = (await limitsOf(account)).storedBytes.used
    await setBudgets(account, { storedBytes: used + 10_000 })
    const refused = { status: 400, body: { code: 'RULE' } }
    expect(await api(account.key).post(PATH, endpointBody({ env: big }))).toMatchObject(refused)
    expect(await api(account.key).patch(`${PATH}/${id}`, { env: { BIG: 'x'.repeat(60_000) } })).toMatchObject(refused)
    expect((await api(account.key).get(`${PATH}/${id}`)).body.env).toEqual(big)
    expect((await limitsOf(account)).storedBytes.used).toBe(used)
    expect((await api(account.key).patch(`${PATH}/${id}`, { env: {} })).status).toBe(200)
  })

  it('[BUDGET-1] pods and GPUs: a request beyond the limit is refused before a host is contacted', async () => {
    const scene = await podScene(gpus(4, RARE))
    const { account } = scene
    await setBudgets(account, { pods: 2, gpus: 3 })
    const create = (count: number) => scene.call.post(PODS, podBody({ gpu: { id: RARE, count } }))
    expect((await create(2)).status).toBe(201)
    expect(await create(2)).toMatchObject({ status: 400, body: { code: 'RULE', detail: excess('gpus', 2, 3) } })
    const together = await Promise.all([create(1), create(1)])
    expect(together.map(({ status }) => status).sort()).toEqual([201, 400])
    expect(await create(1)).toMatchObject({ status: 400, body: { code: 'RULE', detail: excess('pods', 2, 2) } })
    expect(await limitsOf(account)).toMatchObject({ pods: { used: 2, bound: 2 }, gpus: { used: 3, bound: 3 } })
    scene.leave()
  })

  it('[C3][BUDGET-1] the pods of an account on one host are limited in bytes', async () => {
    const scene = await podScene(gpus(4, TYPE))
    const create = () => scene.call.post(PODS, podBody({ gpu: { id: TYPE }, env: { BIG: 'x'.repeat(50_000) } }))
    expect((await create()).status).toBe(201)
    const { used } = (await limitsOf(scene.account)).specBytesPerHost
    expect(used).toBeGreaterThan(50_000)
    await setBudgets(scene.account, { specBytesPerHost: used + 1_000 })
    expect(await create()).toMatchObject({ status: 400, body: { code: 'RULE', detail: excess('specBytesPerHost', used, used + 1_000) } })
    expect(await rows("SELECT COUNT(*) AS n FROM pods WHERE team_id = ? AND status <> 'TERMINATED'", await teamOf(scene.account))).toEqual([
      { n: 1 },
    ])
    scene.leave()
  })
})
