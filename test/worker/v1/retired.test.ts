import { createAccount, describe, expect, it, send } from '../../support/harness.ts'

describe('API v1', () => {
  it.each(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])(
    '[LEG-1][LEG-2][LEG-3] %s is 410 with the path of v2, with a key and without',
    async (method) => {
      const { key } = await createAccount()
      for (const headers of [{}, { Authorization: 'Bearer nonsense' }, { Authorization: `Bearer ${key}` }] as Record<string, string>[]) {
        const reply = await send('/v1/pods/p1', { method, headers })
        expect(reply.status).toBe(410)
        expect(await reply.json()).toEqual({ message: 'API v1 was retired on 15 November 2026; use /v2/pods/p1 of API v2' })
        expect(Object.fromEntries(reply.headers)).toMatchObject({
          'content-type': 'application/json',
          deprecation: '@1794700800',
          sunset: 'Sun, 15 Nov 2026 00:00:00 GMT',
          link: '</v2/pods/p1>; rel="successor-version"',
          'x-request-id': expect.any(String),
        })
      }
    },
  )

  it('[LEG-1] all of it is removed, HEAD too, and no other path', async () => {
    for (const path of ['/v1', '/v1/', '/v1/pods', '/v1/nothing/of/this', '/v1/openapi.json', '/v1/billing/pods?bucketSize=day']) {
      expect((await send(path)).status, path).toBe(410)
      expect((await send(path, { method: 'HEAD' })).status, path).toBe(410)
    }
    expect((await send('/v1x')).status).toBe(404)
  })

  it('[LEG-2] a large body is not read', async () => {
    const reply = await send('/v1/pods', { method: 'POST', body: 'x'.repeat(200_000) })
    expect(reply.status).toBe(410)
  })
})
