import { api, createAccount, describe, endpointBody, env, expect, it, teamOf } from '../../../support/harness.ts'

const EVIL = ['a\u202eb', 'a\u001b[31mb', 'a\u0085b']

describe('[S18] [EDG-20] text that is shown to people later', () => {
  it.each([
    ['/v2/account/secrets', 'description', (text: string) => ({ name: 'A', value: 'v', description: text })],
    ['/v2/registries', 'username', (text: string) => ({ name: 'r', username: text, password: 'p' })],
    ['/v2/serverless', 'gpu.excludedTypes[0]', (text: string) => endpointBody({ gpu: { pools: ['ADA_24'], excludedTypes: [text] } })],
    ['/v2/templates', 'name', (text: string) => ({ name: text, image: 'acme/idle:1' })],
    ['/v2/organizations', 'name', (text: string) => ({ name: text })],
    ['/v2/pods', 'dataCenterIds[0]', (text: string) => ({ name: 'p', image: 'acme/idle:1', cpu: { id: 'cpu3c' }, dataCenterIds: [text] })],
  ])('%s refuses in %s, names the place, and stores nothing', async (path, member, body) => {
    const account = await createAccount()
    const kept = async () => {
      const tables = ['secrets', 'registries', 'endpoints', 'templates', 'pods']
      const counts = await env.DB.batch(
        tables.map((name) => env.DB.prepare(`SELECT COUNT(*) AS n FROM ${name} WHERE team_id = ?`).bind(team)),
      )
      return counts.map(({ results }) => results)
    }
    const team = await teamOf(account)
    const before = await kept()
    for (const text of EVIL) {
      const reply = await api(account.key).post(path, body(text))
      expect([reply.status, JSON.stringify(reply.body)]).toEqual([422, expect.stringContaining(`$.${member}`)])
    }
    expect(await kept()).toEqual(before)
  })

  it('keeps lines and tabs where it has several lines', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/account/secrets', { name: 'A', value: 'v\u001b', description: 'one\n\ttwo' })
    expect([reply.status, reply.body.description]).toEqual([201, 'one\n\ttwo'])
  })
})
