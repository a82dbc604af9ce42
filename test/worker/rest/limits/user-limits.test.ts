import { BUDGETS } from '../../../../src/contract/accounts/budgets.ts'
import { admin, api, createAccount, createEndpoint, createPlan, describe, expect, it } from '../../../support/harness.ts'

const limitsOf = async (userId: string) => await admin().get(`/admin/v1/users/${userId}/limits`)

describe('[UI-68] the limits and resources of an account, for the operator', () => {
  it('equal those that the account reads of itself, with the windows in force', async () => {
    const account = await createAccount({ exempt: false })
    await createEndpoint(account.key)
    const requests = { minute: 7, hour: 70, day: 700 }
    await admin().put(`/admin/v1/users/${account.userId}/plan`, { plan: await createPlan({ requests, budgets: { gpus: 21 } }) })
    await admin().put(`/admin/v1/users/${account.userId}/spend-limits`, { perHour: 12.5 })
    const { status, body } = await limitsOf(account.userId)
    expect(status).toBe(200)
    expect(body.suspendedAt).toBeNull()
    expect(body.requests).toEqual({ ...requests, exempt: false })
    expect(body.budgets).toEqual((await api(account.key).get('/v2/account/limits')).body)
    expect(body.budgets).toMatchObject({ endpoints: { used: 1, bound: BUDGETS.endpoints.bound }, gpus: { used: 0, bound: 21 } })
    expect(body.spend.limits).toMatchObject({ perHour: 12.5, maxPerHour: 12.5 })
    expect(body.spend).toMatchObject({ rate: { perHour: 0 }, month: { spent: 0 } })
  })

  it('include the time of a suspension, until that ends', async () => {
    const { userId } = await createAccount()
    await admin().post(`/admin/v1/users/${userId}/suspend`, {})
    expect((await limitsOf(userId)).body.suspendedAt).toMatch(/^\d{4}-/)
    await admin().post(`/admin/v1/users/${userId}/resume`, {})
    expect((await limitsOf(userId)).body.suspendedAt).toBeNull()
  })

  it('are 404 for an unknown user, and are not readable with a key of a user', async () => {
    const { key, userId } = await createAccount()
    expect((await limitsOf('nobody')).status).toBe(404)
    expect((await api(key).get(`/admin/v1/users/${userId}/limits`)).status).toBe(401)
  })
})
