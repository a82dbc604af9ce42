import type { WorkloadStore } from '../../../durable-objects/host/workload-store.ts'
import { MESSAGE_MAX_BYTES, type Workload, type WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { admin, describe, env, expect, it, runInDurableObject } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

/** Nearly the largest env that a request may contain. */
const LARGE_ENV = { A: 'x'.repeat(101_000) }
const MANY = 400
/** Reports are sent one at a time, so only a few workloads report their end. */
const ENDED = 20
/** More workloads than fit into one message. */
const RUNNING = 340
/** The desired state is sent twice, through a runtime that simulates both ends. */
const SLOW_MS = 120_000
const TOO_LARGE = 'its desired state is too large to send; end some of its workloads, those with the largest env first'

function workload(id: string, change: Partial<Workload> = {}): Workload {
  return {
    id,
    kind: 'pod',
    desired: 'running',
    stopGraceMs: 10_000,
    image: 'acme/idle:1',
    entrypoint: [],
    cmd: [],
    env: LARGE_ENV,
    platformEnv: { RUNPOD_POD_ID: id },
    ports: ['22/tcp'],
    resources: { vcpus: 2, memoryMb: 4_096, diskGb: 10, gpu: null },
    mounts: [{ kind: 'persistent', id, path: '/workspace', sizeGb: 1 }],
    ...change,
  }
}

function inStore<T>(host: FakeHost, act: (store: WorkloadStore, sql: SqlStorage) => T): Promise<T> {
  return runInDurableObject(hostStub(env, host.id), (object, state) =>
    act((object as unknown as { store: WorkloadStore }).store, state.storage.sql),
  )
}

async function setMany(host: FakeHost, count: number, change: Partial<Workload> = {}): Promise<void> {
  await inStore(host, (store) => {
    for (let index = 0; index < count; index += 1) store.setWorkload(workload(`pod${index}-1`, change), `pod${index}`)
  })
}

/** Health of the host as the operator reads it. */
async function read(host: FakeHost): Promise<{ health: string; statusReason: string | null }> {
  const { health, statusReason } = (await admin().get(`/admin/v1/hosts/${host.id}`)).body
  return { health, statusReason }
}

async function reportGone(host: FakeHost, count: number): Promise<void> {
  const gone = { state: 'gone', exitCode: null, reason: null, at: 1, sequence: 9 } as const
  const reports: WorkloadReport[] = Array.from({ length: count }, (_, index) => ({ ...gone, workloadId: `pod${index}-1` }))
  await hostStub(env, host.id).report(host.id, reports)
}

describe('the desired state of a host', () => {
  it('[C3] [HOST-68] with many stopped pods and the largest env is small, and empty once they are gone', async () => {
    const host = await FakeHost.join()
    await setMany(host, MANY)
    await setMany(host, MANY / 2, { desired: 'held' })
    await inStore(host, (store) => {
      for (let index = MANY / 2; index < MANY; index += 1)
        store.setWorkload(workload(`pod${index}-1`, { desired: 'stopped', wipe: true }), `pod${index}`)
    })
    await host.link()
    expect(host.desired()).toHaveLength(MANY)
    expect(JSON.stringify(host.desired()).length).toBeLessThan(1_000_000)
    expect(JSON.stringify(host.desired())).not.toContain('xxxx')
    const { env: _env, platformEnv: _platformEnv, ports: _ports, ...kept } = workload('pod0-1')
    const mounts = [{ kind: 'persistent', id: 'pod0-1', path: '/', sizeGb: 1 }]
    expect(host.desired().find(({ id }) => id === 'pod0-1')).toEqual({
      ...kept,
      desired: 'held',
      env: {},
      platformEnv: {},
      ports: [],
      mounts,
    })
    expect(await hostStub(env, host.id).recordPodIntent(host.id, 'another')).toMatchObject({ takesMore: true })
    expect(await hostStub(env, host.id).assign(host.id, workload('other', { kind: 'worker' }), 'e')).toBe(true)
    expect(await host.waitFor(({ id }) => id === 'other')).toEqual(workload('other', { kind: 'worker' }))
    await host.beat()
    expect(host.largestMessage).toBeLessThan(1_000_000)
    await inStore(host, (store) => store.remove('other'))
    await reportGone(host, ENDED)
    await host.link()
    expect(host.desired()).toHaveLength(MANY - ENDED)
    host.leave()
  })

  it('[HOST-68] of a pod contains its program while it is to run, and again with its next container', async () => {
    const scene = await podScene()
    const { id } = await scene.create({ env: { A: 'secret-a' }, mounts: { persistent: { path: '/workspace', size: 20 } } })
    await scene.run(id)
    const wanted = (generation: number) => scene.host.desired().find((one) => one.id === `${id}-${generation}`)
    expect(wanted(1)).toMatchObject({ desired: 'running', env: { A: 'secret-a' }, platformEnv: { RUNPOD_POD_ID: id } })
    expect((await scene.act(id, 'stop')).status).toBe(200)
    await scene.host.waitFor((one) => one.id === `${id}-1` && one.desired === 'held')
    await scene.host.report(`${id}-1`, { state: 'exited' })
    expect(JSON.stringify(scene.host.desired())).not.toContain('secret-a')
    expect((await scene.act(id, 'start')).status).toBe(200)
    await scene.run(id, 2)
    expect(wanted(2)).toMatchObject({ desired: 'running', env: { A: 'secret-a' }, replaces: [`${id}-1`], keepDisk: true })
    await scene.act(id, 'terminate')
    await scene.host.waitFor((one) => one.id === `${id}-2` && one.desired === 'stopped')
    expect(wanted(2)).toMatchObject({ wipe: true, env: {}, mounts: [{ kind: 'persistent', id, path: '/' }] })
    scene.leave()
  })

  it('[HOST-68] is sent in the same way from rows of a release that kept all of it in one place', async () => {
    const host = await FakeHost.join()
    await inStore(host, (_, sql) => {
      for (const desired of ['running', 'held'] as const) {
        const spec = JSON.stringify(workload(desired, { desired }))
        sql.exec('INSERT INTO workloads (id, owner_id, spec) VALUES (?, ?, ?)', desired, 'p', spec)
      }
    })
    await host.link()
    expect(host.desired().map(({ id, env }) => [id, env])).toEqual([
      ['held', {}],
      ['running', LARGE_ENV],
    ])
    expect(await inStore(host, (store) => store.get('held')?.workload)).toEqual(workload('held', { desired: 'held' }))
    host.leave()
  })

  it(
    '[C3] [HOST-71] with many running pods and the largest env comes in parts, and changes in between are included',
    async () => {
      const host = await FakeHost.join()
      await setMany(host, RUNNING)
      const linked = host.link()
      await hostStub(env, host.id).assign(host.id, workload('aaa', { kind: 'worker' }), 'e')
      await hostStub(env, host.id).assign(host.id, workload('zzz', { kind: 'worker' }), 'e')
      await linked
      for (const id of ['aaa', 'zzz']) expect(await host.waitFor((one) => one.id === id)).toEqual(workload(id, { kind: 'worker' }))
      const expected = Array.from({ length: RUNNING }, (_, index) => `pod${index}-1`)
      expect(host.desired().map(({ id }) => id)).toEqual(['aaa', ...expected, 'zzz'].toSorted())
      expect(host.desired().find(({ id }) => id === 'pod7-1')).toEqual(workload('pod7-1'))
      expect(host.largestMessage).toBeLessThan(1_000_000)
      expect(await hostStub(env, host.id).recordPodIntent(host.id, 'another')).toMatchObject({ takesMore: true })
      expect(await read(host)).toEqual({ health: 'HEALTHY', statusReason: null })
      await setMany(host, 2 * RUNNING)
      expect(await hostStub(env, host.id).recordPodIntent(host.id, 'another')).toMatchObject({ takesMore: false })
      host.leave()
    },
    SLOW_MS,
  )

  it('[C3] [HOST-72] is shown as too large for a host that closed its link over the size, until the host has received it', async () => {
    const host = await FakeHost.join()
    await setMany(host, 1)
    host.leave(1009)
    await until(async () => (await read(host)).health === 'UNHEALTHY')
    await host.link()
    expect(await read(host)).toEqual({ health: 'UNHEALTHY', statusReason: TOO_LARGE })
    expect(await hostStub(env, host.id).recordPodIntent(host.id, 'another')).toMatchObject({ takesMore: false })
    await host.beat({ appliedRevision: 0 })
    expect(await read(host)).toEqual({ health: 'UNHEALTHY', statusReason: TOO_LARGE })
    await host.beat()
    expect(await read(host)).toEqual({ health: 'HEALTHY', statusReason: null })
    expect(await hostStub(env, host.id).recordPodIntent(host.id, 'another')).toMatchObject({ takesMore: true })
    host.leave()
  })

  it('[HOST-69] grows no further when it is too large, and its operator reads the reason', async () => {
    const host = await FakeHost.join()
    host.takesParts = false
    await host.link()
    const takesMore = async () => (await hostStub(env, host.id).recordPodIntent(host.id, 'another')).takesMore
    const size = JSON.stringify(workload('pod0-1')).length
    expect(await takesMore()).toBe(true)
    await setMany(host, Math.ceil(MESSAGE_MAX_BYTES / 2 / size) + 1)
    expect(await takesMore()).toBe(false)
    expect(await read(host)).toEqual({ health: 'HEALTHY', statusReason: null })
    await setMany(host, Math.ceil(MESSAGE_MAX_BYTES / size))
    expect(await read(host)).toEqual({ health: 'UNHEALTHY', statusReason: TOO_LARGE })
    await host.beat({ appliedRevision: 0 })
    expect(host.desired()).toEqual([])
    await setMany(host, Math.ceil(MESSAGE_MAX_BYTES / size), { desired: 'stopped' })
    expect(await read(host)).toEqual({ health: 'HEALTHY', statusReason: null })
    expect(await takesMore()).toBe(true)
    host.leave()
  })
})
