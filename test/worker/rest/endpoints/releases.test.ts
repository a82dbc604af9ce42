import { ListReleasesResponse } from '../../../../src/contract/endpoints/releases.ts'
import { api, createAccount, createEndpoint, describe, expect, it } from '../../../support/harness.ts'
import { parkTake, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

const read = async (key: string, path: string) => {
  const reply = await api(key).get(`/v2/serverless/${path}`)
  expect(reply.status).toBe(200)
  expect(ListReleasesResponse.parse(reply.body)).toEqual(reply.body)
  return reply.body
}

describe('[END-14] releases', () => {
  it('a new endpoint has release 1 with an empty diff, and no rollout', async () => {
    const account = await createAccount()
    const id = await createEndpoint(account.key)
    expect(await read(account.key, `${id}/releases`)).toEqual({
      endpointVersion: 1,
      rollout: { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 },
      releases: [
        {
          id: expect.any(String),
          version: 1,
          source: 'MANUAL',
          buildId: null,
          createdByUserId: account.userId,
          workerCount: 0,
          createdAt: expect.stringMatching(/Z$/),
          diff: [],
        },
      ],
      pagination: { nextCursor: null, hasNextPage: false },
    })
  })

  it('show the changes, the workers of each release, and the progress of the newest', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    const { key } = queue.account
    await api(key).patch(`/v2/serverless/${queue.endpointId}`, { env: { A: '2' }, workers: { min: 1 } })
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    await parkTake(queue, second)
    const body = await read(key, `${queue.endpointId}/releases`)
    expect(body).toMatchObject({
      endpointVersion: 2,
      rollout: { inProgress: true, workersOnLatest: 1, workersTotal: 2, percentOnLatest: 50 },
      releases: [
        { version: 2, workerCount: 1 },
        { version: 1, workerCount: 1, diff: [] },
      ],
    })
    expect(body.releases[0].diff).toContainEqual({
      field: 'template.env',
      old: {},
      new: { A: expect.stringMatching(/^hmac-sha256:[\w-]{16}$/) },
    })
    await worker.done(jobId, { output: 1 })
    expect((await read(key, `${queue.endpointId}/releases`)).rollout).toEqual({
      inProgress: false,
      workersOnLatest: 1,
      workersTotal: 1,
      percentOnLatest: 100,
    })
  })

  it('[PAG-1, PAG-2, PAG-8] pages run newest first, each release once, also when one is added on the way', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const change = (n: number) => api(key).patch(`/v2/serverless/${id}`, { env: { N: String(n) } })
    for (let n = 2; n <= 5; n++) await change(n)
    const versions: number[] = []
    let path = `${id}/releases?limit=2`
    for (;;) {
      const page = await read(key, path)
      versions.push(...page.releases.map((release: { version: number }) => release.version))
      if (versions.length === 2) await change(6)
      expect(page.pagination.hasNextPage).toBe(page.pagination.nextCursor !== null)
      if (!page.pagination.hasNextPage) break
      path = `${id}/releases?limit=2&cursor=${page.pagination.nextCursor}`
    }
    expect(versions).toEqual([5, 4, 3, 2, 1])
  })

  it('[PAG-3, REST-8] a cursor of another endpoint or list, an empty one and bad limits are 422', async () => {
    const { key } = await createAccount()
    const [one, other] = [await createEndpoint(key), await createEndpoint(key)]
    await api(key).patch(`/v2/serverless/${one}`, { env: { A: '1' } })
    const own = (await read(key, `${one}/releases?limit=1`)).pagination.nextCursor
    const foreign = (await api(key).get('/v2/serverless?limit=1')).body.pagination.nextCursor
    for (const query of [
      `${other}/releases?cursor=${own}`,
      `${one}/releases?cursor=${foreign}`,
      `${one}/releases?cursor=`,
      `${one}/releases?limit=0`,
    ]) {
      expect((await api(key).get(`/v2/serverless/${query}`)).status, query).toBe(422)
    }
    expect((await api(key).get(`/v2/serverless/${one}/releases?limit=1001`)).status).toBe(422)
  })
})

it('[END-15] there are no builds', async () => {
  const { key } = await createAccount()
  const id = await createEndpoint(key)
  const builds = (query = '') => api(key).get(`/v2/serverless/${id}/builds${query}`)
  expect((await builds()).body).toEqual({ builds: [], pagination: { nextCursor: null, hasNextPage: false } })
  expect([(await builds('?limit=100')).status, (await builds('?limit=101')).status, (await builds('?cursor=x')).status]).toEqual([
    200, 422, 422,
  ])
  expect((await builds('/x')).status).toBe(404)
})
