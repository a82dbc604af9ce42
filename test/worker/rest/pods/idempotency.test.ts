import { openDatabase } from '../../../../src/db/client.ts'
import { claimKey, isClaimLost, storeResponse } from '../../../../src/db/idempotency.ts'
import { placePod } from '../../../../src/effects/pods/place-pod.ts'
import { type Place, vaultOf } from '../../../../src/platform/seal.ts'
import { api, createAccount, createKey, describe, env, expect, it } from '../../../support/harness.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { PODS, type PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { compute, draftPod } from '../../../support/pods/pods.ts'

const WITH = (key: string) => ({ 'Idempotency-Key': key })

async function countPods(scene: PodScene): Promise<number> {
  return (await scene.call.get(PODS)).body.pods.length
}

async function age(key: string, byMs: number): Promise<void> {
  await env.DB.prepare('UPDATE idempotency_keys SET claimed_at = claimed_at - ? WHERE key = ?').bind(byMs, key).run()
}

describe('Idempotency-Key', () => {
  it('[POD-22] the same request gets the first reply again, whatever the state of the pod', async () => {
    const scene = await podScene(gpus(4))
    const first = await scene.call.post(PODS, podBody({ startJupyter: true }), WITH('a-key'))
    const again = await scene.call.post(PODS, podBody({ startJupyter: true }), WITH('a-key'))
    expect(first.status).toBe(201)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
    expect(await countPods(scene)).toBe(1)
    await scene.act(first.body.id, 'terminate')
    // The env of a terminated pod is not retained (POD-76).
    expect((await scene.call.post(PODS, podBody({ startJupyter: true }), WITH('a-key'))).body).toEqual({ ...first.body, env: {} })
    expect(await countPods(scene)).toBe(0)
    scene.leave()
  })

  it('[POD-22] another body is 422, another key or account another pod', async () => {
    const scene = await podScene(gpus(4))
    expect((await scene.call.post(PODS, podBody(), WITH('b-key'))).status).toBe(201)
    expect(await scene.call.post(PODS, podBody({ name: 'other' }), WITH('b-key'))).toMatchObject({
      status: 422,
      body: { errors: ['$.Idempotency-Key: was already used with a different request'] },
    })
    expect((await scene.call.post(PODS, podBody(), WITH('c-key'))).status).toBe(201)
    expect((await api((await createAccount()).key).post(PODS, podBody(), WITH('b-key'))).status).toBe(201)
    expect(await countPods(scene)).toBe(2)
    scene.leave()
  })

  it('[POD-22] of ten simultaneous ones one creates; the others must wait, or get its reply', async () => {
    const scene = await podScene(gpus(4))
    const replies = await Promise.all(Array.from({ length: 10 }, () => scene.call.post(PODS, podBody(), WITH('d-key'))))
    const created = replies.filter(({ status }) => status === 201)
    expect(created.length).toBeGreaterThan(0)
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
    for (const { status, body } of replies.filter((reply) => reply.status !== 201)) {
      expect({ status, detail: body.detail }).toEqual({
        status: 409,
        detail: 'the first request under this Idempotency-Key is still running',
      })
    }
    expect(await countPods(scene)).toBe(1)
    expect(await freeGpus(scene.host.id)).toBe(3)
    scene.leave()
  })

  it('[POD-22] after a refusal the same key may be tried again, also with another body', async () => {
    const scene = await podScene(gpus(1))
    const refused = podBody({ gpu: { id: 'No Such GPU' } })
    expect((await scene.call.post(PODS, refused, WITH('e-key'))).status).toBe(400)
    expect((await scene.call.post(PODS, podBody(), WITH('e-key'))).status).toBe(201)
    scene.leave()
  })

  it('[POD-22] a key is deleted after 24 hours, not before', async () => {
    const scene = await podScene(gpus(4))
    const first = await scene.call.post(PODS, podBody(), WITH('f-key'))
    await age('f-key', 24 * 3600_000 - 60_000)
    expect((await scene.call.post(PODS, podBody(), WITH('f-key'))).body.id).toBe(first.body.id)
    await age('f-key', 61_000)
    expect((await scene.call.post(PODS, podBody({ name: 'new' }), WITH('f-key'))).body).toMatchObject({ name: 'new' })
    expect(await countPods(scene)).toBe(2)
    scene.leave()
  })

  it('[POD-22] [IDEM-1] the claim of a request that ended is taken over after 60 s, not before; the ended one writes nothing more', async () => {
    const scene = await podScene(gpus(4))
    const claim = (at: number) =>
      env.DB.prepare("INSERT OR REPLACE INTO idempotency_keys VALUES (?, 'createPod', 'g-key', 'dead', 'x', ?, NULL)")
        .bind(teamId, at)
        .run()
    const teamId = await scene.team()
    await claim(Date.now() - 50_000)
    expect((await scene.call.post(PODS, podBody(), WITH('g-key'))).status).toBe(422)
    await claim(Date.now() - 61_000)
    expect((await scene.call.post(PODS, podBody(), WITH('g-key'))).status).toBe(201)
    expect(await countPods(scene)).toBe(1)
    scene.leave()
  })

  it('[POD-22] [IDEM-1] a request that lost its claim makes no pod: the whole batch fails', async () => {
    const scene = await podScene(gpus(2, 'NVIDIA A40'))
    const db = openDatabase(env.DB)
    const name = { teamId: await scene.team(), operation: 'createPod', key: 'h-key' }
    const claimBy = (claim: string, claimedAt: number) => claimKey(db, { ...name, claim, fingerprint: 'x', claimedAt })
    const draft = draftPod(name.teamId, `lost${Date.now()}`, { compute: compute('NVIDIA A40') })
    const place = (claim: string) => placePod(env, draft, () => [storeResponse(db, name, claim, '{}')])
    expect((await claimBy('first', Date.now() - 61_000))?.claim).toBe('first')
    expect((await claimBy('second', Date.now()))?.claim).toBe('second')
    const failure = await place('first').catch((error: unknown) => error)
    expect(isClaimLost(failure)).toBe(true)
    expect(await countPods(scene)).toBe(0)
    expect(await freeGpus(scene.host.id)).toBe(2)
    expect(await place('second')).toMatchObject({ ok: true })
    expect(await freeGpus(scene.host.id)).toBe(1)
    scene.leave()
  })

  it('[POD-22] its length is 1 to 128 visible characters', async () => {
    const scene = await podScene(gpus(4))
    const errorsFor = async (key: string) => (await scene.call.post(PODS, podBody(), WITH(key))).body.errors
    expect(await errorsFor('k'.repeat(129))).toEqual(['$.Idempotency-Key: maxLength: got 129, want 128'])
    expect(await errorsFor('a b')).toEqual(['$.Idempotency-Key: does not match pattern: want visible ASCII characters without spaces'])
    expect((await scene.call.post(PODS, podBody(), WITH('k'.repeat(128)))).status).toBe(201)
    scene.leave()
  })

  it('[IDEM-4] a repeat is authorized anew: a key that may not name the credential or the template is 403, repeat or not', async () => {
    const scene = await podScene(gpus(4))
    const { key } = await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes: ['pods:write'] })
    const registry = (await scene.call.post('/v2/registries', { name: 'r', username: 'u', password: 'p' })).body.id
    const template = { name: `t-${Date.now()}`, image: 'acme/idle:1', env: { T: 'of-the-template' } }
    const templateId = (await scene.call.post('/v2/templates', template)).body.id
    for (const [body, scope] of [
      [podBody({ registry }), 'registries:read'],
      [podBody({ image: undefined, templateId }), 'templates:read'],
    ] as const) {
      const name = WITH(`replay-${scope}`)
      expect((await scene.call.post(PODS, body, name)).status).toBe(201)
      expect((await scene.call.post(PODS, body, name)).status).toBe(201)
      expect(await api(key).post(PODS, body, name)).toMatchObject({ status: 403, body: { errors: [`the key lacks the scope ${scope}`] } })
    }
    expect(await countPods(scene)).toBe(2)
    scene.leave()
  })

  it('[IDEM-4] no env is stored: a repeat shows the current one to readers, and others the values that they sent', async () => {
    const scene = await podScene(gpus(4))
    const writer = api((await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes: ['pods:write'] })).key)
    const body = podBody({ env: { A: 'first' }, startJupyter: true })
    const repeat = async (call = scene.call) => (await call.post(PODS, body, WITH('env-key'))).body.env
    const { id, env: made } = (await scene.call.post(PODS, body, WITH('env-key'))).body
    expect(made).toEqual({ A: 'first', JUPYTER_PASSWORD: expect.any(String) })
    const kept = await env.DB.prepare("SELECT team_id, response FROM idempotency_keys WHERE key = 'env-key'").first<
      Record<string, string>
    >()
    const place: Place = ['idempotency keys', kept?.team_id ?? '', 'createPod', 'env-key', 'response']
    expect(JSON.parse(vaultOf(env).open(place, kept?.response ?? '') ?? '').pod).toMatchObject({ id, env: {} })
    expect(await repeat()).toEqual(made)
    expect((await scene.call.patch(`${PODS}/${id}`, { env: { A: 'rotated' } })).status).toBe(200)
    expect(await repeat()).toEqual({ ...made, A: 'rotated' })
    expect(await repeat(writer)).toEqual({ A: 'first' })
    expect(await countPods(scene)).toBe(1)
    scene.leave()
  })
})
