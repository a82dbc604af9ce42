import { dropExplanations } from '../../../src/effects/explain/memory.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import {
  admin,
  afterEach,
  api,
  createAccount,
  createEndpoint,
  describe,
  env,
  expect,
  it,
  type Reply,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { until } from '../../support/time.ts'

afterEach(() => vi.restoreAllMocks())

const list = async (query = ''): Promise<Reply> => {
  dropExplanations()
  return admin().get(`/admin/v1/waiting${query}`)
}

/** An endpoint of a new account whose worker finds no host. */
async function wait(since: number) {
  const account = await createAccount()
  const id = await createEndpoint(account.key, { name: 'chat', gpu: { pools: ['HOPPER_141'], count: 2 }, dataCenterIds: ['EU-RO-1'] })
  await api(account.key).post(`/v2/${id}/run`, { input: {} })
  await until(async () => (await api(account.key).get(`/v2/${id}/health`)).body.workers.throttled === 1)
  await env.DB.prepare('UPDATE capacity_waiters SET since = ? WHERE endpoint_id = ?').bind(since, id).run()
  return { id, account }
}

describe('[WHY-13] the list of work that waits for capacity', () => {
  it('has the longest wait first, the needs of each, and how many hosts lack what; page by page with one query behind an index', async () => {
    const host = await FakeHost.join(gpus(1), { dataCenterId: 'EU-RO-1' })
    const [late, first, second] = [await wait(3_000), await wait(1_000), await wait(2_000)]
    const { status, body } = await list('?limit=2')
    expect(status).toBe(200)
    expect(body).toEqual({
      waiting: [
        {
          endpointId: first.id,
          endpointName: 'chat',
          accountId: await teamOf(first.account),
          since: '1970-01-01T00:00:01Z',
          sinceMs: expect.any(Number),
          needs: {
            gpuTypeIds: ['NVIDIA H200'],
            gpuCount: 2,
            vcpus: 4,
            memoryGb: 16,
            diskGb: 10,
            dataCenterIds: ['EU-RO-1'],
            cloud: 'SECURE',
          },
          hosts: { total: 1, fit: 0 },
          missing: [{ text: 'needs 2 free NVIDIA H200', hosts: 1 }],
        },
        expect.objectContaining({ endpointId: second.id }),
      ],
      pagination: { nextCursor: expect.any(String), hasNextPage: true },
    })
    const rest = await list(`?limit=2&cursor=${body.pagination.nextCursor}`)
    expect(rest.body).toMatchObject({ waiting: [{ endpointId: late.id }], pagination: { nextCursor: null, hasNextPage: false } })
    expect((await list('?cursor=nonsense')).status).toBe(422)
    const calls = watchDatabase()
    await list()
    const asked = calls.flat().filter((text) => text.includes('capacity_waiters'))
    vi.restoreAllMocks()
    expect(asked).toHaveLength(1)
    const plan = await env.DB.prepare(`EXPLAIN QUERY PLAN ${asked[0]}`).bind(3).all<{ detail: string }>()
    const steps = plan.results.map(({ detail }) => detail)
    expect(steps[0]).toContain('USING INDEX capacity_waiters_since')
    expect(steps.filter((detail) => /^SCAN (?!capacity_waiters)/.test(detail))).toEqual([])
    host.leave()
  })

  it('is for the operator alone', async () => {
    const { key } = await createAccount()
    expect((await api(key).get('/admin/v1/waiting')).status).toBe(401)
    expect((await api(null).get('/admin/v1/waiting')).status).toBe(401)
  })
})
