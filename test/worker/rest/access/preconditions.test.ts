import { DOCUMENTED, fill, type Operation } from '../../../support/access/operations.ts'
import { snapshot, VICTIMS, type Victim } from '../../../support/access/victims.ts'
import { api, createAccount, describe, expect, it, type Reply } from '../../../support/harness.ts'

// Every documented route that changes or deletes something takes a condition (REST-21).

const CHANGES = ['patch', 'put', 'delete']

/** Routes without a state that a condition could name, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  putOpenai: 'goes to the worker, whose resource it is',
  patchOpenai: 'goes to the worker, whose resource it is',
  deleteOpenai: 'goes to the worker, whose resource it is',
  revokeDelegation: 'a delegation never changes: its id is its state',
  revokeInvitation: 'an invitation never changes while it is open: its id is its state',
  revokeAccountKey: 'revoking adds to nothing that a reader could have missed: whatever the key is by now, it ends',
}

/** Bodies that change something each time they are sent. */
const BODIES: Readonly<Record<string, () => object>> = {
  updateEndpoint: () => ({ name: crypto.randomUUID() }),
  updatePod: () => ({ name: crypto.randomUUID() }),
  updateCluster: () => ({ name: crypto.randomUUID() }),
  updateTemplate: () => ({ name: crypto.randomUUID() }),
  updateNetworkVolume: () => ({ name: crypto.randomUUID() }),
  updateGlobalVolume: () => ({ name: crypto.randomUUID() }),
  updateOrganization: () => ({ name: crypto.randomUUID() }),
  updateSecret: () => ({ description: crypto.randomUUID() }),
  putSshKeys: () => ({ keys: [`ssh-ed25519 ${crypto.randomUUID().replaceAll('-', '')} me`] }),
  updateSpendLimits: () => ({ perMonth: Math.ceil(Math.random() * 1_000_000) }),
  updateOrganizationMember: () => ({ role: 'BILLING' }),
}

const conditional = DOCUMENTED.filter(({ method, id = '' }) => CHANGES.includes(method) && !(id in WITHOUT))

async function victimOf({ path }: Operation): Promise<Victim> {
  const prefix = path.includes('{') ? path.slice(0, path.indexOf('{')) : ''
  if (prefix === '') return { owner: await createAccount(), params: {}, reads: [path] }
  const create = VICTIMS[prefix]
  if (!create) throw new Error(`no victim for ${path}`)
  return create()
}

/** The tag that a reader of the resource gets; for a member, the role in quotes. */
async function tagOf({ owner }: Victim, path: string): Promise<string> {
  const parts = /^(.*)\/members\/(.*)$/.exec(path)
  const reply = await api(owner.key).get(parts?.[1] ?? path)
  if (!parts) return reply.headers.get('etag') ?? 'none'
  const { role } = reply.body.members.find((member: { userId: string }) => member.userId === parts[2])
  return `"${role}"`
}

describe('[REST-21][REST-22] a change with a condition', () => {
  it('is documented for every route that changes or deletes, except those with a reason', () => {
    const without = DOCUMENTED.filter(({ method, isConditional }) => CHANGES.includes(method) && !isConditional).map(({ id }) => id)
    expect(without.toSorted()).toEqual(Object.keys(WITHOUT).toSorted())
    expect(conditional.filter(({ method, id = '' }) => method !== 'delete' && !(id in BODIES)).map(({ id }) => id)).toEqual([])
  })

  it.each(conditional)(
    '$method $path: with a tag of another state it is 412 and nothing changes; with the current one it is done',
    async (operation) => {
      const victim = await victimOf(operation)
      const path = fill(operation.path, victim.params)
      const call = (ifMatch: string) => send(victim, operation, path, ifMatch)
      const tag = await tagOf(victim, path)
      expect(tag).toMatch(/^"[A-Za-z0-9_-]+"$/)
      const before = await snapshot(victim)
      for (const stale of ['"of another"', `W/${tag}`, tag.slice(1, -1)]) {
        const refused = await call(stale)
        expect([refused.status, refused.body.title], stale).toEqual([412, 'Precondition Failed'])
      }
      expect(await tagOf(victim, path)).toBe(tag)
      expect(await snapshot(victim)).toEqual(before)
      const done = await call(`"of another", ${tag}`)
      expect(done.status).toBe(operation.method === 'delete' ? 204 : 200)
      if (operation.method === 'delete') return
      const now = await tagOf(victim, path)
      expect(done.headers.get('etag')).toBe(now)
      expect(now).not.toBe(tag)
      expect((await call(tag)).status).toBe(412)
      expect((await call('*')).status).toBe(200)
    },
  )

  it.each(conditional.filter(({ method }) => method !== 'delete'))(
    '$method $path: of two simultaneous ones one is done',
    async (operation) => {
      const victim = await victimOf(operation)
      const path = fill(operation.path, victim.params)
      const tag = await tagOf(victim, path)
      const replies = await Promise.all([1, 2, 3].map(() => send(victim, operation, path, tag)))
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    },
  )

  it.each(conditional.filter(({ method }) => method === 'delete'))(
    '$method $path: a resource that has changed in between is not deleted',
    async (operation) => {
      const change = DOCUMENTED.find(({ method, path }) => method === 'patch' && path === operation.path)
      const victim = await victimOf(operation)
      const path = fill(operation.path, victim.params)
      const tag = await tagOf(victim, path)
      if (!change) return expect((await send(victim, operation, path, tag)).status).toBe(204)
      const [changed, deleted] = await Promise.all([send(victim, change, path, tag), send(victim, operation, path, tag)])
      if (changed.status === 200) expect(deleted.status).toBe(412)
      else expect([[404, 409, 412].includes(changed.status), deleted.status]).toEqual([true, 204])
    },
  )

  it.each(conditional.filter(({ isPlannable }) => isPlannable))('$method $path: its plan is refused in the same way', async (operation) => {
    const victim = await victimOf(operation)
    const path = fill(operation.path, victim.params)
    const plan = await send(victim, operation, `${path}?dryRun=true`, '"of another"')
    expect([plan.status, plan.body.refusal?.status]).toEqual([200, 412])
    const good = await send(victim, operation, `${path}?dryRun=true`, await tagOf(victim, path))
    expect([good.status, good.body.refusal?.status ?? null]).not.toEqual([200, 412])
  })
})

function send({ owner }: Victim, { method, id = '' }: Operation, path: string, ifMatch: string): Promise<Reply> {
  const call = api(owner.key)
  const extra = { 'If-Match': ifMatch }
  const body = BODIES[id]?.()
  if (method === 'delete') return call.delete(path, undefined, extra)
  return method === 'put' ? call.put(path, body, extra) : call.patch(path, body, extra)
}
