import { api, createAccount, createEndpoint, createOrganization, describe, expect, it } from '../../../support/harness.ts'
import { v1 } from '../../../support/http/v1.ts'

describe('an empty PATCH', () => {
  it('[REST-23] is 422 where a member is required, and changes nothing for endpoints and templates', async () => {
    const { key } = await createAccount()
    const call = api(key)
    const made = async (path: string, body: object) => `${path}/${(await call.post(path, body)).body.id}`
    const refusing = [
      await made('/v2/account/secrets', { name: 'A', value: 'x' }),
      await made('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-RO-1' }),
      await made('/v2/global-volumes', { name: 'g' }),
      `/v2/organizations/${await createOrganization(key)}`,
    ]
    for (const path of refusing) {
      const before = (await call.get(path)).body
      const reply = await call.patch(path, {})
      expect([reply.status, reply.body.title], path).toEqual([422, 'Unprocessable Entity'])
      expect((await call.get(path)).body, path).toEqual(before)
    }
    const taking = [`/v2/serverless/${await createEndpoint(key)}`, await made('/v2/templates', { name: 't', image: 'acme/idle:1' })]
    for (const path of taking) {
      const before = await call.get(path)
      const reply = await call.patch(path, {})
      expect([reply.status, reply.body], path).toEqual([200, before.body])
    }
  })
})

describe('the document of API v1', () => {
  it('[API-20] is served without a key under v1, and names every operation with its body', async () => {
    const { status, body, headers } = await v1(null).get('/openapi.json')
    expect([status, headers.get('content-type'), headers.get('sunset')]).toEqual([200, 'application/json', 'Sun, 15 Nov 2026 00:00:00 GMT'])
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(['/v1/pods', '/v1/pods/{id}', '/v1/endpoints', '/v1/billing/pods']))
    const { post } = body.paths['/v1/pods']
    expect(post.requestBody.content['application/json'].schema.properties).toMatchObject({ imageName: { type: 'string' } })
    const operations = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(Object.values)
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  })
})
