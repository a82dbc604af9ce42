import { api, createAccount, createEndpoint, describe, endpointBody, expect, it } from '../../../support/harness.ts'

const MEMBERS = Array.from({ length: 800_000 }, (_, i) => `"k${i}":1`).join(',')
const FULL_SECONDS = 15_000

describe('bodies made to be slow', () => {
  it('[H7][RUN-14] with 800,000 members beside the input are 400 and make no job', { timeout: FULL_SECONDS }, async () => {
    for (const operation of ['run', 'runsync', 'openai/v1/completions']) {
      const { key } = await createAccount()
      const id = await createEndpoint(key, { workers: { max: 0 } })
      const call = api(key)
      const reply = await call.post(`/v2/${id}/${operation}`, `{"input":{},${MEMBERS}}`)
      expect([operation, reply.status]).toEqual([operation, 400])
      expect((await call.get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(0)
    }
    const { key } = await createAccount()
    const id = await createEndpoint(key, { workers: { max: 0 } })
    expect((await api(key).post(`/v2/${id}/run`, `{"input":{${MEMBERS}}}`)).status).toBe(200)
  })

  it('[L4][ERR-23] get, for 5,000 wrong names, a refusal that is shorter than the request', async () => {
    const { key } = await createAccount()
    const env = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i} `, 'x']))
    const many = await api(key).post('/v2/serverless', endpointBody({ env }))
    expect([many.status, many.body.errors.length, many.body.errors.at(-1)]).toEqual([422, 51, '$: and 4950 more'])
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1]))
    const listed = await api(key).post('/v2/serverless', endpointBody(unknown))
    expect(listed.body.errors).toEqual([expect.stringMatching(/^\$: additional properties 'k0', .* and 4980 more not allowed$/)])
    const long = await api(key).post('/v2/serverless', endpointBody({ ['x'.repeat(90_000)]: 1 }))
    expect(JSON.stringify(long.body).length).toBeLessThan(1_000)
  })
})
