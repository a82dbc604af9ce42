import { Endpoint } from '../../../../src/contract/endpoints/endpoints.ts'
import { vaultOf } from '../../../../src/platform/seal.ts'
import { api, createAccount, createEndpoint, describe, endpointBody, env, expect, it, ORIGIN } from '../../../support/harness.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

describe('create', () => {
  it('[END-1][END-2][END-9][END-10] creates with the documented defaults and answers the whole endpoint', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', endpointBody())
    expect(reply.status).toBe(201)
    const { id, createdAt } = reply.body
    expect(id).toMatch(/^[a-z0-9]{14}$/)
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const base = `${ORIGIN}/v2/${id}`
    expect(reply.body).toEqual({
      id,
      name: 'echo',
      type: 'QUEUE',
      requestUrls: {
        run: `${base}/run`,
        runSync: `${base}/runsync`,
        status: `${base}/status/{job_id}`,
        stream: `${base}/stream/{job_id}`,
        cancel: `${base}/cancel/{job_id}`,
        retry: `${base}/retry/{job_id}`,
        purgeQueue: `${base}/purge-queue`,
        health: `${base}/health`,
      },
      args: '',
      cmd: [],
      entrypoint: [],
      disk: 10,
      env: {},
      image: 'builtin/echo',
      ports: [],
      registry: null,
      gpu: { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
      workers: { min: 0, max: 3, idleTimeout: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      dataCenterIds: [],
      cloud: 'SECURE',
      networkVolumes: [],
      timeout: 600000,
      flashboot: 'OFF',
      createdAt,
    })
    expect(Endpoint.parse(reply.body)).toEqual(reply.body)
  })
})

describe('cpu endpoints', () => {
  it('[END-9] read back with gpu null and the derived memory', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', endpointBody({ gpu: undefined, cpu: [{ id: 'cpu5g', vcpuCount: 4 }] }))
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ gpu: null, cpu: [{ id: 'cpu5g', vcpuCount: 4, memory: 16 }] })
    expect(Endpoint.parse(reply.body)).toEqual(reply.body)
  })
})

describe('read', () => {
  it('[END-1] GET answers what create answered', async () => {
    const { key } = await createAccount()
    const created = await api(key).post('/v2/serverless', endpointBody({ args: "sh -c 'sleep 1'", env: { PEM: 'a\nb\tc' } }))
    const read = await api(key).get(`/v2/serverless/${created.body.id}`)
    expect(read).toMatchObject({ status: 200, body: created.body })
    expect(read.body).toMatchObject({ args: "sh -c 'sleep 1'", cmd: ['sh', '-c', 'sleep 1'], env: { PEM: 'a\nb\tc' } })
  })

  it('[AUT-5] an id that is unknown or of another account is the same 404', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const id = await createEndpoint(theirs.key)
    for (const path of [`/v2/serverless/${id}`, '/v2/serverless/nosuchendpoint', '/v2/serverless/%00']) {
      for (const reply of [
        await api(mine.key).get(path),
        await api(mine.key).patch(path, { name: 'x' }),
        await api(mine.key).delete(path),
      ]) {
        expect(reply).toMatchObject({ status: 404, body: { title: 'Not Found', status: 404, detail: 'resource not found' } })
      }
    }
    expect((await api(theirs.key).get(`/v2/serverless/${id}`)).status).toBe(200)
  })

  it('[END-6] idleTimeout is omitted with REQUEST_COUNT', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', endpointBody({ scaling: { type: 'REQUEST_COUNT', requestCount: 2 } }))
    expect(reply.body.workers).toEqual({ min: 0, max: 3 })
  })
})

describe('list', () => {
  it('[PAG-1][PAG-2] is newest first, whole by default, with both pagination members', async () => {
    const { key } = await createAccount()
    expect((await api(key).get('/v2/serverless')).body).toEqual({ endpoints: [], pagination: { nextCursor: null, hasNextPage: false } })
    const ids = [await createEndpoint(key), await createEndpoint(key), await createEndpoint(key)]
    await touchCreation(ids)
    const reply = await api(key).get('/v2/serverless')
    expect(reply.status).toBe(200)
    expect(idsOf(reply.body)).toEqual([...ids].reverse())
    expect(reply.body.pagination).toEqual({ nextCursor: null, hasNextPage: false })
  })

  it('[PAG-8] a walk of the cursors meets each endpoint once, whatever is created or deleted in between', async () => {
    const { key } = await createAccount()
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.push(await createEndpoint(key))
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await api(key).get(`/v2/serverless?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      seen.push(...idsOf(page.body))
      if (cursor === null) {
        await createEndpoint(key)
        await api(key).delete(`/v2/serverless/${page.body.endpoints[0].id}`)
      }
      cursor = page.body.pagination.nextCursor
    } while (cursor !== null)
    expect(seen.filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort())
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('[PAG-3] a page size may change; a bad limit or cursor is 422', async () => {
    const { key } = await createAccount()
    for (let index = 0; index < 3; index += 1) await createEndpoint(key)
    const { nextCursor } = (await api(key).get('/v2/serverless?limit=1')).body.pagination
    expect((await api(key).get(`/v2/serverless?limit=1000&cursor=${nextCursor}`)).body.endpoints).toHaveLength(2)
    const foreign = btoa(JSON.stringify(['listPods', 1, 'x'])).replaceAll('=', '')
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=1.5',
      'limit=',
      'cursor=',
      'cursor=abc',
      `cursor=${foreign}`,
      `cursor=${nextCursor}x`,
    ]) {
      const reply = await api(key).get(`/v2/serverless?${query}`)
      expect(reply.status, query).toBe(422)
      expect(reply.body.errors, query).toHaveLength(1)
    }
  })

  it('[AUT-5] shows the own account alone', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    const id = await createEndpoint(mine.key)
    await createEndpoint(theirs.key)
    expect(idsOf((await api(mine.key).get('/v2/serverless')).body)).toEqual([id])
  })
})

describe('update', () => {
  it('[END-11][END-12][END-14] a container change makes release 2, with its diff', async () => {
    const account = await createAccount()
    const id = await createEndpoint(account.key, { env: { A: '1' } })
    const reply = await api(account.key).patch(`/v2/serverless/${id}`, { env: { A: '2' }, gpu: { count: 2 } })
    expect(reply).toMatchObject({ status: 200, body: { id, env: { A: '2' }, gpu: { count: 2, pools: ['ADA_24'] } } })
    expect(await releasesOf(id)).toEqual([
      { version: 1, created_by_user_id: account.userId, diff: '[]' },
      {
        version: 2,
        created_by_user_id: account.userId,
        diff: JSON.stringify([
          { field: 'template.env', old: { A: hashOf(id, 'A', '1') }, new: { A: hashOf(id, 'A', '2') } },
          { field: 'gpuCount', old: 1, new: 2 },
        ]),
      },
    ])
  })

  it('[END-12] bounds apply without a release', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    expect((await api(key).patch(`/v2/serverless/${id}`, { workers: { max: 7 }, timeout: 5000 })).body).toMatchObject({
      workers: { min: 0, max: 7, idleTimeout: 5 },
      timeout: 5000,
    })
    expect(await releasesOf(id)).toHaveLength(1)
  })

  it('[STRICT-3] an empty object changes nothing', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const before = (await api(key).get(`/v2/serverless/${id}`)).body
    expect(await api(key).patch(`/v2/serverless/${id}`, {})).toMatchObject({ status: 200, body: before })
  })

  it('two simultaneous changes are both kept', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const replies = await Promise.all([
      api(key).patch(`/v2/serverless/${id}`, { name: 'renamed' }),
      api(key).patch(`/v2/serverless/${id}`, { env: { B: '1' } }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    expect((await api(key).get(`/v2/serverless/${id}`)).body).toMatchObject({ name: 'renamed', env: { B: '1' } })
    const row = await env.DB.prepare('SELECT revision FROM endpoints WHERE id = ?').bind(id).first()
    expect(row).toEqual({ revision: 3 })
  })

  it('[CON-3] the command of a response can be written back', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key, { args: 'python -u "a b.py"' })
    const { args, cmd, entrypoint } = (await api(key).get(`/v2/serverless/${id}`)).body
    expect(await api(key).patch(`/v2/serverless/${id}`, { args, cmd, entrypoint })).toMatchObject({
      status: 200,
      body: { args, cmd, entrypoint },
    })
    expect(await api(key).patch(`/v2/serverless/${id}`, { args, cmd: ['other'] })).toMatchObject({ status: 400 })
    expect(await releasesOf(id)).toHaveLength(1)
  })
})

describe('delete', () => {
  it('[END-1] returns 204, then only the row of the endpoint remains', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    expect(await api(key).delete(`/v2/serverless/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await api(key).get(`/v2/serverless/${id}`)).status).toBe(404)
    expect((await api(key).delete(`/v2/serverless/${id}`)).status).toBe(404)
    expect((await api(key).get('/v2/serverless')).body.endpoints).toEqual([])
    expect((await api(key).post(`/v2/${id}/run`, { input: {} })).status).toBe(404)
    expect(await env.DB.prepare('SELECT deleted_at > 0 AS gone FROM endpoints WHERE id = ?').bind(id).first()).toEqual({ gone: 1 })
  })
})

function idsOf(body: { endpoints: { id: string }[] }): string[] {
  return body.endpoints.map(({ id }) => id)
}

async function releasesOf(id: string): Promise<unknown[]> {
  const { results } = await env.DB.prepare('SELECT version, created_by_user_id, diff FROM releases WHERE endpoint_id = ? ORDER BY version')
    .bind(id)
    .all()
  return results
}

/** Spreads the creation times, which may fall into one millisecond in a test. */
async function touchCreation(ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    await env.DB.prepare('UPDATE endpoints SET created_at = created_at + ? WHERE id = ?')
      .bind(index * 1000, id)
      .run()
  }
}

describe('after the push to the queue was lost', () => {
  it('[END-1] a repeated DELETE ends the queue all the same', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    await env.DB.prepare('UPDATE endpoints SET deleted_at = 1 WHERE id = ?').bind(id).run()
    expect((await api(key).delete(`/v2/serverless/${id}`)).status).toBe(404)
    expect((await endpointStub(env, id).fetch(`${ORIGIN}/v2/${id}/health`)).status).toBe(404)
  })
})

function hashOf(endpointId: string, name: string, value: string): string {
  return `hmac-sha256:${vaultOf(env).digest(['endpoints', endpointId, 'env', name], value)}`
}
