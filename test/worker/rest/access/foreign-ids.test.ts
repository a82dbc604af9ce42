import { ask, fill, KINDS, operationsOf, unknownOf } from '../../../support/access/operations.ts'
import { snapshot, VICTIMS, type Victim } from '../../../support/access/victims.ts'
import { createAccount, createEndpoint, createOrganization, describe, expect, it, send } from '../../../support/harness.ts'

// Calls every documented route that names a resource with an existing id of another account.

/**
 * Kinds with parts that have ids of their own: jobs and workers of an endpoint and its queue, members and invitations of an organization.
 */
const KINDS_WITH_PARTS = KINDS.filter((kind) => operationsOf(kind).some(({ path }) => path.replace('{route}', '').split('{').length > 2))

function victimOf(kind: string): Promise<Victim> {
  const create = VICTIMS[kind]
  if (!create) throw new Error(`no victim for ${kind}{…}: add a row to VICTIMS in test/support/access/victims.ts`)
  return create()
}

describe('[AUT-5] [AUT-24] the id of another account’s resource', () => {
  it('every kind that routes name has a victim, and no other kind has one', () => {
    expect(Object.keys(VICTIMS).sort()).toEqual(KINDS.toSorted())
  })

  it.each(KINDS)('%s{…} gets the reply for an unknown id from every route, and nothing of it changes', async (kind) => {
    const [victim, otherTenant] = [await victimOf(kind), await createAccount()]
    const before = await snapshot(victim)
    const [[name, id] = ['', '']] = Object.entries(victim.params)
    const unknownId = unknownOf(id)
    for (const operation of operationsOf(kind)) {
      const label = `${operation.method} ${operation.path}`
      const foreign = await ask(`Bearer ${otherTenant.key}`, operation, fill(operation.path, victim.params), id)
      const unknown = await ask(
        `Bearer ${otherTenant.key}`,
        operation,
        fill(operation.path, { ...victim.params, [name]: unknownId }),
        unknownId,
      )
      expect(foreign.status, label).toBe(404)
      expect(foreign, label).toEqual(unknown)
      expect(await snapshot(victim), label).toEqual(before)
    }
  })

  it.each(KINDS_WITH_PARTS)('%s{…}/…/{…}: a foreign part of an own resource gets the reply for an unknown one', async (kind) => {
    const [victim, otherTenant] = [await victimOf(kind), await createAccount()]
    const [[name] = [''], ...parts] = Object.entries(victim.params)
    const before = await snapshot(victim)
    for (const [part, id] of parts.filter(([part]) => part !== 'route')) {
      const createOwn = kind === '/v2/organizations/' ? createOrganization : createEndpoint
      const own = { ...victim.params, [name]: await createOwn(otherTenant.key) }
      for (const operation of operationsOf(kind).filter(({ path }) => path.includes(`{${part}}`))) {
        const label = `${operation.method} ${operation.path}`
        const unknownId = unknownOf(id)
        const foreign = await ask(`Bearer ${otherTenant.key}`, operation, fill(operation.path, own), id)
        const unknown = await ask(`Bearer ${otherTenant.key}`, operation, fill(operation.path, { ...own, [part]: unknownId }), unknownId)
        expect(foreign.status, label).toBe(404)
        expect(foreign, label).toEqual(unknown)
        expect(await snapshot(victim), label).toEqual(before)
      }
    }
  })

  // The same calls reach the resource when its owner makes them: the refusal depends on the account, not on the path or the body. Calls of
  // the job API are left out, because they would wait for workers.
  it.each(KINDS.filter((kind) => kind !== '/v2/'))('%s{…} is known to its owner', async (kind) => {
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
