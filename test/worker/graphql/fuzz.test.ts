import { watchDatabase } from '../../support/cost/watch-database.ts'
import { createAccount, createEndpoint, createKey, describe, env, expect, it, send, vi } from '../../support/harness.ts'
import { DocumentMaker } from '../../support/http/graphql-schema/documents.ts'

// Documents generated from the schema, sent by callers with all scopes, with read scopes and with none.

const { GENERATED_SEED } = env as unknown as { GENERATED_SEED: string }
const SEED = GENERATED_SEED === '' ? Date.now() % 2 ** 31 : Number(GENERATED_SEED)
const COUNT = 1_500
/** Upper bound of the statements of one document: the generators write up to three root fields. */
const MOST_STATEMENTS = 40
const MOST_FAULTS = 5

describe('generated documents', () => {
  it(`[GQL-40] ${COUNT} of them, seed ${SEED}: no reply is an error of the server, and the cost is bounded`, async () => {
    const account = await createAccount()
    await createEndpoint(account.key)
    const readOnly = await createKey(account.userId, { permission: 'READ_ONLY' })
    const callers = [`Bearer ${account.key}`, `Bearer ${account.key}`, `Bearer ${readOnly.key}`, null]
    const maker = new DocumentMaker(SEED)
    const calls = watchDatabase()
    const faults: unknown[] = []
    const seen = { executed: 0, refused: 0, mostStatements: 0 }
    for (let index = 0; index < COUNT && faults.length < MOST_FAULTS; index += 1) {
      const document = maker.make()
      const authorization = callers[index % callers.length]
      calls.length = 0
      const response = await send('/graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) },
        body: JSON.stringify(document),
      })
      const text = await response.text()
      const statements = calls.flat().length
      seen.mostStatements = Math.max(seen.mostStatements, statements)
      if (response.status === 200) seen.executed += 1
      else seen.refused += 1
      const isFault = response.status >= 500 || /INTERNAL_SERVER_ERROR|\bat .*\.(ts|js):\d+/.test(text) || !/^\{"(errors|data)"/.test(text)
      if (isFault || statements > MOST_STATEMENTS)
        faults.push({ index, document, status: response.status, text: text.slice(0, 2_000), statements })
    }
    vi.restoreAllMocks()
    console.info(`documents of GraphQL, seed ${SEED}: ${JSON.stringify(seen)}`)
    expect(faults).toEqual([])
    expect(seen.executed).toBeGreaterThan(COUNT / 4)
    expect(seen.refused).toBeGreaterThan(COUNT / 20)
  }, 600_000)
})
