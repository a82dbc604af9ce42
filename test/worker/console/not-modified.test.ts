import { api, createAccount, createEndpoint, describe, expect, it } from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'

describe('[SESSION-26] a page that refreshes', () => {
  it('reads 304 while nothing has changed, and a change with another tag', async () => {
    const account = await createAccount()
    const browser = await Browser.signedIn(account.key)
    const first = await browser.page('GET', '/v2/serverless')
    const tag = first.headers.get('etag') ?? ''
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^"[0-9a-f]{24}"$/)])
    const known = { 'If-None-Match': tag }
    const again = await browser.page('GET', '/v2/serverless', undefined, known)
    expect([again.status, again.body, again.headers.get('etag'), again.headers.get('content-type')]).toEqual([304, null, tag, null])
    for (const name of ['x-request-id', 'ratelimit-limit', 'cache-control', 'vary', 'x-account-id']) {
      expect(again.headers.has(name), name).toBe(first.headers.has(name))
    }
    await createEndpoint(account.key)
    const changesBefore = await browser.page('GET', '/v2/serverless', undefined, known)
    expect([changesBefore.status, changesBefore.body.endpoints?.length ?? changesBefore.body.length]).toEqual([200, 1])
    expect(changesBefore.headers.get('etag')).not.toBe(tag)
  })

  it('gets no tag of another account, no tag of a refusal, and none with a key', async () => {
    const account = await createAccount()
    const [browser, other] = await Promise.all([account, await createAccount()].map(({ key }) => Browser.signedIn(key)))
    await createEndpoint(account.key)
    const tag = (await browser?.page('GET', '/v2/serverless'))?.headers.get('etag') ?? ''
    const theirs = await other?.page('GET', '/v2/serverless', undefined, { 'If-None-Match': tag })
    expect([theirs?.status, theirs?.headers.get('etag')]).toEqual([200, expect.not.stringContaining(tag)])
    const missing = await browser?.page('GET', '/v2/serverless/nothere', undefined, { 'If-None-Match': '*' })
    expect([missing?.status, missing?.headers.get('etag')]).toEqual([404, null])
    const byKey = await api(account.key).get('/v2/serverless', undefined, { 'If-None-Match': tag })
    expect([byKey.status, byKey.headers.get('etag')]).toEqual([200, null])
  })
})
