import { BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import { auditRows } from '../../../support/access/audited.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  createAccount,
  createEndpoint,
  createKeyIn,
  createOrganization,
  createPlan,
  describe,
  endpointBody,
  env,
  expect,
  it,
  joinTeam,
  newPlanName,
} from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podBody, podScene } from '../../../support/pods/pod-scene.ts'

const TYPE = 'NVIDIA GeForce RTX 3090'
const REQUESTS = { minute: 7, hour: 70, day: 700 }
const SERVERLESS = '/v2/serverless'

const limitsOf = async (key: string) => (await api(key).get('/v2/account/limits')).body
const give = ({ userId }: Pick<Account, 'userId'>, plan: string | null) => admin().put(`/admin/v1/users/${userId}/plan`, { plan })
const giveOrganization = (id: string, plan: string | null) => admin().put(`/admin/v1/organizations/${id}/plan`, { plan })
const setBudgets = ({ userId }: Pick<Account, 'userId'>, budgets: object) => admin().put(`/admin/v1/users/${userId}/budgets`, budgets)
const policyOf = async (key: string) => (await api(key).get('/v2/user')).headers.get('RateLimit-Policy')
const policy = ({ minute, hour, day }: typeof REQUESTS) => `"minute";q=${minute};w=60, "hour";q=${hour};w=3600, "day";q=${day};w=86400`
const plansOf = async () => (await admin().get('/admin/v1/plans')).body.plans
const namesOf = async (key: string) => (await api(key).get(SERVERLESS)).body.endpoints.length
const full = (name: string) => ({ status: 400, body: { code: 'RULE', detail: expect.stringContaining(`budget ${name} `) } })

afterEach(async () => {
  await admin().delete('/admin/v1/plans/default')
})

describe('[PLAN-1] plans', () => {
  it('are made, changed, listed with the number of their accounts, and deleted once they have none', async () => {
    const limits = { requests: REQUESTS, budgets: { gpus: 3 } }
    const name = await createPlan({ budgets: { gpus: 1 } })
    expect(await admin().put(`/admin/v1/plans/${name}`, limits)).toMatchObject({ status: 200, body: { name, limits, accounts: 0 } })
    const account = await createAccount()
    expect(await give(account, name)).toMatchObject({ status: 200, body: { plan: name } })
    const [listed] = (await plansOf()).filter((plan: { name: string }) => plan.name === name)
    expect(listed).toEqual({ name, limits, accounts: 1, updatedAt: expect.any(String) })
    expect(await admin().delete(`/admin/v1/plans/${name}`)).toMatchObject({ status: 409, body: { code: 'IN_USE' } })
    expect((await limitsOf(account.key)).gpus.bound).toBe(3)
    expect((await give(account, null)).status).toBe(200)
    expect((await admin().delete(`/admin/v1/plans/${name}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/plans/${name}`)).status).toBe(404)
    expect((await limitsOf(account.key)).gpus.bound).toBe(BUDGETS.gpus.bound)
  })

  it('refuse an invalid limit, an unknown plan and an unknown account, and change nothing', async () => {
    const account = await createAccount()
    const name = await createPlan({ budgets: { gpus: 3 } })
    const before = await plansOf()
    for (const body of [{ budgets: { gpu: 1 } }, { requests: { minute: 1 } }, { budgets: { gpus: -1 } }, { more: {} }]) {
      expect((await admin().put(`/admin/v1/plans/${name}`, body)).status, JSON.stringify(body)).toBe(422)
    }
    expect((await admin().put('/admin/v1/plans/Bad_Name', {})).status).toBe(422)
    expect(await plansOf()).toEqual(before)
    expect(await give(account, newPlanName())).toMatchObject({ status: 400, body: { code: 'RULE' } })
    expect((await give({ userId: 'nobody' }, name)).status).toBe(404)
    expect((await giveOrganization('nobody', name)).status).toBe(404)
    expect((await admin().get(`/admin/v1/users/${account.userId}/plan`)).body).toEqual({ plan: null })
    expect((await limitsOf(account.key)).plan).toBeNull()
  })

  it('add a row to the log with the state before and after', async () => {
    const account = await createAccount()
    const [first, second] = [await createPlan(), await createPlan()]
    await give(account, first)
    await give(account, second)
    const rows = await auditRows("resource_id = ? AND action = 'users.set-plan'", account.userId)
    expect(rows.map(({ before, after }) => [before, after])).toEqual([
      [{ plan: null }, { plan: first }],
      [{ plan: first }, { plan: second }],
    ])
  })
})

describe('[PLAN-2] the limits of an account', () => {
  it('budgets: its own override, else its plan, else the plan `default`, else the plane', async () => {
    const account = await createAccount()
    const boundsOf = async () => {
      const { plan, gpus, endpoints, apiKeys, pods } = await limitsOf(account.key)
      return [plan, gpus.bound, endpoints.bound, apiKeys.bound, pods.bound]
    }
    await admin().put('/admin/v1/plans/default', { budgets: { gpus: 11, endpoints: 12, apiKeys: 13 } })
    expect(await boundsOf()).toEqual([null, 11, 12, 13, BUDGETS.pods.bound])
    const name = await createPlan({ budgets: { gpus: 21, endpoints: 22 } })
    await give(account, name)
    expect(await boundsOf()).toEqual([name, 21, 22, 13, BUDGETS.pods.bound])
    await setBudgets(account, { gpus: 31 })
    expect(await boundsOf()).toEqual([name, 31, 22, 13, BUDGETS.pods.bound])
    // A limit of zero is valid.
    await setBudgets(account, { gpus: 0 })
    expect(await boundsOf()).toEqual([name, 0, 22, 13, BUDGETS.pods.bound])
  })

  it('a limit of a plan refuses as an override does, and a raised one admits', async () => {
    const account = await createAccount()
    const name = await createPlan({ budgets: { endpoints: 1 } })
    await give(account, name)
    await createEndpoint(account.key)
    expect(await api(account.key).post(SERVERLESS, endpointBody())).toMatchObject(full('endpoints'))
    expect(await namesOf(account.key)).toBe(1)
    await admin().put(`/admin/v1/plans/${name}`, { budgets: { endpoints: 2 } })
    expect((await api(account.key).post(SERVERLESS, endpointBody())).status).toBe(201)
  })

  it('requests: the same order, at once where it was changed, and an override can be reverted', async () => {
    const account = await createAccount({ exempt: false })
    const [ofDefault, own] = [
      { ...REQUESTS, minute: 50 },
      { ...REQUESTS, minute: 30 },
    ]
    await admin().put('/admin/v1/plans/default', { requests: ofDefault })
    expect(await policyOf(account.key)).toBe(policy(ofDefault))
    await give(account, await createPlan({ requests: REQUESTS }))
    expect(await policyOf(account.key)).toBe(policy(REQUESTS))
    await admin().put(`/admin/v1/users/${account.userId}/quotas`, { ...own, exempt: false })
    expect(await policyOf(account.key)).toBe(policy(own))
    expect((await admin().delete(`/admin/v1/users/${account.userId}/quotas`)).status).toBe(204)
    expect(await policyOf(account.key)).toBe(policy(REQUESTS))
  })
})

describe('[PLAN-3] the preview of a change of plans', () => {
  const effectsOf = (reply: { body: { effects: { kind: string; what: string }[] } }) =>
    reply.body.effects.map(({ kind, what }) => [kind, what])

  it('lists for an account what exceeds the new limits, and changes nothing', async () => {
    const account = await createAccount({ exempt: false })
    const name = await createPlan({ requests: { ...REQUESTS, day: 50_000 }, budgets: { endpoints: 1 } })
    await createEndpoint(account.key)
    await createEndpoint(account.key)
    const reply = await admin().put(`/admin/v1/users/${account.userId}/plan?dryRun=true`, { plan: name })
    expect(effectsOf(reply)).toEqual([
      ['CHANGES', 'requests a minute: 60 becomes 7'],
      ['CHANGES', 'requests a hour: 3000 becomes 70'],
      ['CHANGES', 'endpoints: 500 becomes 1'],
      ['REFUSES', 'endpoints: 2 are in use; new requests are refused until fewer than 1 are in use'],
    ])
    expect((await limitsOf(account.key)).plan).toBeNull()
    const unknown = await admin().put(`/admin/v1/users/${account.userId}/plan?dryRun=true`, { plan: newPlanName() })
    expect(unknown).toMatchObject({ status: 200, body: { effects: [], refusal: { status: 400 } } })
  })

  it('covers a plan, its end and quotas, and changes nothing', async () => {
    const account = await createAccount()
    const name = await createPlan({ budgets: { gpus: 3 } })
    await give(account, name)
    const path = `/admin/v1/plans/${name}`
    expect(effectsOf(await admin().put(`${path}?dryRun=true`, { budgets: { gpus: 4 } }))).toEqual([
      ['CHANGES', 'it holds for 1 account'],
      ['CHANGES', 'gpus: 3 becomes 4'],
    ])
    expect(await admin().delete(`${path}?dryRun=true`)).toMatchObject({ status: 200, body: { effects: [], refusal: { status: 409 } } })
    const quotas = `/admin/v1/users/${account.userId}/quotas`
    await admin().put(quotas, { ...REQUESTS, exempt: true })
    expect(effectsOf(await admin().delete(`${quotas}?dryRun=true`))[0]).toEqual(['CHANGES', 'it is exempt from them no longer'])
    expect((await limitsOf(account.key)).gpus.bound).toBe(3)
    expect(await policyOf(account.key)).toBeNull()
  })
})

describe('[PLAN-4] the number of organizations of a user', () => {
  it('is a budget: set for all, for a plan, and for one user', async () => {
    const account = await createAccount()
    const create = () => api(account.key).post('/v2/organizations', { name: 'more' })
    const owned = async () => (await limitsOf(account.key)).organizations
    await admin().put('/admin/v1/plans/default', { budgets: { organizations: 1 } })
    expect((await create()).status).toBe(201)
    expect(await create()).toMatchObject({ status: 400, body: { code: 'RULE' } })
    expect(await owned()).toMatchObject({ used: 1, bound: 1 })
    await setBudgets(account, { organizations: 2 })
    expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(400)
    expect(await owned()).toMatchObject({ used: 2, bound: 2 })
    expect((await api(account.key).get('/v2/organizations')).body.organizations).toHaveLength(2)
  })
})

describe('[PLAN-5] organizations share the budgets of their maker', () => {
  /** A user with two organizations, and a key in each. */
  async function maker() {
    const account = await createAccount()
    const [one, other] = [await createOrganization(account.key), await createOrganization(account.key)]
    const keys = [account.key, (await createKeyIn(one, account)).key, (await createKeyIn(other, account)).key] as const
    return { account, one, other, keys }
  }

  it('a resource of one of them uses up the budget of the others, in whatever order they request', async () => {
    const { account, keys } = await maker()
    await setBudgets(account, { endpoints: 2 })
    await createEndpoint(keys[1])
    const together = await Promise.all(keys.map((key) => api(key).post(SERVERLESS, endpointBody())))
    expect(together.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    for (const key of keys) {
      expect(await api(key).post(SERVERLESS, endpointBody())).toMatchObject(full('endpoints'))
      expect((await limitsOf(key)).endpoints).toEqual({ used: 2, bound: 2, unit: 'count', shared: true })
    }
    expect((await Promise.all(keys.map(namesOf))).reduce((sum, count) => sum + count)).toBe(2)
    // Budgets that count per account are not shared.
    expect((await limitsOf(keys[1])).apiKeys).toMatchObject({ used: 1, shared: false })
  })

  it('bytes, secrets and GPUs count together too', async () => {
    const scene = await podScene(gpus(4, TYPE))
    const { account } = scene
    const organization = await createOrganization(account.key)
    const { key } = await createKeyIn(organization, account)
    await setBudgets(account, { gpus: 2, secrets: 1 })
    expect((await scene.call.post(PODS, podBody({ gpu: { id: TYPE, count: 2 } }))).status).toBe(201)
    expect(await api(key).post(PODS, podBody({ gpu: { id: TYPE, count: 1 } }))).toMatchObject(full('gpus'))
    expect((await api(key).post('/v2/account/secrets', { name: 'a', value: 'v' })).status).toBe(201)
    expect(await api(account.key).post('/v2/account/secrets', { name: 'a', value: 'v' })).toMatchObject(full('secrets'))
    await api(key).post('/v2/templates', { name: 'big', image: 'acme/a:1', env: { BIG: 'x'.repeat(5_000) } })
    const [own, shared] = [await limitsOf(account.key), await limitsOf(key)]
    expect(own.storedBytes.used).toBeGreaterThan(5_000)
    expect({ ...shared, apiKeys: null, organizations: null, formerPods: null, specBytesPerHost: null }).toEqual({
      ...own,
      apiKeys: null,
      organizations: null,
      formerPods: null,
      specBytesPerHost: null,
    })
    scene.leave()
  })

  it('one with a plan is counted alone, and the others get its room', async () => {
    const { account, one, keys } = await maker()
    await setBudgets(account, { endpoints: 1 })
    await createEndpoint(keys[1])
    expect(await api(keys[0]).post(SERVERLESS, endpointBody())).toMatchObject(full('endpoints'))
    const plan = await createPlan({ budgets: { endpoints: 3 } })
    expect((await giveOrganization(one, plan)).status).toBe(200)
    expect(await limitsOf(keys[1])).toMatchObject({ plan, endpoints: { used: 1, bound: 3 } })
    expect(await limitsOf(keys[0])).toMatchObject({ plan: null, endpoints: { used: 0, bound: 1 } })
    expect((await api(keys[0]).post(SERVERLESS, endpointBody())).status).toBe(201)
    expect((await api(keys[1]).post(SERVERLESS, endpointBody())).status).toBe(201)
    // Without the plan they count together again: existing objects stay, and no further one is accepted.
    expect((await giveOrganization(one, null)).status).toBe(200)
    expect((await limitsOf(keys[2])).endpoints).toMatchObject({ used: 3, bound: 1 })
    expect(await api(keys[1]).post(SERVERLESS, endpointBody())).toMatchObject(full('endpoints'))
  })

  it('handing one over gives no other user its resources and its maker no more room', async () => {
    const { account, one, keys } = await maker()
    const member = await createAccount()
    await joinTeam(one, member, 'ADMIN')
    await setBudgets(account, { endpoints: 1 })
    await createEndpoint(keys[1])
    expect((await api(account.key).post(`/v2/organizations/${one}/hand-over`, { userId: member.userId })).status).toBe(200)
    expect((await limitsOf(member.key)).endpoints.used).toBe(0)
    expect(await api(account.key).post(SERVERLESS, endpointBody())).toMatchObject(full('endpoints'))
    expect((await limitsOf(account.key)).organizations.used).toBe(1)
  })

  it('the plan of their maker applies to them', async () => {
    const { account, keys } = await maker()
    await admin().delete(`/admin/v1/users/${account.userId}/quotas`)
    const plan = await createPlan({ requests: REQUESTS, budgets: { endpoints: 4 } })
    await give(account, plan)
    expect(await limitsOf(keys[1])).toMatchObject({ plan, endpoints: { bound: 4 } })
    expect(await policyOf(keys[1])).toBe(policy(REQUESTS))
  })

  it('a deleted organization frees its plan', async () => {
    const { account, one } = await maker()
    const plan = await createPlan()
    await giveOrganization(one, plan)
    expect((await admin().delete(`/admin/v1/plans/${plan}`)).status).toBe(409)
    await env.DB.prepare('UPDATE api_keys SET revoked_at = 1 WHERE team_id = ?').bind(one).run()
    expect((await api(account.key).delete(`/v2/organizations/${one}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/plans/${plan}`)).status).toBe(204)
  })
})
