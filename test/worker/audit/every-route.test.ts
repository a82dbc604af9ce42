import { AUDITED, auditRows, callOf, EXEMPT, nameOf, ROWS, type StoredAudit } from '../../support/access/audited.ts'
import { DOCUMENTED, fill, type Operation } from '../../support/access/operations.ts'
import { beforeAll, createAccount, describe, expect, it, send } from '../../support/harness.ts'
import { until } from '../../support/time.ts'

// Every operation of both documents that changes something, called with success and by callers who are refused.

let otherTenantsKey: string

beforeAll(async () => {
  otherTenantsKey = (await createAccount()).key
})

/** Calls an operation under a request id of its own and returns that id. */
async function request(key: string | null, { method, path }: Operation, body: object | undefined) {
  const requestId = crypto.randomUUID()
  const response = await send(path, {
    method: method.toUpperCase(),
    headers: {
      'X-Request-ID': requestId,
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { requestId, status: response.status, text: await response.text() }
}

const rowsOf = (requestId: string): Promise<StoredAudit[]> => auditRows('request_id = ?', requestId)

describe('[AUD-2] an operation that changes something', () => {
  it.each(AUDITED.map((operation) => ({ name: nameOf(operation), operation })))(
    '$name adds one audit row, and none when it is refused',
    async ({ operation }) => {
      const { key, params, body = operation.body } = await callOf(operation)
      const filled = { ...operation, path: fill(operation.path, params) }
      const refused = [await request(null, filled, body), await request(`${otherTenantsKey}x`, filled, body)]
      // Collections without an id are skipped, because the other tenant has one too.
      if (operation.path.includes('{') || operation.path.startsWith('/admin/')) refused.push(await request(otherTenantsKey, filled, body))
      const done = await request(key, filled, body)
      expect(done.status, done.text).toBeLessThan(300)
      await until(async () => (await rowsOf(done.requestId)).length > 0)
      const rows = await rowsOf(done.requestId)
      expect(rows).toHaveLength(ROWS[nameOf(operation)] ?? 1)
      for (const row of rows)
        expect(row).toMatchObject({ actorKind: operation.path.startsWith('/admin/') ? 'OPERATOR' : 'KEY', requestId: done.requestId })
      for (const { requestId, status } of refused) {
        expect([401, 404]).toContain(status)
        expect(await rowsOf(requestId)).toEqual([])
      }
    },
  )

  it('lists no exemption that is missing in the documents', () => {
    const names = DOCUMENTED.map(nameOf)
    expect(Object.keys(EXEMPT).filter((name) => !names.includes(name))).toEqual([])
  })
})
