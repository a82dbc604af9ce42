import { dropQueue, OWN_TTL_MS, ownQueue, REFUSED_TTL_MS } from '../../../../src/objects/ownership/own-queue.ts'
import { api, createAccount, createEndpoint, describe, env, expect, it, teamOf, vi } from '../../../support/harness.ts'

// The job API's cache of the owners of endpoints.

const NOW = Date.UTC(2030, 0, 1)

/** Number of D1 queries during `run`. */
async function readsOf(run: () => Promise<unknown>): Promise<number> {
  const prepare = vi.spyOn(env.DB, 'prepare')
  try {
    await run()
    return prepare.mock.calls.length
  } finally {
    prepare.mockRestore()
  }
}

async function createOwner() {
  const account = await createAccount()
  return { ...account, teamId: await teamOf(account), endpointId: await createEndpoint(account.key) }
}

describe('the owner of an endpoint in a job call', () => {
  it('[AUT-23] is cached for a minute if it is the caller', async () => {
    const owner = await createOwner()
    const ask = (nowMs: number) => ownQueue(env, owner, owner.endpointId, nowMs)
    expect(await readsOf(() => ask(NOW))).toBe(1)
    expect(await readsOf(() => ask(NOW + OWN_TTL_MS - 1))).toBe(0)
    await env.DB.prepare('UPDATE endpoints SET deleted_at = 1 WHERE id = ?').bind(owner.endpointId).run()
    expect(await ask(NOW + OWN_TTL_MS - 1)).toMatchObject({ id: owner.endpointId })
    expect(await ask(NOW + OWN_TTL_MS)).toBeNull()
  })

  it('[AUT-23] is dropped from the cache at once where the endpoint was deleted', async () => {
    const owner = await createOwner()
    expect(await ownQueue(env, owner, owner.endpointId, NOW)).not.toBeNull()
    await env.DB.prepare('UPDATE endpoints SET deleted_at = 1 WHERE id = ?').bind(owner.endpointId).run()
    dropQueue(owner.teamId, owner.endpointId)
    expect(await ownQueue(env, owner, owner.endpointId, NOW)).toBeNull()
  })

  it('[L1] [AUT-23] costs the database as much for an id of another team as for an unknown one, however busy the owner is', async () => {
    const [owner, otherTenant] = [await createOwner(), await createAccount()]
    const requester = { teamId: await teamOf(otherTenant) }
    // The owner's calls fill the cache; they must not fill it for another tenant.
    await ownQueue(env, owner, owner.endpointId, NOW)
    for (const [what, id] of [
      ['foreign', owner.endpointId],
      ['unknown', `zz${owner.endpointId.slice(2)}`],
    ] as const) {
      const ask = (nowMs: number) => readsOf(async () => expect(await ownQueue(env, requester, id, nowMs)).toBeNull())
      const reads = [await ask(NOW), await ask(NOW), await ask(NOW + REFUSED_TTL_MS - 1), await ask(NOW + REFUSED_TTL_MS)]
      expect(reads, what).toEqual([1, 0, 0, 1])
    }
  })

  it('[L1] [AUT-23] does so through the whole Worker too', async () => {
    const [owner, otherTenant] = [await createOwner(), await createAccount()]
    const unknownId = `zz${owner.endpointId.slice(2)}`
    expect((await api(owner.key).get(`/v2/${owner.endpointId}/health`)).status).toBe(200)
    // The key and the quota of the other tenant are cached.
    await api(otherTenant.key).get('/v2/nothing/health')
    const reads: number[] = []
    for (const id of [owner.endpointId, unknownId, owner.endpointId, unknownId]) {
      reads.push(await readsOf(async () => expect((await api(otherTenant.key).get(`/v2/${id}/health`)).status).toBe(404)))
    }
    expect(reads).toEqual([1, 1, 0, 0])
  })

  it('[AUT-23] is not looked up for an id that cannot be one of an endpoint', async () => {
    const requester = { teamId: 'a' }
    for (const id of ['', 'a/b', 'ä', 'x'.repeat(65)]) {
      expect(await readsOf(async () => expect(await ownQueue(env, requester, id, NOW)).toBeNull()), id).toBe(0)
    }
  })

  it('[AUT-23] stays cached for owners during a flood of refusals', async () => {
    const [owner, otherTenant] = [await createOwner(), await createAccount()]
    const teamId = await teamOf(otherTenant)
    await ownQueue(env, owner, owner.endpointId, NOW)
    const statement = { bind: () => statement, raw: async () => [] }
    const empty = { ...env, DB: { prepare: () => statement } as unknown as D1Database }
    for (let n = 0; n <= 10_000; n += 1) await ownQueue(empty, { teamId }, `none${n}`, NOW)
    expect(await ownQueue(empty, owner, owner.endpointId, NOW)).toMatchObject({ id: owner.endpointId })
  })
})
