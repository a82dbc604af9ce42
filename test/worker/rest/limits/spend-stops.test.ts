import { auditRows } from '../../../support/access/audited.ts'
import { api, createAccount, createEndpoint, createKey, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, PodScene, setPod } from '../../../support/pods/pod-scene.ts'
import { run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub, hostStub } from '../../../support/runner/stubs.ts'

const STOP = '/v2/spend/stop'
const PLAN = `${STOP}?dryRun=true`
const STOPS = '/v2/spend/stops'
/** The GPU of the scenes, USD per hour. */
const PRICE = 0.44

async function twoPods() {
  // A data center per test, because stopped pods of earlier tests leave room on their hosts.
  const dataCenterId = `DC-${crypto.randomUUID().slice(0, 8)}`
  const scene = new PodScene(await FakeHost.join(gpus(3), { dataCenterId }), await createAccount())
  const here = { dataCenterIds: [dataCenterId] }
  const [first, second] = [await scene.create({ name: 'first', ...here }), await scene.create({ name: 'second', ...here })]
  for (const { id } of [first, second]) {
    await scene.run(id)
    await setPod(id, { disk_nanos_per_hour: 10_000_000, stopped_disk_nanos_per_hour: 10_000_000 })
  }
  return { scene, first: first.id as string, second: second.id as string }
}

describe('a plan', () => {
  it('[SPD-10] lists what stops, what stays and why, and the remaining cost, and stops nothing', async () => {
    const { scene, first, second } = await twoPods()
    const { call } = scene
    await call.patch(`${PODS}/${second}`, { locked: true })
    const volume = (await call.post('/v2/network-volumes', { name: 'data', size: 100, dataCenter: 'EU-RO-1' })).body
    const { status, body } = await call.post(PLAN, {})
    expect(status).toBe(200)
    expect(body).toMatchObject({
      perHour: (await call.get('/v2/spend')).body.perHour,
      stops: [{ kind: 'POD', id: first, name: 'first', perHour: PRICE + 0.01, savesPerHour: PRICE }],
      stays: [
        { kind: 'POD', id: second, reason: 'pod is locked' },
        { kind: 'NETWORK_VOLUME', id: volume.id, reason: expect.stringContaining('until it is deleted') },
      ],
    })
    expect(body.remainingPerHour).toBeCloseTo(body.perHour - PRICE, 6)
    expect(body.effects.map(({ kind }: { kind: string }) => kind)).toEqual(['STOPS', 'STAYS'])
    expect((await scene.get(first)).status).toBe('RUNNING')
    expect((await call.get(STOPS)).body).toEqual({ stops: [] })
    expect(await auditRows("team_id = ? AND action GLOB 'spend.*'", await scene.team())).toEqual([])
    scene.leave()
  })

  it('[SPD-11] that is out of date is 409, and nothing stops', async () => {
    const { scene, first, second } = await twoPods()
    const { planId } = (await scene.call.post(PLAN, {})).body
    expect((await scene.call.post(PLAN, {})).body.planId).toBe(planId)
    await scene.act(second, 'stop')
    const refused = await scene.call.post(STOP, { planId })
    expect(refused).toMatchObject({ status: 409, body: { code: 'PLAN_CHANGED' } })
    const now = (await scene.call.post(PLAN, {})).body.planId
    expect(refused.body.detail).toContain(now)
    expect((await scene.get(first)).status).toBe('RUNNING')
    expect(await scene.call.post(STOP, { planId: now })).toMatchObject({ status: 200 })
    expect((await scene.get(first)).status).toBe('EXITED')
    scene.leave()
  })
})

describe('a stop of idle resources', () => {
  it('[SPD-8] stops pods that have been idle for that long, and no other; its undo starts them', async () => {
    const { scene, first, second } = await twoPods()
    const { call, host } = scene
    const stats = (util: number, id: string) => ({ id: `${id}-1`, cpu: 9, gpuCount: 1, gpus: [{ util, memoryUtil: 1 }] })
    const nowMs = Date.now()
    for (let ms = nowMs - 90_000; ms <= nowMs; ms += 5_000) {
      await runInDurableObject(hostStub(env, host.id), (object) => {
        object.now = () => ms
      })
      await host.beat({ stats: [stats(0, first), stats(40, second)] })
    }
    const body = { idleForSeconds: 60 }
    const plan = (await call.post(PLAN, body)).body
    expect(plan).toMatchObject({
      stops: [{ id: first }],
      stays: [{ id: second, reason: 'it has no known idle time of 1 min' }],
    })
    expect((await call.post(PLAN, { idleForSeconds: 3600 })).body.stops).toEqual([])
    expect((await call.post(PLAN, { idleForSeconds: 59 })).status).toBe(422)
    const stopped = (await call.post(STOP, { ...body, planId: plan.planId })).body
    expect(stopped.items).toMatchObject([{ id: first, state: 'STOPPED' }])
    expect([(await scene.get(first)).status, (await scene.get(second)).status]).toEqual(['EXITED', 'RUNNING'])
    await host.report(`${first}-1`, { state: 'exited' })
    expect((await call.post(`${STOPS}/${stopped.id}/undo`)).body.items).toMatchObject([{ state: 'RESTORED' }])
    scene.leave()
  })

  it('[SPD-8] removes the minimum of workers from an idle endpoint, and leaves its maximum', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 3, idleTimeout: 60 } })
    const call = api(queue.account.key)
    const path = `/v2/serverless/${queue.endpointId}`
    const { jobId, worker } = await runAndTake(queue)
    const body = { idleForSeconds: 60 }
    await worker.done(jobId, { output: 1 })
    expect((await call.post(PLAN, body)).body).toMatchObject({ stops: [], stays: [{ kind: 'ENDPOINT' }] })
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => {
      const { workers } = core.state
      for (const idle of workers.all()) if (idle.phase === 'READY') workers.save({ ...idle, idleSinceMs: (idle.idleSinceMs ?? 0) - 61_000 })
    })
    const plan = (await call.post(PLAN, body)).body
    expect(plan.stops).toMatchObject([{ kind: 'ENDPOINT', id: queue.endpointId }])
    expect(plan.planId).not.toBe((await call.post(PLAN, {})).body.planId)
    const stopped = (await call.post(STOP, { ...body, planId: plan.planId })).body
    expect(stopped.items).toMatchObject([{ state: 'STOPPED', formerWorkers: { min: 1, max: 3 }, stoppedWorkers: { min: 0, max: 3 } }])
    expect((await call.get(path)).body.workers).toMatchObject({ min: 0, max: 3 })
    expect((await call.post(`${STOPS}/${stopped.id}/undo`)).body.items).toMatchObject([{ state: 'RESTORED' }])
    expect((await call.get(path)).body.workers).toMatchObject({ min: 1, max: 3 })
  })
})

describe('a stop', () => {
  it('[SPD-11] [SPD-12] has the effects of its plan; its undo starts the same again, once', async () => {
    const { scene, first, second } = await twoPods()
    const { call } = scene
    const plan = (await call.post(PLAN, {})).body
    const stopped = (await call.post(STOP, { planId: plan.planId })).body
    expect(stopped.items.map(({ id, state }: { id: string; state: string }) => [id, state]).toSorted()).toEqual(
      [first, second].toSorted().map((id) => [id, 'STOPPED']),
    )
    expect((await call.get('/v2/spend')).body.perHour).toBeCloseTo(plan.remainingPerHour, 6)
    for (const id of [first, second]) await scene.host.report(`${id}-1`, { state: 'exited' })
    expect((await call.get(STOPS)).body.stops).toEqual([stopped])
    const undone = await call.post(`${STOPS}/${stopped.id}/undo`)
    expect(undone).toMatchObject({
      status: 200,
      body: { undoneAt: expect.any(String), items: [{ state: 'RESTORED' }, { state: 'RESTORED' }] },
    })
    expect([(await scene.get(first)).status, (await scene.get(second)).status]).toEqual(['STARTING', 'STARTING'])
    expect((await call.post(`${STOPS}/${stopped.id}/undo`)).body).toEqual(undone.body)
    const rows = await auditRows("team_id = ? AND action GLOB 'spend.*'", await scene.team())
    expect(rows.map(({ action }) => action)).toEqual(['spend.stop', 'spend.undo', 'spend.undo'])
    scene.leave()
  })

  it('[SPD-12] reports the reason for what cannot be restored, and tries it again', async () => {
    const { scene, first, second } = await twoPods()
    const { call } = scene
    const stopped = (await call.post(STOP, { ids: [first] })).body
    expect(stopped.items).toMatchObject([{ id: first, state: 'STOPPED' }])
    expect((await scene.get(second)).status).toBe('RUNNING')
    await call.patch('/v2/billing/limits', { perHour: 0.1 })
    const refused = (await call.post(`${STOPS}/${stopped.id}/undo`)).body
    expect(refused).toMatchObject({ undoneAt: null, items: [{ state: 'STOPPED', reason: expect.stringContaining('spend limit') }] })
    expect((await scene.get(first)).status).toBe('EXITED')
    await call.patch('/v2/billing/limits', { perHour: null })
    expect((await call.post(`${STOPS}/${stopped.id}/undo`)).body.items).toMatchObject([{ state: 'RESTORED', reason: null }])
    expect((await scene.get(first)).status).toBe('STARTING')
    scene.leave()
  })

  it('[SPD-11] [SPD-12] gives an endpoint no workers: running jobs finish, queued ones wait; its limits return', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 3, idleTimeout: 60 } })
    const call = api(queue.account.key)
    const path = `/v2/serverless/${queue.endpointId}`
    const jobId = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    const plan = (await call.post(PLAN, {})).body
    expect(plan.stops).toMatchObject([{ kind: 'ENDPOINT', id: queue.endpointId }])
    expect(plan.effects).toMatchObject([{ kind: 'CHANGES' }, { kind: 'FINISHES', amount: 1 }])
    const stopped = (await call.post(STOP, { planId: plan.planId })).body
    expect(stopped.items).toMatchObject([{ kind: 'ENDPOINT', state: 'STOPPED', formerWorkers: { min: 1, max: 3 } }])
    expect((await call.get(path)).body.workers).toMatchObject({ min: 0, max: 0 })
    await worker.done(jobId, { output: 'kept' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' })
    await queue.host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
    expect((await call.post(`${STOPS}/${stopped.id}/undo`)).body.items).toMatchObject([{ state: 'RESTORED' }])
    expect((await call.get(path)).body.workers).toMatchObject({ min: 1, max: 3 })
    const again = (await call.post(STOP, { ids: [queue.endpointId] })).body
    await call.patch(path, { workers: { min: 0, max: 5 } })
    expect((await call.post(`${STOPS}/${again.id}/undo`)).body.items).toMatchObject([
      { state: 'STOPPED', reason: 'its workers were set to 0 to 5 since; they were 1 to 3' },
    ])
    expect((await call.get(path)).body.workers).toMatchObject({ min: 0, max: 5 })
  })

  it('[SPD-11] takes the scopes of both, and stops of other accounts are 404', async () => {
    const account = await createAccount()
    const own = (await api(account.key).post(STOP, {})).body
    const otherTenant = await createAccount()
    expect((await api(otherTenant.key).post(`${STOPS}/${own.id}/undo`)).status).toBe(404)
    const narrow = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['pods:write'] })
    const ids = [await createEndpoint(account.key)]
    expect((await api(narrow.key).post(PLAN, { ids })).status).toBe(403)
    expect((await api(narrow.key).post(STOP, { ids })).status).toBe(403)
    expect((await api(narrow.key).post(STOP, {})).status).toBe(200)
  })
})
