import { admin, api, createAccount, createKey, describe, env, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

type Effect = { kind: string; what: string; severity: string; amount: number | null; resource: { kind: string; id: string } }
const users = (id: string) => `/admin/v1/users/${id}`
const kinds = (plan: { effects: Effect[] }) => plan.effects.map(({ kind, resource }) => [kind, resource.kind])

describe('[DRY-11] limits of an account', () => {
  it('the plan lists the changes, and objects above the new limits', async () => {
    const { key, userId } = await createAccount()
    for (const name of ['A', 'B']) await api(key).post('/v2/account/secrets', { name, value: 'x' })
    const path = `${users(userId)}/budgets`
    const { body: plan } = await admin().put(`${path}?dryRun=true`, { secrets: 1, gpus: 512 })
    expect(plan.effects.map(({ kind, what, amount }: Effect) => [kind, what, amount])).toEqual([
      ['CHANGES', 'gpus: 256 becomes 512', null],
      ['CHANGES', expect.stringMatching(/^secrets: \d+ becomes 1$/), null],
      ['REFUSES', 'secrets: 2 are in use; new requests are refused until fewer than 1 are in use', 2],
    ])
    expect((await admin().get(path)).body).toEqual({})
    const same = (await admin().put(`${path}?dryRun=true`, {})).body
    expect(kinds(same)).toEqual([['STAYS', 'account']])
    const quotas = (await admin().put(`${users(userId)}/quotas?dryRun=true`, { minute: 5, hour: 3000, day: 50_000, exempt: false })).body
    expect(quotas.effects.map(({ what }: Effect) => what)).toContain('requests a minute: 60 becomes 5')
  })

  it('the plan of spend limits names the accounts above them, and the pods that a monthly limit stops', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ name: 'notebook' })
    await scene.run(id)
    const ask = async (body: object) => (await scene.call.patch('/v2/billing/limits?dryRun=true', body)).body
    const over = await ask({ perHour: 0.01 })
    expect(kinds(over)).toEqual([
      ['CHANGES', 'account'],
      ['REFUSES', 'account'],
    ])
    const month = await ask({ perMonth: 0, stopsPods: true })
    expect(month.effects.at(-1)).toMatchObject({ kind: 'STOPS', resource: { kind: 'pod', id, name: 'notebook' } })
    expect(kinds(await ask({ perMonth: 0, stopsPods: false })).map(([kind]) => kind)).not.toContain('STOPS')
    const refused = await scene.call.patch('/v2/billing/limits', { perHour: 1_000_000 })
    expect(refused.status).toBe(400)
    expect((await ask({ perHour: 1_000_000 })).refusal).toEqual(refused.body)
    const operator = await admin().put(`${users(scene.account.userId)}/spend-limits?dryRun=true`, { perHour: 0.01 })
    expect(kinds(operator.body)).toEqual([
      ['CHANGES', 'account'],
      ['REFUSES', 'account'],
    ])
    const isolation = await admin().put(`${users(scene.account.userId)}/isolation?dryRun=true`, { runtimeClass: 'kata' })
    expect(isolation.body.effects).toMatchObject([{ kind: 'CHANGES' }, { kind: 'REFUSES', amount: 0 }, { kind: 'STAYS', amount: 1 }])
    expect((await scene.get(id)).status).toBe('RUNNING')
    scene.leave()
  })
})

describe('[DRY-12] the deletion or suspension of an account', () => {
  it('the plan names what stops, then what starts again, then what is lost', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ name: 'notebook' })
    await scene.run(id)
    const { body: endpoint } = await scene.call.post('/v2/serverless', { name: 'chat', image: 'acme/echo:1', gpu: { pools: ['ADA_24'] } })
    const at = users(scene.account.userId)
    const suspended = (await admin().post(`${at}/suspend?dryRun=true`)).body
    expect(suspended.effects).toMatchObject([
      { kind: 'REFUSES', amount: 1 },
      { kind: 'STOPS', resource: { kind: 'pod', id } },
      { kind: 'STOPS', resource: { kind: 'endpoint', id: endpoint.id } },
      { kind: 'SAVES' },
    ])
    expect((await admin().post(`${at}/resume?dryRun=true`)).body.effects).toMatchObject([{ kind: 'STAYS' }])
    expect((await scene.get(id)).status).toBe('RUNNING')
    expect((await admin().post(`${at}/suspend`)).status).toBe(200)
    expect((await admin().post(`${at}/resume?dryRun=true`)).body.effects).toMatchObject([
      { kind: 'CHANGES' },
      { kind: 'STARTS', resource: { kind: 'pod', id } },
      { kind: 'STARTS', resource: { kind: 'endpoint' } },
    ])
    const deleted = (await admin().delete(`${at}?dryRun=true`)).body
    expect(deleted.effects.filter(({ severity }: Effect) => severity === 'LOSS').map(({ resource }: Effect) => resource.kind)).toEqual([
      'account',
      'pod',
      'endpoint',
      'account',
    ])
    expect((await env.DB.prepare('SELECT deleted_at FROM users WHERE id = ?').bind(scene.account.userId).first())?.deleted_at).toBeNull()
    scene.leave()
  })
})

describe('[DRY-13] revoking by the operator', () => {
  it('the plan names the callers that are refused from then on, and returns the refusal for a used token', async () => {
    const { userId, key } = await createAccount()
    const spare = await createKey(userId)
    const plan = (await admin().delete(`/admin/v1/keys/${spare.id}?dryRun=true`)).body
    expect(kinds(plan)).toEqual([['REFUSES', 'api-key']])
    expect((await api(spare.key).get('/v2/account/limits')).status).toBe(200)
    expect((await api(key).delete(`/admin/v1/keys/${spare.id}?dryRun=true`)).status).toBe(401)
    const { id } = (await admin().post('/admin/v1/join-tokens', { name: 'rack 4' })).body
    const path = `/admin/v1/join-tokens/${id}`
    expect(kinds((await admin().delete(`${path}?dryRun=true`)).body)).toEqual([['REFUSES', 'join-token']])
    await env.DB.prepare('UPDATE join_tokens SET used_at = 1 WHERE id = ?').bind(id).run()
    const real = await admin().delete(path)
    expect(real.status).toBe(409)
    expect((await admin().delete(`${path}?dryRun=true`)).body).toMatchObject({ effects: [], refusal: real.body })
  })
})
