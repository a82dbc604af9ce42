import { createAccount, expect, it } from '../../support/harness.ts'
import { v1 } from '../../support/http/v1.ts'
import { bodyAround, sidesOf } from '../../support/openapi/bound-values.ts'
import { type Bound, boundsOf, locationOf } from '../../support/openapi/bounds.ts'
import { type OpenApi, type Placed, placedOperations } from '../../support/openapi/document.ts'

const REFUSALS = [400, 422]
const NOBODYS = 'zzzzzzzzzzzzzz'

/** Whether a body with a value at the place of a bound is refused for it; the fault names the place. */
async function isRefused(
  key: string,
  document: OpenApi,
  { method, path, operation }: Placed,
  bound: Bound,
  value: unknown,
): Promise<boolean> {
  const schema = operation.requestBody?.content['application/json']?.schema ?? {}
  const place = path.replace('/v1', '').replace(/\{\w+\}/, NOBODYS)
  const { status, body } = await v1(key).call(method.toUpperCase(), place, bodyAround(document, schema, bound.steps, value))
  expect(status).toBeLessThan(500)
  return REFUSALS.includes(status) && JSON.stringify(body).includes(`${locationOf(bound)}: `)
}

it('[DOC-4] every bound that the document of v1 states is enforced', async () => {
  const { key } = await createAccount()
  const document: OpenApi = (await v1(null).get('/openapi.json')).body
  const asked = placedOperations(document).flatMap((placed) => boundsOf(document, placed).map((bound) => ({ placed, bound })))
  const faults: string[] = []
  for (const { placed, bound } of asked) {
    const sides = sidesOf(document, bound)
    const name = `${placed.name} ${locationOf(bound)} ${bound.word}`
    if (sides === null) faults.push(`${name}: no value is known for it`)
    // Values of other types are not tried: which numbers v2 accepts is its own rule (LEG-5).
    const isOfAKind = bound.word === 'type' && !bound.flat.types.includes('boolean')
    for (const value of isOfAKind ? [] : (sides?.within ?? [])) {
      if (await isRefused(key, document, placed, bound, value)) faults.push(`${name}: ${JSON.stringify(value)} is refused`)
    }
    for (const value of sides?.beyond ?? []) {
      if (!(await isRefused(key, document, placed, bound, value))) faults.push(`${name}: ${JSON.stringify(value)} is not refused`)
    }
  }
  console.log(`${asked.length} bounds of v1 asked for`)
  expect(asked.length).toBeGreaterThan(0)
  expect(faults).toEqual([])
})
