import { restDocument } from '../../../src/http/rest-api.ts'
import { type Account, createAccount, createEndpoint, describe, expect, it, send } from '../../support/harness.ts'
import { snapshot, VICTIMS, type Victim } from '../../support/victims.ts'

// Every documented route that names a resource is called with the id of a real one that belongs to somebody else.

interface Operation {
  method: string
  path: string
  /** The example of the document: accepted as it stands, so that only the id can be what is refused. */
  body: object | undefined
}

interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: { $ref?: string } }> } }>>
  components: { schemas: Record<string, { example?: object }> }
}

const document = JSON.parse(JSON.stringify(restDocument())) as Document
const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { requestBody }]) => {
    const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
    return { method, path, body: requestBody && (document.components.schemas[name]?.example ?? { input: {} }) }
  }),
)
const kindOf = (path: string) => path.slice(0, path.indexOf('{'))
const kinds = [...new Set(operations.filter(({ path }) => path.includes('{')).map(({ path }) => kindOf(path)))]

/** An endpoint and its queue have jobs and workers, with ids of their own. */
const kindsWithParts = kinds.filter((kind) => operationsOf(kind).some(({ path }) => path.replace('{route}', '').split('{').length > 2))

/** What ends what it is called for comes last. */
function operationsOf(kind: string): Operation[] {
  return operations
    .filter(({ path }) => path.includes('{') && kindOf(path) === kind)
    .sort((one, other) => Number(one.method === 'delete') - Number(other.method === 'delete'))
}

function victimOf(kind: string): Promise<Victim> {
  const create = VICTIMS[kind]
  if (!create) throw new Error(`no victim for ${kind}{…}: add a row to VICTIMS in test/support/victims.ts`)
  return create()
}

/** An id of the same form that nothing has. */
const unknownOf = (id: string) => id.slice(0, -1) + (id.endsWith('a') ? 'b' : 'a')

function fill(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the victim has no ${name} for ${path}`)
    return value
  })
}

/** The answer without the id that was asked for and what is a request's own. */
async function ask(account: Account, { method, body }: Operation, path: string, id: string) {
  const response = await send(path, {
    method: method.toUpperCase(),
    headers: { Authorization: `Bearer ${account.key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const headers = [...response.headers.keys()].sort()
  // A stream that should not have been opened would never end.
  if (response.ok) await response.body?.cancel()
  const text = response.ok ? '' : await response.text()
  return { status: response.status, headers, body: text.replaceAll(id, '<id>') }
}

describe('[AUT-5] [PP-143] the id of another account’s resource', () => {
  it('there is a victim of every kind that routes name, and of no other', () => {
    expect(Object.keys(VICTIMS).sort()).toEqual(kinds.toSorted())
  })

  it.each(kinds)('%s{…} is answered as an unknown id by every route, and nothing happens to it', async (kind) => {
    const [victim, stranger] = [await victimOf(kind), await createAccount()]
    const before = await snapshot(victim)
    const [[name, id] = ['', '']] = Object.entries(victim.params)
    const unknownId = unknownOf(id)
    for (const operation of operationsOf(kind)) {
      const label = `${operation.method} ${operation.path}`
      const foreign = await ask(stranger, operation, fill(operation.path, victim.params), id)
      const unknown = await ask(stranger, operation, fill(operation.path, { ...victim.params, [name]: unknownId }), unknownId)
      expect(foreign.status, label).toBe(404)
      expect(foreign, label).toEqual(unknown)
      expect(await snapshot(victim), label).toEqual(before)
    }
  })

  it.each(kindsWithParts)('%s{…}/…/{…}: a foreign part of an endpoint of one’s own is answered as an unknown one', async (kind) => {
    const [victim, stranger] = [await victimOf(kind), await createAccount()]
    const [[name] = [''], ...parts] = Object.entries(victim.params)
    const before = await snapshot(victim)
    for (const [part, id] of parts.filter(([part]) => part !== 'route')) {
      const own = { ...victim.params, [name]: await createEndpoint(stranger.key) }
      for (const operation of operationsOf(kind).filter(({ path }) => path.includes(`{${part}}`))) {
        const label = `${operation.method} ${operation.path}`
        const unknownId = unknownOf(id)
        const foreign = await ask(stranger, operation, fill(operation.path, own), id)
        const unknown = await ask(stranger, operation, fill(operation.path, { ...own, [part]: unknownId }), unknownId)
        expect(foreign.status, label).toBe(404)
        expect(foreign, label).toEqual(unknown)
        expect(await snapshot(victim), label).toEqual(before)
      }
    }
  })

  // The same calls reach the resource when its owner makes them: it was the account that was refused, not the path or the body.
  // Those of the job API would wait for workers.
  it.each(kinds.filter((kind) => kind !== '/v2/'))('%s{…} is no unknown id to its owner', async (kind) => {
    const victim = await victimOf(kind)
    for (const { method, path, body } of operationsOf(kind)) {
      const response = await send(fill(path, victim.params), {
        method: method.toUpperCase(),
        headers: { Authorization: `Bearer ${victim.owner.key}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      await response.body?.cancel()
      expect([401, 403, 404, 405, 415, 422, 500], `${method} ${path}`).not.toContain(response.status)
    }
  })
})
