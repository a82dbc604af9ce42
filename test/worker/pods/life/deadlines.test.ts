import { applyOverdueDeadlines } from '../../../../src/effects/pods/deadlines.ts'
import { auditRows } from '../../../support/access/audited.ts'
import { admin, createAccount, describe, env, expect, it, runInDurableObject, teamOf } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { advanceHost, freezeHostClock } from '../../../support/hosts/hosts.ts'
import { PODS, PodScene, podBody } from '../../../support/pods/pod-scene.ts'
import { compute, placed, readPod } from '../../../support/pods/pods.ts'
import { hostStub, podLogStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const HOUR_MS = 3_600_000
const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** An account and a host whose clock is frozen at a whole second. */
async function scene(): Promise<{ scene: PodScene; nowMs: number }> {
  const host = await FakeHost.join(gpus(1))
  const nowMs = Math.floor((await freezeHostClock(host.id)) / 1000) * 1000
  return { scene: new PodScene(host, await createAccount()), nowMs }
}

/** A running pod on a host whose clock is frozen. */
async function runningPod(changes: Record<string, unknown>) {
  const { scene: made } = await scene()
  const { id } = await made.create(changes)
  await made.run(id)
  return { scene: made, id }
}

const linesOf = async (podId: string) => {
  const rows = await runInDurableObject(podLogStub(env, 'pod', podId), (_, state) =>
    state.storage.sql.exec('SELECT line FROM lines ORDER BY n').toArray(),
  )
  return rows.map(({ line }) => String(line))
}
const platformRows = async (id: string) =>
  (await auditRows("resource_id = ? AND actor_kind = 'PLATFORM'", id)).map(({ action, before, after }) => ({ action, before, after }))
const dueOf = (hostId: string) =>
  runInDurableObject(hostStub(env, hostId), (_, state) =>
    state.storage.sql
      .exec("SELECT due_at FROM timers WHERE name = 'deadlines'")
      .toArray()
      .map(({ due_at: at }) => Number(at)),
  )

describe('stopAfter and terminateAfter of a pod', () => {
  it('[POD-60] are taken at create and by PATCH, shown, and cleared with null', async () => {
    const { scene: made, nowMs } = await scene()
    const [stopAfter, terminateAfter] = [timeOf(nowMs + HOUR_MS), timeOf(nowMs + 2 * HOUR_MS)]
    const { id } = await made.create({ stopAfter, terminateAfter: terminateAfter.replace('Z', '.500+00:00') })
    expect(await made.get(id)).toMatchObject({ stopAfter, terminateAfter })
    const patched = await made.call.patch(`${PODS}/${id}`, { stopAfter: null })
    expect(patched).toMatchObject({ status: 200, body: { stopAfter: null, terminateAfter, status: 'PROVISIONING' } })
    expect((await made.call.patch(`${PODS}/${id}`, { name: 'q' })).body).toMatchObject({ name: 'q', terminateAfter })
    made.leave()
  })

  it('[POD-61] in the past, or in the wrong order, are 400 and change nothing', async () => {
    const { scene: made, nowMs } = await scene()
    const past = { stopAfter: '2020-01-01T00:00:00Z' }
    expect(await made.call.post(PODS, podBody(past))).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('stopAfter must be later than now') },
    })
    expect((await made.call.post(`${PODS}?dryRun=true`, podBody(past))).status).toBe(400)
    const { id } = await made.create({ stopAfter: timeOf(nowMs + 2 * HOUR_MS) })
    const before = await readPod(id)
    const early = { terminateAfter: timeOf(nowMs + HOUR_MS) }
    expect(await made.call.patch(`${PODS}/${id}`, early)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('terminateAfter must be later than stopAfter') },
    })
    expect((await made.call.patch(`${PODS}/${id}`, { stopAfter: 'tomorrow' })).status).toBe(422)
    expect(await readPod(id)).toEqual(before)
    made.leave()
  })
})

describe('a pod at its deadline', () => {
  it('[POD-62] is stopped by the alarm of its host at that second, once, with the reason', async () => {
    const { scene: made, nowMs } = await scene()
    const stopAfter = timeOf(nowMs + HOUR_MS)
    const { id } = await made.create({ stopAfter })
    await made.run(id)
    expect(await dueOf(made.host.id)).toEqual([nowMs + HOUR_MS])
    const frozenMs = await runInDurableObject(hostStub(env, made.host.id), (object) => object.now())
    await advanceHost(made.host.id, nowMs + HOUR_MS - frozenMs - 1)
    expect((await readPod(id)).status).toBe('RUNNING')
    await advanceHost(made.host.id, 1)
    const statusReason = `stopped by stopAfter ${stopAfter}`
    expect(await made.get(id)).toMatchObject({ status: 'EXITED', statusReason, stopAfter: null, startedAt: null })
    await made.host.waitFor((workload) => workload.id === `${id}-1` && workload.desired === 'held')
    expect(await linesOf(id)).toEqual([statusReason])
    const audited = { action: 'pods.stop', before: { wanted: 'RUNNING', stopAfter }, after: { wanted: 'STOPPED', stopAfter: null } }
    expect(await platformRows(id)).toEqual([audited])
    expect(await dueOf(made.host.id)).toEqual([])
    const stopped = await readPod(id)
    await advanceHost(made.host.id, HOUR_MS)
    await applyOverdueDeadlines(env, nowMs + 9 * HOUR_MS)
    expect(await readPod(id)).toEqual(stopped)
    made.leave()
  })

  it('[POD-62] is terminated, also when its host is silent, and is charged to the last sign of life', async () => {
    const { scene: made, id } = await runningPod({ terminateAfter: timeOf(Date.now() + 20_000) })
    const { chargedFromMs } = await readPod(id)
    made.leave()
    await advanceHost(made.host.id, 21_000)
    const usage = await env.DB.prepare('SELECT started_at AS s, ended_at AS e FROM usage WHERE workload_id = ?').bind(id).all()
    expect(usage.results).toEqual([{ s: chargedFromMs, e: chargedFromMs }])
    expect(await readPod(id)).toMatchObject({
      status: 'TERMINATED',
      statusReason: expect.stringMatching(/^terminated by terminateAfter /),
      terminateAfterMs: null,
    })
    expect((await made.call.get(`${PODS}/${id}`)).status).toBe(404)
    expect((await platformRows(id)).map(({ action }) => action)).toContain('pods.terminate')
  })

  it("[POD-62] is stopped by another object's check when its own has lost the timer", async () => {
    const { scene: made, id } = await runningPod({ stopAfter: timeOf(Date.now() + HOUR_MS) })
    await runInDurableObject(
      hostStub(env, made.host.id),
      (_, state) => void state.storage.sql.exec("DELETE FROM timers WHERE name = 'deadlines'"),
    )
    await applyOverdueDeadlines(env, Date.now() + HOUR_MS)
    expect((await readPod(id)).status).toBe('RUNNING')
    await applyOverdueDeadlines(env, Date.now() + HOUR_MS + 61_000)
    expect((await readPod(id)).status).toBe('EXITED')
    made.leave()
  })

  it('[POD-62] is stopped on the host to which it has moved', async () => {
    const type = 'NVIDIA A30'
    const from = await FakeHost.join(gpus(1, type))
    const account = await createAccount()
    const id = await placed(from, { compute: compute(type), onHostLoss: 'REPLACE' }, account)
    const stopAfter = timeOf(Date.now() + HOUR_MS)
    expect((await new PodScene(from, account).call.patch(`${PODS}/${id}`, { stopAfter })).status).toBe(200)
    const to = await FakeHost.join(gpus(1, type))
    await freezeHostClock(to.id)
    expect((await admin().post(`/admin/v1/hosts/${from.id}/drain`, {})).status).toBe(200)
    await until(async () => (await readPod(id)).hostId === to.id)
    await to.waitFor((workload) => workload.id === `${id}-2`)
    await advanceHost(to.id, HOUR_MS + 1_000)
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', statusReason: `stopped by stopAfter ${stopAfter}`, hostId: to.id })
    expect(await teamOf(account)).toBe((await readPod(id)).teamId)
    from.leave()
    to.leave()
  })

  it('[POD-63] is not stopped while it is locked, and at once when it is unlocked', async () => {
    const { scene: made, id } = await runningPod({ stopAfter: timeOf(Date.now() + HOUR_MS) })
    expect((await made.call.patch(`${PODS}/${id}`, { locked: true })).status).toBe(200)
    await advanceHost(made.host.id, HOUR_MS + 1_000)
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', locked: true })
    expect((await made.call.patch(`${PODS}/${id}`, { locked: false })).status).toBe(200)
    await advanceHost(made.host.id, 1)
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', stopAfterMs: null })
    made.leave()
  })

  it('[POD-64] starts again without a deadline if it was stopped by hand before', async () => {
    const { scene: made, id } = await runningPod({ stopAfter: timeOf(Date.now() + HOUR_MS) })
    expect((await made.act(id, 'stop')).status).toBe(200)
    await advanceHost(made.host.id, HOUR_MS + 1_000)
    expect(await made.get(id)).toMatchObject({ status: 'EXITED', statusReason: null, stopAfter: null })
    expect((await platformRows(id)).map(({ action }) => action)).toEqual(['pods.update'])
    expect((await made.act(id, 'start')).status).toBe(200)
    await advanceHost(made.host.id, HOUR_MS)
    expect((await readPod(id)).status).toBe('STARTING')
    made.leave()
  })
})
