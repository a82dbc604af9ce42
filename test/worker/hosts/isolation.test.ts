import { admin, describe, env, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { podBody, podScene } from '../../support/pods/pod-scene.ts'

const TYPE = 'NVIDIA A30'
const LABELS = 'needs a container in runsc, which the operator requires of this account'
const RUNC = { network: true, runtimeClass: 'runc' } as const
const RUNSC = { network: true, runtimeClass: 'runsc' } as const

describe('an account of which the operator requires a runtime class', () => {
  it('[CLASS-1][CLASS-3][H9] is placed on no other host, and its refusals say so; other accounts are not affected', async () => {
    const plain = await podScene({ ...gpus(4, TYPE), isolation: RUNC })
    const wanted = { gpu: { id: TYPE } }
    const before = await plain.create(wanted)
    const { userId } = plain.account
    const path = `/admin/v1/users/${userId}/isolation`
    expect((await admin().get(path)).body).toEqual({ runtimeClass: null })
    expect((await admin().put(path, { runtimeClass: 'runsc' })).body).toEqual({ runtimeClass: 'runsc' })
    expect((await admin().get(path)).body).toEqual({ runtimeClass: 'runsc' })
    const refused = await plain.call.post('/v2/pods', podBody(wanted))
    const preview = await plain.call.post('/v2/pods?dryRun=true', podBody(wanted))
    expect(refused.status).toBe(400)
    expect(JSON.stringify(preview.body)).toContain(LABELS)
    // The existing pod continues.
    expect((await plain.call.get('/v2/pods')).body.pods.map(({ id }: { id: string }) => id)).toEqual([before.id])
    const sandboxed = await FakeHost.join({ ...gpus(4, TYPE), isolation: RUNSC })
    await plain.create(wanted)
    expect(await holders()).toEqual({ [plain.host.id]: 1, [sandboxed.id]: 1 })
    await admin().put(path, { runtimeClass: null })
    await plain.create(wanted)
    sandboxed.leave()
    plain.host.leave()
  })

  it('[CLASS-2] may not run built-in images', async () => {
    const scene = await podScene({ ...gpus(4, TYPE), runtimes: ['docker', 'process'], isolation: RUNSC })
    await admin().put(`/admin/v1/users/${scene.account.userId}/isolation`, { runtimeClass: 'runsc' })
    const preview = await scene.call.post('/v2/pods?dryRun=true', podBody({ gpu: { id: TYPE }, image: 'builtin/idle' }))
    expect(JSON.stringify(preview.body)).toContain(LABELS)
    await scene.create({ gpu: { id: TYPE } })
    scene.host.leave()
  })

  it('[CLASS-1] is chosen by the operator alone, and only among existing classes', async () => {
    const scene = await podScene({ ...gpus(1, TYPE), isolation: RUNC })
    const path = `/admin/v1/users/${scene.account.userId}/isolation`
    expect((await scene.call.put(path, { runtimeClass: null })).status).toBe(401)
    expect((await admin().put(path, { runtimeClass: 'gvisor' })).status).toBe(422)
    expect((await admin().put('/admin/v1/users/nobody/isolation', { runtimeClass: 'runc' })).status).toBe(404)
    expect((await admin().get(path)).body).toEqual({ runtimeClass: null })
    scene.host.leave()
  })
})

async function holders(): Promise<Record<string, number>> {
  const { results } = await env.DB.prepare(
    'SELECT host_id, COUNT(*) AS n FROM allocations a JOIN host_gpus USING (host_id) WHERE host_gpus.gpu_type_id = ? GROUP BY host_id',
  )
    .bind(TYPE)
    .all<{ host_id: string; n: number }>()
  return Object.fromEntries(results.map(({ host_id, n }) => [host_id, n]))
}
