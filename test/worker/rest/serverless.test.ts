import { Endpoint } from '../../../src/contract/endpoint.ts'
import { api, createAccount, createEndpoint, describe, endpointBody, env, expect, it, ORIGIN } from '../../support/harness.ts'

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
      networkVolumes: [],
      timeout: 600000,
      flashboot: 'OFF',
      createdAt,
    })
    expect(Endpoint.parse(reply.body)).toEqual(reply.body)
  })
})
