import { getIntrospectionQuery } from 'graphql'
import { type Account, beforeAll, createAccount, describe, expect, it, send } from '../../support/harness.ts'
import { graphql } from '../../support/http/graphql.ts'

let account: Account
beforeAll(async () => {
  account = await createAccount()
})
const ask = (query: string) => graphql(account.key)(query)
const refusalOf = async (query: string) => {
  const { status, body } = await ask(query)
  return { status, message: body.errors?.[0].message }
}
const nested = (levels: number) => `{ myself ${'{ pods '.repeat(levels)}{ id }${' }'.repeat(levels)} }`
const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, index) => of(index)).join(' ')

describe('limits of a document', () => {
  it('[GQL-10] introspection answers the standard query', async () => {
    const { status, body } = await ask(getIntrospectionQuery())
    expect([status, body.data.__schema.queryType.name]).toEqual([200, 'Query'])
  })

  it('[GQL-10] 20 levels, and not one more', async () => {
    expect((await refusalOf(nested(18))).message).not.toContain('levels')
    expect(await refusalOf(nested(19))).toEqual({ status: 400, message: 'the document has more than 20 levels; request less at once' })
  })

  it('[GQL-10] a body of 1 MiB', async () => {
    const body = JSON.stringify({ query: `{ myself { id } } #${' '.repeat(1024 * 1024)}` })
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${account.key}` }
    const response = await send('/graphql', { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toEqual([
      413,
      { errors: [{ message: 'request body exceeds 1048576 bytes', extensions: { code: 'RUNPOD' } }] },
    ])
    const just = await send('/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: `{ myself { id } } #${' '.repeat(1_000_000)}` }),
    })
    expect(just.status).toBe(200)
  })

  it('[GQL-24] tokens, fields, aliases, directives, root fields', async () => {
    const refused = (what: string) => ({ status: 400, message: `the document has more than ${what}; request less at once` })
    expect((await refusalOf(`{ myself { id ${many(10_000, () => 'id')} } }`)).message).toContain('10000 tokens')
    expect(await refusalOf(`{ myself { ${many(1_001, () => 'id')} } }`)).toEqual(refused('1000 fields'))
    expect(await refusalOf(`{ myself { ${many(51, (index) => `a${index}: id`)} } }`)).toEqual(refused('50 aliases'))
    expect(await refusalOf(`{ myself { id ${'@skip(if: false) '.repeat(51)} } }`)).toEqual(refused('50 directives'))
    expect(await refusalOf(`{ ${many(51, () => '__typename')} }`)).toEqual(refused('50 fields at its root'))
  })

  it('[GQL-24] fragments count as often as they are spread, and circles end', async () => {
    const bomb = many(30, (index) => `fragment F${index} on User { ...F${index + 1} ...F${index + 1} }`)
    expect(await refusalOf(`{ myself { ...F0 } } ${bomb} fragment F30 on User { id }`)).toEqual({
      status: 400,
      message: 'the document has more than 1000 fields; request less at once',
    })
    expect((await refusalOf('{ myself { ...A } } fragment A on User { ...B } fragment B on User { ...A }')).status).toBe(400)
  })

  it('[GQL-70] 64 nested brackets, of whatever kind', async () => {
    const refused = { status: 400, message: 'the document has more than 64 nested brackets; request less at once' }
    for (const [open, close] of [
      ['[', ']'],
      ['{a:', '}'],
    ] as const) {
      const create = (levels: number) => `mutation { createFlashApp(input: ${open.repeat(levels)}1${close.repeat(levels)}) { id } }`
      expect(await refusalOf(create(62))).toEqual({ status: 200, message: 'not supported' })
      expect(await refusalOf(create(63))).toEqual(refused)
      expect(await refusalOf(create(2_000))).toEqual(refused)
    }
    expect(await refusalOf(`query($a: ${'['.repeat(2_000)}String${']'.repeat(2_000)}) { myself { id } }`)).toEqual(refused)
  })

  it('[GQL-25] its cost: nested lists, by their sizes', async () => {
    const pod = 'id machine { podHostId } runtime { ports { ip privatePort } gpus { id } }'
    expect((await ask(`{ myself { pods { ${pod} } } }`)).status).toBe(200)
    const { status, message } = await refusalOf(`{ myself { ${many(20, (index) => `a${index}: pods { ${pod} }`)} } }`)
    expect([status, message]).toEqual([400, expect.stringMatching(/^the document costs \d+, above the maximum of 40000/)])
    expect(
      (await refusalOf(`{ ${many(20, (index) => `a${index}: myself { ...F }`)} } fragment F on User { pods { ${pod} } }`)).status,
    ).toBe(400)
  })

  it('[GQL-26] one document per request', async () => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${account.key}` }
    const response = await send('/graphql', { method: 'POST', headers, body: '[{"query":"{ myself { id } }"}]' })
    expect([response.status, await response.json()]).toEqual([
      400,
      { errors: [{ message: 'send one document per request: batches are not supported', extensions: { code: 'RUNPOD' } }] },
    ])
  })
})
