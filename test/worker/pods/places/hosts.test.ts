import { openDatabase } from '../../../../src/db/client.ts'
import { saveInventory } from '../../../../src/db/hosts/capacity.ts'
import { drainPods } from '../../../../src/effects/pods/pod-hosts.ts'
import { podHost } from '../../../../src/effects/pods/with-pod-intents.ts'
import {
  api,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { hostRow, moveHostClock } from '../../../support/hosts/hosts.ts'
import { PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'
import { act, compute, placed, readPod } from '../../../support/pods/pods.ts'
import { hostStub } from '../../../support/runner/stubs.ts'

const TYPE = 'NVIDIA RTX A4500'
const SUSPECT = 'NVIDIA RTX A5000'
const movable = (typeId: string) => ({ onHostLoss: 'REPLACE' as const, compute: compute(typeId) })
const previous = ({ id }: FakeHost) => podHost(env, id)

it('[SHR-40] a host receives the payer of a pod of an organization, and nothing more for a pod of a personal account', async () => {
  const scene = await podScene(gpus(2, TYPE))
  const team = await createOrganization(scene.account.key)
  const { key } = await createKeyIn(team, scene.account)
  const mine = await scene.create({ gpu: { id: TYPE } })
  const { body: theirs } = await api(key).post('/v2/pods', podBody({ gpu: { id: TYPE } }))
  const heard = async ({ id }: { id: string }) => {
    const { account, payer } = await scene.host.waitFor((w) => w.id === `${id}-1`)
    return { account, payer }
  }
  const maker = await scene.team()
  expect(await heard(mine)).toEqual({ account: maker, payer: undefined })
  expect(await heard(theirs)).toEqual({ account: team, payer: maker })
  scene.leave()
})

describe('the host on which a pod continues', () => {
  it('[POD-17] is not one that has lost its type of GPU', async () => {
    const host = await FakeHost.join(gpus())
    const id = await placed(host)
    await host.waitFor((w) => w.id === `${id}-1`)
    await act(id, 'stop')
    await host.report(`${id}-1`, { state: 'exited' })
    // As when the driver is broken and the agent says hello without GPUs.
    await env.DB.prepare('DELETE FROM host_gpus WHERE host_id = ?').bind(host.id).run()
    expect(await act(id, 'start')).toBe('host')
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', generation: 1 })
    host.leave()
  })

  it('[POD-32] is not the one that it left while its container is there: both places are freed in the end', async () => {
    const first = await FakeHost.join(gpus(2, TYPE))
    const id = await placed(first, movable(TYPE))
    await first.waitFor((w) => w.id === `${id}-1`)
    await first.report(`${id}-1`, { state: 'running' })
    const second = await FakeHost.join(gpus(2, TYPE))
    expect(await drainPods(env, previous(first), Date.now())).toBe(0)
    expect((await readPod(id)).hostId).toBe(second.id)
    expect(await drainPods(env, previous(second), Date.now())).toBe(1)
    expect((await readPod(id)).hostId).toBe(second.id)
    await first.waitFor((w) => w.id === `${id}-1` && w.desired === 'stopped')
    await first.report(`${id}-1`, { state: 'gone' })
    expect(await drainPods(env, previous(second), Date.now())).toBe(0)
    expect(await readPod(id)).toMatchObject({ hostId: first.id, generation: 3 })
    expect(await freeGpus(first.id)).toBe(1)
    for (const host of [first, second]) host.leave()
  })

  it('[HOST-8] is not one that misses heartbeats', async () => {
    const first = await FakeHost.join(gpus(1, SUSPECT))
    const id = await placed(first, movable(SUSPECT))
    const second = await FakeHost.join(gpus(1, SUSPECT))
    await moveHostClock(second.id, 15_000)
    expect(await drainPods(env, previous(first), Date.now())).toBe(1)
    expect((await readPod(id)).hostId).toBe(first.id)
    await moveHostClock(second.id, -15_000)
    expect(await drainPods(env, previous(first), Date.now())).toBe(0)
    expect((await readPod(id)).hostId).toBe(second.id)
    const marks = (host: FakeHost) =>
      runInDurableObject(hostStub(env, host.id), (_, state) => state.storage.sql.exec('SELECT 1 FROM pod_marks').toArray())
    expect([await marks(first), await marks(second)]).toEqual([[], []])
    for (const host of [first, second]) host.leave()
  })

  it('[POD-49] keeps, for a stopped pod, the disk of its container, however its size is changed', async () => {
    const host = await FakeHost.join(gpus())
    const account = await createAccount()
    const id = await placed(
      host,
      { container: { image: 'acme/idle:1', args: '', diskGb: 50, env: {}, ports: [], registry: null } },
      account,
    )
    await host.waitFor((w) => w.id === `${id}-1`)
    const { disk_gb_free: free } = await hostRow(host.id)
    await act(id, 'stop')
    await host.report(`${id}-1`, { state: 'exited' })
    const { call } = new PodScene(host, account)
    for (const disk of [20, 30]) expect((await call.patch(`/v2/pods/${id}`, { disk })).status).toBe(200)
    expect((await hostRow(host.id)).disk_gb_free).toBe(free)
    expect((await call.patch(`/v2/pods/${id}`, { disk: 60 })).status).toBe(200)
    expect((await hostRow(host.id)).disk_gb_free).toBe(Number(free) - 10)
    expect(await act(id, 'start')).toBe('done')
    host.leave()
  })
})

describe("a pod's copies of values of its host", () => {
  it('[POD-21] [NET-2] are the current address and CUDA version, not for terminated pods', async () => {
    const host = await FakeHost.join({ ...gpus(2), publicIp: '203.0.113.7' })
    const [id, ended] = [await placed(host), await placed(host)]
    expect(await readPod(id)).toMatchObject({ publicIp: '203.0.113.7', cudaVersion: '12.8', version: 1 })
    await act(ended, 'terminate')
    const inventory = JSON.parse(String((await hostRow(host.id)).inventory))
    const say = (change: object) => saveInventory(openDatabase(env.DB), host.id, { ...inventory, ...change }, Date.now())
    await say({})
    expect((await readPod(id)).version).toBe(1)
    const [gpu] = inventory.gpus
    await say({ publicIp: '203.0.113.8', gpus: [{ ...gpu, cudaVersion: '13.0' }] })
    expect(await readPod(id)).toMatchObject({ publicIp: '203.0.113.8', cudaVersion: '13.0', version: 2 })
    expect(await readPod(ended)).toMatchObject({ publicIp: '203.0.113.7', version: 2 })
    // A CUDA version that the driver does not report does not clear the known one.
    await say({ publicIp: null, gpus: [{ ...gpu, cudaVersion: null }] })
    expect(await readPod(id)).toMatchObject({ publicIp: null, cudaVersion: '13.0', version: 3 })
    host.leave()
  })
})
