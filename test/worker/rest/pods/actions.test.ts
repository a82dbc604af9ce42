import { admin, afterAll, beforeAll, describe, env, expect, it } from '../../../support/harness.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, type PodScene, podScene, setPod } from '../../../support/pods/pod-scene.ts'

const ACTIONS = ['start', 'stop', 'restart', 'terminate'] as const
type Action = (typeof ACTIONS)[number]

/** POD-14: the actions that each status permits, and the resulting status. */
const TABLE: Record<string, Partial<Record<Action, string>>> = {
  PROVISIONING: { stop: 'EXITED', terminate: 'gone' },
  STARTING: { stop: 'EXITED', terminate: 'gone' },
  RUNNING: { stop: 'EXITED', restart: 'STARTING', terminate: 'gone' },
  EXITED: { start: 'STARTING', terminate: 'gone' },
  ERROR: { start: 'STARTING', terminate: 'gone' },
}

/** POD-15: actions that a lock refuses. */
const BARRED: readonly Action[] = ['stop', 'restart']

describe('the transition table', () => {
  let scene: PodScene
  beforeAll(async () => {
    scene = await podScene(gpus(200))
  })
  afterAll(() => scene.leave())

  for (const [status, transitions] of Object.entries(TABLE)) {
    for (const locked of [false, true]) {
      const allowed = ACTIONS.filter((action) => transitions[action] && !(locked && BARRED.includes(action)))
      it(`[POD-14] [POD-15] a ${locked ? 'locked ' : ''}pod that is ${status} offers ${allowed.join(', ')}`, async () => {
        const { id } = await scene.create()
        await setPod(id, { status, locked: Number(locked), started_at: status === 'RUNNING' ? Date.now() : null })
        const { actions } = await scene.get(id)
        expect([...actions].sort()).toEqual([...allowed].sort())
      })

      for (const action of ACTIONS) {
        const result = allowed.includes(action) ? transitions[action] : undefined
        it(`[POD-14] [POD-15] ${action} of a ${locked ? 'locked ' : ''}pod that is ${status}: ${result ?? 409}`, async () => {
          const { id } = await scene.create()
          await setPod(id, { status, locked: Number(locked), started_at: status === 'RUNNING' ? Date.now() : null })
          const reply = await scene.act(id, action)
          if (result === undefined) {
            const isLock = locked && BARRED.includes(action)
            const detail = isLock ? 'pod is locked' : `action ${action} is not valid while the pod is ${status}`
            expect(reply).toMatchObject({ status: 409, body: { title: 'Conflict', detail, ...(isLock && { code: 'LOCKED' }) } })
            expect((await scene.get(id)).status).toBe(status)
          } else if (result === 'gone') {
            expect(reply).toMatchObject({ status: 204, body: null })
            expect((await scene.call.get(`${PODS}/${id}`)).status).toBe(404)
          } else {
            expect(reply).toMatchObject({ status: 200, body: { id, status: result } })
            expect((await scene.get(id)).status).toBe(result)
          }
        })
      }
    }
  }

  it('[POD-15] [POD-42] a locked pod keeps its container through every refusal, and its end is not refused', async () => {
    const { id } = await scene.create()
    await scene.run(id)
    expect((await scene.call.patch(`${PODS}/${id}`, { locked: true })).body.actions).toEqual(['terminate'])
    const before = await env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(id).first()
    for (const action of BARRED) expect(await scene.act(id, action)).toMatchObject({ status: 409, body: { code: 'LOCKED' } })
    expect(await env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(id).first()).toEqual(before)
    const wished = scene.host.desired().filter((workload) => workload.id.startsWith(`${id}-`))
    expect(wished.map((workload) => [workload.id, workload.desired])).toEqual([[`${id}-1`, 'running']])
    expect((await scene.act(id, 'terminate')).status).toBe(204)
  })

  it.each(ACTIONS)('[POD-12] %s of a terminated pod is 404', async (action) => {
    const { id } = await scene.create()
    await setPod(id, { status: 'TERMINATED' })
    expect((await scene.act(id, action)).status).toBe(404)
    expect((await scene.call.delete(`${PODS}/${id}`)).status).toBe(404)
    expect((await scene.call.patch(`${PODS}/${id}`, { name: 'x' })).status).toBe(404)
  })

  it('[POD-14] an unknown action is 422, and so is a missing one', async () => {
    const { id } = await scene.create()
    expect(await scene.act(id, 'reset')).toMatchObject({
      status: 422,
      body: { errors: ["$.action: value must be one of 'start', 'stop', 'restart', 'terminate'"] },
    })
    expect(await scene.call.post(`${PODS}/${id}/action`, {})).toMatchObject({ body: { errors: ["$: missing property 'action'"] } })
    expect(await scene.call.post(`${PODS}/${id}/action`, { action: 'stop', force: true })).toMatchObject({
      body: { errors: ["$: additional properties 'force' not allowed"] },
    })
  })

  it('[POD-16] [POD-52] a member of a cluster is read here and changed elsewhere', async () => {
    const { id } = await scene.create()
    await setPod(id, { cluster_id: 'cluster1', status: 'RUNNING', started_at: Date.now() })
    expect(await scene.get(id)).toMatchObject({ cluster: { id: 'cluster1', rank: null }, actions: [] })
    for (const action of ACTIONS) expect((await scene.act(id, action)).status, action).toBe(409)
    expect((await scene.call.delete(`${PODS}/${id}`)).status).toBe(409)
    expect(await scene.call.patch(`${PODS}/${id}`, { name: 'x' })).toMatchObject({ status: 409, body: { title: 'Conflict' } })
    expect((await scene.get(id)).name).toBe('p')
  })
})

describe('start', () => {
  it('[POD-17] a host whose GPU another account has replies with the text that clients search for', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    const other = await scene.create()
    expect(await scene.act(id, 'start')).toMatchObject({
      status: 400,
      body: { detail: 'There are not enough free GPUs on the host machine to start this pod.', code: 'NO_FREE_GPU' },
    })
    expect(await scene.get(id)).toMatchObject({ status: 'EXITED', gpu: { count: 1 } })
    await scene.end(other.id)
    expect((await scene.act(id, 'start')).status).toBe(200)
    expect(await freeGpus(scene.host.id)).toBe(0)
    scene.leave()
  })

  it('[POD-17] a CPU pod without room names CPU and memory', async () => {
    const scene = await podScene({ gpus: [], vcpus: 2, memoryMb: 4_096 })
    const { id } = await scene.create(cpuPodBody({ dataCenterIds: ['LOCAL-1'] }))
    await scene.host.waitFor((workload) => workload.id === `${id}-1`)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    await env.DB.prepare('UPDATE hosts SET vcpu_total = 1 WHERE id = ?').bind(scene.host.id).run()
    expect(await scene.act(id, 'start')).toMatchObject({
      status: 400,
      body: { detail: 'There is not enough free CPU or memory on the host machine to start this pod.', code: 'NO_CAPACITY' },
    })
    scene.leave()
  })

  it('[POD-39] a host that takes no work, is offline or was removed is named', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await setPod(id, { status: 'EXITED' })
    await admin().post(`/admin/v1/hosts/${scene.host.id}/cordon`, { reason: 'maintenance' })
    expect(await scene.act(id, 'start')).toMatchObject({
      status: 400,
      body: { code: 'HOST_UNAVAILABLE', detail: expect.stringContaining('takes no work') },
    })
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(scene.host.id).run()
    expect(await scene.act(id, 'start')).toMatchObject({
      status: 400,
      body: { code: 'HOST_UNAVAILABLE', detail: expect.stringContaining('offline') },
    })
    await env.DB.prepare("UPDATE hosts SET status = 'REMOVED' WHERE id = ?").bind(scene.host.id).run()
    expect(await scene.act(id, 'start')).toMatchObject({
      status: 400,
      body: { code: 'HOST_UNAVAILABLE', detail: expect.stringContaining('gone') },
    })
    scene.leave()
  })
})

describe('If-Match', () => {
  it('[POD-40] an action and a PATCH apply to the version that was read, or not at all', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const first = await scene.call.get(`${PODS}/${id}`)
    expect(first.headers.get('etag')).toBe('"1"')
    const renamed = await scene.call.patch(`${PODS}/${id}`, { name: 'q' }, { 'If-Match': '"1"' })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'q' } })
    expect(renamed.headers.get('etag')).toBe('"2"')
    const failed = { status: 412, body: { title: 'Precondition Failed', status: 412 } }
    expect(await scene.call.patch(`${PODS}/${id}`, { name: 'r' }, { 'If-Match': '"1"' })).toMatchObject(failed)
    expect(await scene.act(id, 'stop', { 'If-Match': '"1"' })).toMatchObject(failed)
    expect(await scene.call.delete(`${PODS}/${id}`, undefined, { 'If-Match': 'W/"2"' })).toMatchObject(failed)
    expect(await scene.get(id)).toMatchObject({ name: 'q', status: 'PROVISIONING' })
    expect((await scene.act(id, 'stop', { 'If-Match': '"7", "2"' })).status).toBe(200)
    expect((await scene.act(id, 'terminate', { 'If-Match': '*' })).status).toBe(204)
    scene.leave()
  })

  it('[POD-40] of ten changes to one version one is made; without If-Match all are', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    const patch = (n: number, headers = {}) => scene.call.patch(`${PODS}/${id}`, { name: `n${n}` }, headers)
    const guarded = await Promise.all(Array.from({ length: 10 }, (_, n) => patch(n, { 'If-Match': '"1"' })))
    expect(guarded.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(guarded.filter(({ status }) => status === 412)).toHaveLength(9)
    const free = await Promise.all(Array.from({ length: 4 }, (_, n) => patch(n + 20)))
    expect(free.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    scene.leave()
  })
})

describe('a terminated pod', () => {
  it('[POD-18] does not keep the data of its user', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ env: { SECRET: 'hunter2' }, args: 'serve --key hunter2', startJupyter: true })
    await scene.run(id)
    await scene.end(id)
    const row = await env.DB.prepare('SELECT * FROM pods WHERE id = ?').bind(id).first()
    expect(row).toMatchObject({ status: 'TERMINATED' })
    expect(JSON.stringify(row)).not.toMatch(/hunter2|JUPYTER_PASSWORD/)
    expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM usage WHERE workload_id = ?').bind(id).first('n')).toBe(1)
    scene.leave()
  })
})
