import { snapshot, VICTIMS } from '../../support/access/victims.ts'
import { api, createAccount, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PODS, podScene, setPod } from '../../support/pods/pod-scene.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'

const kindsOf = (plan: { effects: { kind: string }[] }) => plan.effects.map(({ kind }) => kind).toSorted()

describe('[DRY-1] a dry run', () => {
  for (const [kind, path] of [
    ['/v2/pods/', '/v2/pods/{id}'],
    ['/v2/serverless/', '/v2/serverless/{id}'],
  ] as const) {
    it(`of DELETE ${path} changes nothing, needs the scope of the change, and is 404 where the change is`, async () => {
      const victim = await (VICTIMS[kind] as NonNullable<(typeof VICTIMS)[string]>)()
      const at = `${path.replace('{id}', victim.params.id ?? '')}?dryRun=true`
      const before = await snapshot(victim)
      const own = await api(victim.owner.key).delete(at)
      expect(own).toMatchObject({ status: 200, body: { resource: { id: victim.params.id }, refusal: null } })
      const otherTenant = await createAccount()
      expect((await api(otherTenant.key).delete(at)).status).toBe(404)
      expect(await snapshot(victim)).toEqual(before)
    })
  }
})

describe('[DRY-2] DELETE of a pod', () => {
  it('the plan lists the effects: its container stops, its disks are deleted, its rate becomes zero', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ name: 'notebook', mounts: { persistent: { size: 10, path: '/data' } } })
    await scene.run(id)
    const rate = async () => (await scene.call.get('/v2/spend')).body.perHour
    const before = await rate()
    const { status, body: plan } = await scene.call.delete(`${PODS}/${id}?dryRun=true`)
    expect(status).toBe(200)
    const resource = { kind: 'pod', id, name: 'notebook' }
    expect(plan).toEqual({
      action: 'pods.terminate',
      resource,
      effects: [
        { kind: 'STOPS', resource, what: 'its container is stopped, and its ports close', severity: 'WARNING', amount: null },
        ...['data on the container disk is lost', 'its persistent volume of 10 GB is deleted'].map((what) => ({
          ...{ kind: 'DELETES', resource, what, severity: 'LOSS', amount: null },
        })),
        { kind: 'SAVES', resource, what: expect.stringContaining('becomes 0.0000'), severity: 'INFO', amount: expect.any(Number) },
      ],
      refusal: null,
    })
    expect((await scene.get(id)).status).toBe('RUNNING')
    expect((await scene.call.delete(`${PODS}/${id}`)).status).toBe(204)
    expect(before - (await rate())).toBeCloseTo(plan.effects.at(-1).amount, 6)
    await scene.host.waitFor((workload) => workload.id === `${id}-1` && workload.desired === 'stopped')
    scene.leave()
  })

  it('the plan for a stopped one names no container; a refusal is the same as that of the change', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.act(id, 'stop')
    const { body } = await scene.call.delete(`${PODS}/${id}?dryRun=true`)
    expect(kindsOf(body).filter((kind) => kind !== 'SAVES')).toEqual(['DELETES'])
    const headers = { 'If-Match': '"1"' }
    const foretold = await scene.call.delete(`${PODS}/${id}?dryRun=true`, undefined, headers)
    const real = await scene.call.delete(`${PODS}/${id}`, undefined, headers)
    expect(real.status).toBe(412)
    expect(foretold).toMatchObject({ status: 200, body: { effects: [], refusal: real.body } })
    await setPod(id, { cluster_id: 'c' })
    const refused = await scene.call.delete(`${PODS}/${id}`)
    expect(refused.status).toBe(409)
    expect((await scene.call.delete(`${PODS}/${id}?dryRun=true`)).body.refusal).toEqual(refused.body)
    await setPod(id, { cluster_id: null })
    scene.leave()
  })
})

describe('[DRY-3] DELETE of an endpoint', () => {
  it('the plan lists the jobs that are cancelled and the workers that stop', async () => {
    const queue = await setUpQueue({ name: 'chat', workers: { min: 0, max: 1, idleTimeout: 60 } })
    const call = api(queue.account.key)
    const first = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(first)
    const waiting = [await run(queue), await run(queue)]
    const path = `/v2/serverless/${queue.endpointId}`
    const { body: plan } = await call.delete(`${path}?dryRun=true`)
    const cancelled = plan.effects.filter(({ kind }: { kind: string }) => kind === 'CANCELS')
    expect(cancelled.map(({ amount }: { amount: number }) => amount)).toEqual([2, 1])
    expect(plan.effects.filter(({ kind }: { kind: string }) => kind === 'STOPS')).toMatchObject([
      { resource: { kind: 'worker', id: worker.id } },
    ])
    for (const id of [first, ...waiting]) expect((await queue.get(`/status/${id}`)).status).toBe(200)
    const rate = (await call.get('/v2/spend')).body.perHour
    expect((await call.delete(path)).status).toBe(204)
    expect(plan.effects.at(-1)).toMatchObject({ kind: 'SAVES', amount: expect.closeTo(rate, 6) })
    await queue.host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
    expect((await queue.get(`/status/${first}`)).status).toBe(404)
  })
})
