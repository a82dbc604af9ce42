import { api, createAccount, createKey, describe, expect, it } from '../../support/harness.ts'

describe('/v2/events', () => {
  it("[AUD-22] lists events of the account's resources, in plain text, newest first, in pages and by resource", async () => {
    const account = await createAccount()
    const client = api(account.key)
    const ids: string[] = []
    for (const name of ['one', 'two']) ids.push((await client.post('/v2/templates', { name, image: 'acme/idle:1' })).body.id)
    expect((await client.delete(`/v2/templates/${ids[0]}`)).status).toBe(204)
    const { body } = await client.get(`/v2/events?resource=${ids[0]}`)
    expect(body.events).toMatchObject([
      { action: 'templates.delete', targets: [{ kind: 'template', id: ids[0] }], message: `An API key deleted template ${ids[0]}` },
      { action: 'templates.create', message: `An API key created template ${ids[0]}` },
    ])
    expect(Object.keys(body.events[0]).toSorted()).toEqual(['action', 'actor', 'at', 'id', 'message', 'targets'])
    const first = (await client.get('/v2/events?limit=1')).body
    expect(first.pagination.hasNextPage).toBe(true)
    const next = (await client.get(`/v2/events?limit=1&cursor=${first.pagination.nextCursor}`)).body
    expect([first.events[0].targets[0].id, next.events[0].targets[0].id]).toEqual([ids[0], ids[1]])
    const otherTenant = api((await createAccount()).key)
    expect((await otherTenant.get(`/v2/events?resource=${ids[0]}`)).body.events).toEqual([])
    const narrow = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['pods:read'] })
    expect((await api(narrow.key).get('/v2/events')).status).toBe(403)
  })
})
