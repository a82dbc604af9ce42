import { openDatabase } from '../../../src/db/client.ts'
import { reserveCapacity } from '../../../src/db/hosts/capacity.ts'
import { NO_RATES } from '../../../src/domain/money.ts'
import { admin, api, createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PodScene } from '../../support/pods/pod-scene.ts'

const KINDS = ['network', 'global'] as const
const TYPE = 'NVIDIA L4'
let centers = 0

/**
 * An account with a volume of each kind that its pod on `host` mounts, and a second host of the same data center that runs nothing of the
 * account.
 */
async function scene() {
  centers += 1
  const dataCenterId = `XX-${centers}`
  const offers = { ...gpus(2, TYPE), sharedVolumes: [...KINDS] }
  const host = await FakeHost.join(offers, { dataCenterId })
  const account = await createAccount()
  const call = api(account.key)
  const pods = new PodScene(host, account)
  const network = (await call.post('/v2/network-volumes', { name: 'n', size: 10, dataCenter: dataCenterId })).body.id as string
  const global = (await call.post('/v2/global-volumes', { name: 'g' })).body.id as string
  const pod = await pods.create({ gpu: { id: TYPE }, mounts: { network: [{ volumeId: network, path: '/n' }] } })
  const other = await pods.create({ gpu: { id: TYPE }, mounts: { global: [{ volumeId: global, path: '/g' }] } })
  const otherTenant = await FakeHost.join(offers, { dataCenterId })
  const refs = [
    { kind: 'network' as const, id: network },
    { kind: 'global' as const, id: global },
  ]
  const paths = [`/v2/network-volumes/${network}`, `/v2/global-volumes/${global}`]
  const views = () => Promise.all(paths.map(async (path) => (await call.get(path)).body))
  const remove = async () => {
    await pods.end(pod.id)
    await pods.end(other.id)
    for (const path of paths) expect((await call.delete(path)).status).toBe(204)
  }
  const leave = () => [host, otherTenant].map((one) => one.leave())
  return { host, stranger: otherTenant, account, dataCenterId, offers, refs, network, views, remove, leave }
}

const tombstones = async (ids: string[]) =>
  (await admin().get('/admin/v1/deleted-volumes')).body.volumes.filter(({ id }: { id: string }) => ids.includes(id))

describe('[S6] a host without workloads of an account', () => {
  it('[EDG-1] changes nothing of its volumes with five forged reports; the host that mounts them is believed', async () => {
    const { host, stranger: otherTenant, refs, network, views, leave } = await scene()
    const forged = refs.map((ref) => ({ ...ref, bytes: 9e15, enforced: true }))
    await host.exchangeVolumes({ used: refs.map((ref) => ({ ...ref, bytes: 5, enforced: false })) })
    const before = await views()
    expect(before).toMatchObject([{ usedBytes: 5, sizeEnforced: false }, { usedBytes: 5 }])
    const answers = [
      await otherTenant.exchangeVolumes({ used: forged }),
      await otherTenant.exchangeVolumes({ used: forged, wiped: refs }),
      await otherTenant.exchangeVolumes({ kinds: ['global'], used: forged.slice(1) }),
      await otherTenant.exchangeVolumes({ kinds: ['network'], used: forged.slice(0, 1) }),
      await otherTenant.exchangeVolumes({ held: refs.map(({ id }) => id) }),
    ]
    expect(answers.map(({ wipe, sizes }) => ({ wipe, sizes }))).toEqual(Array(5).fill({ wipe: [], sizes: [] }))
    expect(await views()).toEqual(before)
    expect((await host.exchangeVolumes({ held: [network] })).sizes).toEqual([{ id: network, sizeGb: 10 }])
    leave()
  })

  it('[EDG-2] receives no id of a deleted volume, and its reports leave it with the host that has it', async () => {
    const { host, stranger: otherTenant, refs, remove, leave } = await scene()
    await remove()
    const before = await tombstones(refs.map(({ id }) => id))
    expect(before.map(({ wipedAt }: { wipedAt: string | null }) => wipedAt)).toEqual([null, null])
    const received = async (given: object) =>
      (await otherTenant.exchangeVolumes(given)).wipe.filter(({ id }) => refs.some((ref) => ref.id === id))
    expect([await received({}), await received({ wiped: refs }), await received({ since: 0 })]).toEqual([[], [], []])
    expect(await tombstones(refs.map(({ id }) => id))).toEqual(before)
    expect((await host.exchangeVolumes()).wipe).toEqual(expect.arrayContaining(refs))
    await host.exchangeVolumes({ wiped: refs })
    expect(await tombstones(refs.map(({ id }) => id))).toMatchObject([{ wipedAt: expect.any(String) }, { wipedAt: expect.any(String) }])
    leave()
  })

  it('[EDG-4] inherits volumes to wipe when every host that had them is removed, and each successor confirms for itself', async () => {
    const { host, stranger: otherTenant, dataCenterId, offers, refs, remove, leave } = await scene()
    await remove()
    const third = await FakeHost.enrol(offers, { dataCenterId })
    host.leave()
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(host.id).run()
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    expect(await tombstones(refs.map(({ id }) => id))).toMatchObject([{ wipedAt: null }, { wipedAt: null }])
    expect((await otherTenant.exchangeVolumes()).wipe).toEqual(expect.arrayContaining(refs))
    await otherTenant.exchangeVolumes({ wiped: refs })
    expect(await tombstones(refs.map(({ id }) => id))).toMatchObject([{ wipedAt: expect.any(String) }, { wipedAt: expect.any(String) }])
    expect((await otherTenant.exchangeVolumes()).wipe).not.toContainEqual(refs[0])
    expect((await third.exchangeVolumes()).wipe, 'one successor does not confirm for another').toEqual(expect.arrayContaining(refs))
    leave()
  })
})

describe('a deleted volume', () => {
  it('[EDG-3] that no host has had counts as wiped from the start', async () => {
    const { key } = await createAccount()
    const { id } = (await api(key).post('/v2/global-volumes', { name: 'g' })).body
    await api(key).delete(`/v2/global-volumes/${id}`)
    expect(await tombstones([id])).toMatchObject([{ wipedAt: expect.any(String) }])
  })

  it('[EDG-3] does not wait for a removed host once another one has wiped it', async () => {
    const { host, stranger: otherTenant, refs, remove, leave } = await scene()
    const ids = refs.map(({ id }) => id)
    for (const id of ids) await env.DB.prepare('INSERT INTO volume_hosts VALUES (?, ?, 1, NULL)').bind(id, otherTenant.id).run()
    await remove()
    await otherTenant.exchangeVolumes({ wiped: refs })
    expect(await tombstones(ids)).toMatchObject([{ wipedAt: null }, { wipedAt: null }])
    host.leave()
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(host.id).run()
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    expect(await tombstones(ids)).toMatchObject([{ wipedAt: expect.any(String) }, { wipedAt: expect.any(String) }])
    leave()
  })
})

it('[EDG-1] of a worker is known on its host from the reservation on, and a refused reservation notes nothing', async () => {
  const { stranger: otherTenant, network, leave } = await scene()
  const read = () => env.DB.prepare('SELECT host_id FROM volume_hosts WHERE volume_id = ?').bind(network).all()
  const before = await read()
  const want = {
    teamId: 't',
    hostId: otherTenant.id,
    kind: 'worker' as const,
    ownerId: 'e',
    gpu: null,
    memoryMb: 1,
    diskGb: 1,
    volumeId: network,
  }
  const reserve = (id: string, vcpus: number) => reserveCapacity(openDatabase(env.DB), { ...want, id, vcpus, rates: NO_RATES }, Date.now())
  expect(await reserve('too-large', 1e6)).toBe('capacity')
  expect((await read()).results).toEqual(before.results)
  expect(await reserve('worker-of-edg', 1)).toBe('done')
  expect((await read()).results).toEqual(expect.arrayContaining([...before.results, { host_id: otherTenant.id }]))
  leave()
})
