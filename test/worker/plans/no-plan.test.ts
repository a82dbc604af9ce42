import { adminDocument } from '../../../src/http/admin-api.ts'
import { callOf, EXEMPT, nameOf } from '../../support/access/audited.ts'
import { DOCUMENTED, documentedIn, fill } from '../../support/access/operations.ts'
import { settledState, wholeState } from '../../support/access/whole-state.ts'
import { api, createAccount, createEndpoint, describe, endpointBody, expect, it, send } from '../../support/harness.ts'
import { v1 } from '../../support/http/v1.ts'

// Every operation of both documents that changes something and takes no `dryRun`: a request for a plan must not carry out the change.

const WITHOUT_PLAN = [...DOCUMENTED, ...documentedIn(adminDocument())].filter(
  (operation) => operation.method !== 'get' && !operation.isPlannable && !(nameOf(operation) in EXEMPT),
)
const WITH_PLAN = [...DOCUMENTED, ...documentedIn(adminDocument())].filter(
  (operation) => operation.method !== 'get' && operation.isPlannable && !(nameOf(operation) in EXEMPT),
)
const NO_PLAN = 'dryRun: this operation supports no dry run, so nothing was done; leave dryRun out to execute it'

describe('[DRY-30] dryRun given twice, first as a no', () => {
  it.each([...WITH_PLAN, ...WITHOUT_PLAN].map((operation) => ({ name: nameOf(operation), operation })))(
    '$name does nothing',
    async ({ operation }) => {
      const { key, params, body = operation.body } = await callOf(operation)
      const endpointId = operation.path.startsWith('/v2/serverless/') ? params.id : params.endpointId
      const before = await settledState(endpointId)
      const response = await send(`${fill(operation.path, params)}?dryRun=false&dryRun=true`, {
        method: operation.method.toUpperCase(),
        headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect([200, 400, 422], await response.text()).toContain(response.status)
      expect(await wholeState(endpointId)).toBe(before)
    },
  )
})

describe('[DRY-30] an operation without a plan', () => {
  it.each(WITHOUT_PLAN.map((operation) => ({ name: nameOf(operation), operation })))(
    '$name refuses dryRun, and does nothing',
    async ({ operation }) => {
      const { key, params, body = operation.body } = await callOf(operation)
      const endpointId = operation.path.startsWith('/v2/serverless/') ? params.id : params.endpointId
      const before = await settledState(endpointId)
      const response = await send(`${fill(operation.path, params)}?dryRun=true`, {
        method: operation.method.toUpperCase(),
        headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect([response.status, JSON.stringify(await response.json())]).toEqual([400, expect.stringContaining(NO_PLAN)])
      expect(await wholeState(endpointId)).toBe(before)
    },
  )

  it('refuses every spelling except a no, also for jobs', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key, { workers: { max: 0 } })
    const call = api(key)
    const submit = (said: string) => call.post(`/v2/${id}/run?dryRun=${said}`, { input: {} })
    for (const said of ['true', '1', 'TRUE', 'yes', '', 'false&dryRun=true']) expect((await submit(said)).status).toBe(400)
    expect((await call.post(`/v2/${id}/runsync?dryRun=true`, { input: {} })).status).toBe(400)
    expect((await call.get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(0)
    for (const said of ['false', '0']) expect((await submit(said)).status).toBe(200)
    expect((await call.get(`/v2/${id}/health?dryRun=true`)).status).toBe(200)
  })

  it('refuses it in v1 too', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key, { workers: { max: 0 } })
    const refused = await v1(key).call('DELETE', `/endpoints/${id}?dryRun=true`)
    expect([refused.status, refused.body]).toEqual([400, { message: NO_PLAN }])
    expect((await api(key).get(`/v2/serverless/${id}`)).status).toBe(200)
  })

  it('on many jobs is a plan with one yes, and refused with an invalid value', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key, { workers: { max: 0 } })
    const call = api(key)
    await call.post(`/v2/${id}/run`, { input: {} })
    const cancel = (said: string) => call.post(`/v2/${id}/requests/cancel?dryRun=${said}`, { status: ['IN_QUEUE'] })
    for (const said of ['true', '1', 'false&dryRun=true']) expect((await cancel(said)).status).toBe(200)
    for (const said of ['yes', '', 'false&dryRun=yes']) expect((await cancel(said)).status, said).toBe(400)
    expect((await call.get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(1)
  })

  it('[POD-22] with a plan stores no reply of it under an Idempotency-Key', async () => {
    const { key } = await createAccount()
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = endpointBody({ workers: { min: 0, max: 1 } })
    const create = (query: string) => api(key).post(`/v2/serverless${query}`, body, headers)
    const plan = await create('?dryRun=true')
    expect(plan.status, JSON.stringify(plan.body)).toBe(200)
    expect((await api(key).get('/v2/serverless')).body.endpoints).toEqual([])
    const made = await create('')
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect((await create('?dryRun=true')).body).toEqual(plan.body)
    expect((await create('')).body.id).toBe(made.body.id)
  })
})
