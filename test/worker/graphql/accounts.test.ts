import { type Account, api, createAccount, describe, expect, it, send, teamOf } from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'
import { graphql } from '../../support/http/graphql.ts'

const NO_PLAN = 'dryRun: this operation supports no dry run, so nothing was done; leave dryRun out to execute it'

const saving = (name: string) => `mutation { saveTemplate(input: {name: "${name}", imageName: "acme/idle:1", dockerArgs: "",
  containerDiskInGb: 5, volumeInGb: 0, env: [], readme: ""}) { id } }`
const nameOfTest = () => `t-${crypto.randomUUID()}`

async function templatesOf({ key }: Account): Promise<string[]> {
  const { body } = await api(key).get('/v2/templates')
  return body.templates.map(({ name }: { name: string }) => name)
}

async function post(query: string, document: string, headers: Record<string, string>) {
  const response = await send(`/graphql${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: document }),
  })
  return { status: response.status, body: (await response.json()) as { errors?: { message: string }[] } }
}

describe('[GQL-72] a document with dryRun', () => {
  it.each(['?dryRun=true', '?dryRun=', '?dryRun=1', '?dryRun=false&dryRun=true'])('%s is refused, and nothing is done', async (query) => {
    const account = await createAccount()
    const bearer = { Authorization: `Bearer ${account.key}` }
    const refused = { status: 400, body: { errors: [{ message: NO_PLAN }] } }
    expect(await post(query, saving(nameOfTest()), bearer)).toMatchObject(refused)
    expect(await post(`${query}&api_key=${account.key}`, saving(nameOfTest()), {})).toMatchObject(refused)
    expect(await templatesOf(account)).toEqual([])
  })

  it('is carried out where dryRun is false', async () => {
    const account = await createAccount()
    const name = nameOfTest()
    expect((await post('?dryRun=false', saving(name), { Authorization: `Bearer ${account.key}` })).status).toBe(200)
    expect(await templatesOf(account)).toEqual([name])
  })
})

describe('the account that a mutation is for', () => {
  it('[GQL-2] depends on a key in the address, whatever account and cookie are sent too', async () => {
    const [victim, attacker] = [await createAccount(), await createAccount()]
    const browser = await Browser.signedIn(victim.key)
    const name = nameOfTest()
    const body = { query: saving(name) }
    const team = await teamOf(victim)
    const reply = await browser.page('POST', `/graphql?api_key=${attacker.key}`, body, { 'X-Team-Id': team })
    expect(reply.status).toBe(200)
    expect([await templatesOf(victim), await templatesOf(attacker)]).toEqual([[], [name]])
  })

  it('[SESSION-4] is none for a cookie that another site sends, and nothing is done', async () => {
    const victim = await createAccount()
    const browser = await Browser.signedIn(victim.key)
    const body = { query: saving(nameOfTest()) }
    const from = { Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' }
    expect((await browser.ask('POST', '/graphql', body, from)).status).toBe(401)
    expect((await browser.ask('POST', '/graphql?api_key=', body, from)).status).toBe(401)
    expect((await browser.ask('POST', '/graphql', body, { ...from, 'Content-Type': 'text/plain' })).status).toBe(401)
    expect(await templatesOf(victim)).toEqual([])
  })

  it("[AUT-7] is the session's own where it names an account of other users", async () => {
    const [victim, attacker] = [await createAccount(), await createAccount()]
    const browser = await Browser.signedIn(attacker.key)
    const name = nameOfTest()
    await browser.page('POST', '/graphql', { query: saving(name) }, { 'X-Team-Id': await teamOf(victim) })
    expect([await templatesOf(victim), await templatesOf(attacker)]).toEqual([[], [name]])
  })

  it('[IDEM-2] is the same for two creates in a document under one Idempotency-Key, which makes the first', async () => {
    const account = await createAccount()
    const names = [nameOfTest(), nameOfTest()]
    const two = names.map((name, index) => saving(name).replace('mutation {', `m${index}:`).replace(/ }$/, ''))
    const { body } = await graphql(account.key)(`mutation { ${two.join('\n')} }`, null, { 'Idempotency-Key': crypto.randomUUID() })
    expect(body.errors.map(({ message, path }: { message: string; path: string[] }) => [path, message])).toEqual([
      [['m1'], expect.stringContaining('$.Idempotency-Key: was already used with a different request')],
    ])
    expect(await templatesOf(account)).toEqual(names.slice(0, 1))
  })
})
