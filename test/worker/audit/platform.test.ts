import { loseHostOfPods } from '../../../src/effects/pods/pod-hosts.ts'
import { podHost } from '../../../src/effects/pods/with-pod-intents.ts'
import { auditOf, auditRows } from '../../support/access/audited.ts'
import { admin, api, createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { advanceHost, freezeHostClock, hostRow } from '../../support/hosts/hosts.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { compute, placed, readPod } from '../../support/pods/pods.ts'
import { until } from '../../support/time.ts'

// Events without a request: hosts that join and fail, and pods that fail with them.

const OTHER = 'NVIDIA L40S'
const LOST_AFTER_MS = 30_000 + 300_000
const PLATFORM = { actorKind: 'PLATFORM', userId: null, credentialId: null, requestId: null }
const rowsOf = async (id: string, action: string) =>
  (await auditRows('resource_id = ? AND action = ?', id, action)).map(({ id: _id, at: _at, ...row }) => row)

describe('[AUD-5] the platform writes one row by itself for', () => {
  it('a host that is lost, and none for its silence before', async () => {
    const host = await FakeHost.enrol()
    const heardAtMs = await freezeHostClock(host.id)
    await host.link()
    for (const stepMs of [15_000, 15_000, LOST_AFTER_MS - 30_000]) await advanceHost(host.id, stepMs)
    expect(await hostRow(host.id)).toMatchObject({ lost_at: heardAtMs + LOST_AFTER_MS })
    await advanceHost(host.id, 60_000)
    expect(await rowsOf(host.id, 'hosts.lose')).toEqual([
      {
        ...PLATFORM,
        teamId: null,
        action: 'hosts.lose',
        resourceKind: 'host',
        resourceId: host.id,
        before: {},
        after: { lastBeatAt: heardAtMs },
      },
    ])
    const shown = await admin().get(`/admin/v1/audit?resource=${host.id}`)
    expect(shown.body.entries.map(({ action }: { action: string }) => action)).toEqual(['hosts.lose', 'hosts.enrol'])
    host.leave()
  })

  it('a host that is cordoned for its GPUs; a repeated problem and a solved one add none', async () => {
    const host = await FakeHost.enrol()
    await host.link()
    const problem = { index: 1, uuid: 'GPU-c', problem: 'uncorrectable ECC errors' }
    await host.beat({ gpuHealth: [problem] })
    await until(async () => (await hostRow(host.id))?.cordoned_at !== null)
    await host.beat({ gpuHealth: [problem] })
    await host.beat({ gpuHealth: [] })
    expect(await rowsOf(host.id, 'hosts.cordon')).toEqual([
      {
        ...PLATFORM,
        teamId: null,
        action: 'hosts.cordon',
        resourceKind: 'host',
        resourceId: host.id,
        before: {},
        after: { reason: 'gpu 1: uncorrectable ECC errors' },
      },
    ])
    host.leave()
  })

  it('a pod that loses its host, and one that moves to another host', async () => {
    const first = await FakeHost.join(gpus(1, OTHER))
    const id = await placed(first, { onHostLoss: 'REPLACE', compute: compute(OTHER) })
    await first.waitFor((w) => w.id === `${id}-1`)
    await first.report(`${id}-1`, { state: 'running' })
    const lose = () => loseHostOfPods(env, podHost(env, first.id), Date.now())
    expect(await lose()).toBe(1)
    expect(await lose(), 'it still waits').toBe(1)
    const second = await FakeHost.join(gpus(1, OTHER))
    expect(await lose()).toBe(0)
    expect((await readPod(id)).hostId).toBe(second.id)
    const { teamId } = await readPod(id)
    const row = { ...PLATFORM, teamId, resourceKind: 'pod', resourceId: id }
    expect(await rowsOf(id, 'pods.host-lost')).toEqual([
      { ...row, action: 'pods.host-lost', before: { hostLost: false }, after: { hostLost: true } },
    ])
    const [moved, ...others] = await rowsOf(id, 'pods.move')
    expect([moved, others]).toEqual([expect.objectContaining({ ...row, action: 'pods.move', after: { hostLost: false } }), []])
    for (const host of [first, second]) host.leave()
  })

  it('a pod whose start fails: by the platform where the cause is not reported, by its host where it is', async () => {
    const scene = await podScene(gpus(2))
    expect((await scene.call.post('/v2/account/secrets', { name: 'CERT', value: 'x'.repeat(131_070) })).status).toBe(201)
    const { id: unreported } = await scene.create({ env: { CERT: '{{ RUNPOD_SECRET_CERT }}' } })
    await until(async () => (await scene.get(unreported)).status === 'ERROR')
    const { id: received } = await scene.create()
    await scene.host.waitFor((workload) => workload.id === `${received}-1`)
    await scene.host.report(`${received}-1`, { state: 'error', reason: 'the image is gone' })
    await until(async () => (await scene.get(received)).status === 'ERROR')
    const ended = { before: { wanted: 'RUNNING' }, after: { wanted: 'STOPPED' } }
    expect(await rowsOf(unreported, 'pods.fail')).toMatchObject([{ ...PLATFORM, ...ended }])
    expect(await rowsOf(received, 'pods.report')).toMatchObject([{ actorKind: 'HOST', credentialId: scene.host.id, ...ended }])
    scene.leave()
  })
})

describe('[AUD-9] the state of a resource at a moment is the state that its audited members had then', () => {
  /** Runs the steps, notes the expected state after each, and reads every moment again at the end. */
  async function expectStates(
    account: PodScene['account'],
    id: string,
    steps: (() => Promise<unknown>)[],
  ): Promise<Record<string, unknown>[]> {
    const states: Record<string, unknown>[] = []
    const stamps: number[] = []
    for (const step of steps) {
      await step()
      const rows = (await auditOf(account)).filter(({ resourceId }) => resourceId === id)
      const last = rows.at(-1)
      // Rows are set one second apart, independently of the clock.
      stamps.push(Date.now() - 60_000 + stamps.length * 1_000)
      await env.DB.prepare('UPDATE audit SET at = ? WHERE id = ?').bind(stamps.at(-1), last?.id).run()
      states.push({ ...states.at(-1), ...last?.after, ...(last?.after === null && { isGone: true }) })
    }
    for (const [n, atMs] of stamps.entries()) {
      const { body } = await api(account.key).get(`/v2/account/audit/state?resource=${id}&at=${new Date(atMs + 500).toISOString()}`)
      expect(body).toMatchObject({ state: states[n]?.isGone ? null : states[n], isComplete: true })
    }
    const { body } = await api(account.key).get(`/v2/account/audit/state?resource=${id}&at=${new Date((stamps[0] ?? 0) - 1).toISOString()}`)
    expect(body).toMatchObject({ state: null, isComplete: true })
    return states
  }

  it('of a pod: made, changed, stopped by its user, started, ended by its host, terminated', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create({ env: { MODE: 'a' } })
    const states = await expectStates(scene.account, id, [
      async () => scene.run(id),
      () => scene.call.patch(`/v2/pods/${id}`, { name: 'renamed', locked: false }),
      () => scene.act(id, 'stop'),
      async () => {
        await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
        await scene.act(id, 'start')
      },
      async () => {
        await scene.run(id, 2)
        await scene.host.report(`${id}-2`, { state: 'exited', exitCode: 1 })
        await until(async () => (await scene.get(id)).status === 'EXITED')
      },
      () => scene.act(id, 'terminate'),
    ])
    expect(states.map(({ name, wanted, isGone }) => [name, wanted, isGone === true])).toEqual([
      ['p', 'RUNNING', false],
      ['renamed', 'RUNNING', false],
      ['renamed', 'STOPPED', false],
      ['renamed', 'RUNNING', false],
      ['renamed', 'STOPPED', false],
      ['renamed', 'STOPPED', true],
    ])
    scene.leave()
  })

  it('of a template', async () => {
    const account = await createAccount()
    const call = api(account.key)
    const { id } = (await call.post('/v2/templates', { name: 'base', image: 'acme/idle:1', env: { MODE: 'a' } })).body
    const states = await expectStates(account, id, [
      async () => undefined,
      () => call.patch(`/v2/templates/${id}`, { image: 'acme/idle:2' }),
      () => call.delete(`/v2/templates/${id}`),
    ])
    expect(states.map(({ image, isGone }) => [image, isGone === true])).toEqual([
      ['acme/idle:1', false],
      ['acme/idle:2', false],
      ['acme/idle:2', true],
    ])
  })
})
