import { admin, api, createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'

const ADMIN_PATH = '/admin/v1/deleted-volumes'
let centers = 0

/** A data center per test, so that volumes of other tests do not concern its hosts. */
async function makeCenter() {
  centers += 1
  const dataCenterId = `LAB-${centers}`
  const host = await FakeHost.enrol({}, { dataCenterId })
  return { dataCenterId, host }
}

/** A volume that workloads on these hosts have mounted. */
async function makeVolume(dataCenter: string, ...hosts: FakeHost[]) {
  const account = await createAccount()
  const reply = await api(account.key).post('/v2/network-volumes', { name: 'data', size: 10, dataCenter })
  expect(reply.status).toBe(201)
  const path = `/v2/network-volumes/${reply.body.id}`
  await mount(reply.body.id, ...hosts)
  return { account, id: reply.body.id as string, path, read: async () => (await api(account.key).get(path)).body }
}

/** Records a mount as the placement of a pod does. */
async function mount(volumeId: string, ...hosts: FakeHost[]) {
  for (const { id } of hosts) {
    await env.DB.prepare('INSERT INTO volume_hosts VALUES (?, ?, 1, NULL)').bind(volumeId, id).run()
  }
}

const tombstone = async (id: string) => (await admin().get(ADMIN_PATH)).body.volumes.find((volume: { id: string }) => volume.id === id)

describe('kinds of volumes with enforced sizes', () => {
  it("[HOST-112] are listed for the host in the operator's view, as its agent last reported", async () => {
    const host = await FakeHost.enrol({ sizesEnforced: ['persistent'] })
    const read = async () => (await admin().get(`/admin/v1/hosts/${host.id}`)).body.sizesEnforced
    expect(await read()).toEqual(['persistent'])
    const silent = await FakeHost.enrol()
    expect((await admin().get(`/admin/v1/hosts/${silent.id}`)).body.sizesEnforced).toBeNull()
  })
})

describe('deleted network volumes', () => {
  it('[VOL-6][VOL-7] wait for the host that had them, which receives the order until it has confirmed', async () => {
    const { dataCenterId, host } = await makeCenter()
    const elsewhere = (await makeCenter()).host
    const { account, id, path } = await makeVolume(dataCenterId, host)
    expect((await host.exchangeVolumes()).wipe).toEqual([])
    expect((await api(account.key).delete(path)).status).toBe(204)
    const ref = { kind: 'network' as const, id }
    expect((await host.exchangeVolumes()).wipe).toEqual([ref])
    expect((await host.exchangeVolumes()).wipe, 'not told once only').toEqual([ref])
    expect((await host.exchangeVolumes({ kinds: ['global'] })).wipe).not.toContainEqual(ref)
    expect((await elsewhere.exchangeVolumes({ wiped: [ref] })).wipe).not.toContainEqual(ref)
    expect(await tombstone(id)).toMatchObject({ kind: 'network', dataCenterId, size: 10, teamId: await teamOf(account), wipedAt: null })

    expect((await host.exchangeVolumes({ wiped: [ref] })).wipe).toEqual([])
    expect(await tombstone(id)).toMatchObject({ wipedAt: expect.any(String) })
  })

  it('[VOL-7][EDG-3] wait for each host that had them, and are wiped once the last one has confirmed', async () => {
    const { dataCenterId, host } = await makeCenter()
    const late = await FakeHost.enrol({}, { dataCenterId })
    const { account, id, path } = await makeVolume(dataCenterId, host, late)
    await api(account.key).delete(path)
    const ref = { kind: 'network' as const, id }
    expect((await host.exchangeVolumes({ wiped: [ref] })).wipe).toEqual([])
    expect(await tombstone(id)).toMatchObject({ wipedAt: null })
    expect((await late.exchangeVolumes({ since: Date.now() + 120_000 })).wipe).toEqual([ref])
    expect((await late.exchangeVolumes({ wiped: [ref] })).wipe).toEqual([])
    expect(await tombstone(id)).toMatchObject({ wipedAt: expect.any(String) })
  })

  it('[VOL-6] do not include one whose deletion was refused because it is in use', async () => {
    const { dataCenterId, host } = await makeCenter()
    const { account, id, path } = await makeVolume(dataCenterId)
    const endpoint = { name: 'e', image: 'acme/model:1', gpu: { pools: ['ADA_24'] }, networkVolumes: [id] }
    expect((await api(account.key).post('/v2/serverless', endpoint)).status).toBe(201)
    expect((await api(account.key).delete(path)).status).toBe(400)
    expect((await host.exchangeVolumes()).wipe).toEqual([])
    expect(await tombstone(id)).toBeUndefined()
  })

  it('[VOL-7] are not changed by a confirmation for one that is in use', async () => {
    const { dataCenterId, host } = await makeCenter()
    const { id, read } = await makeVolume(dataCenterId, host)
    const before = await read()
    await host.exchangeVolumes({ wiped: [{ kind: 'network', id }] })
    expect(await read()).toEqual(before)
  })

  it('[VOL-8] can be declared gone by the operator when no host can wipe them', async () => {
    const { dataCenterId, host } = await makeCenter()
    const { account, id, path } = await makeVolume(dataCenterId, host)
    expect((await admin().delete(`${ADMIN_PATH}/${id}`)).status).toBe(404)
    await api(account.key).delete(path)
    expect((await admin().delete(`${ADMIN_PATH}/${id}`)).status).toBe(204)
    expect((await admin().delete(`${ADMIN_PATH}/${id}`)).status).toBe(404)
    expect(await tombstone(id)).toMatchObject({ wipedAt: expect.any(String) })
    expect((await host.exchangeVolumes({ kinds: [] })).wipe).toEqual([])
  })

  it('[VOL-8] are removed 30 days after the wipe; those that wait stay', async () => {
    const { dataCenterId, host } = await makeCenter()
    const [old, open, fresh] = [
      await makeVolume(dataCenterId, host),
      await makeVolume(dataCenterId, host),
      await makeVolume(dataCenterId, host),
    ]
    for (const { account, path } of [old, open, fresh]) await api(account.key).delete(path)
    await host.exchangeVolumes({ wiped: [{ kind: 'network', id: old.id }] })
    const longAgo = Date.now() - 31 * 24 * 3600 * 1000
    await env.DB.prepare('UPDATE volume_tombstones SET deleted_at = ? WHERE data_center_id = ?').bind(longAgo, dataCenterId).run()
    await env.DB.prepare('UPDATE volume_tombstones SET wiped_at = ? WHERE volume_id = ?').bind(longAgo, old.id).run()
    await host.exchangeVolumes({ wiped: [{ kind: 'network', id: fresh.id }] })
    expect([await tombstone(old.id), await tombstone(open.id), await tombstone(fresh.id)]).toEqual([
      undefined,
      expect.objectContaining({ wipedAt: null }),
      expect.objectContaining({ wipedAt: expect.any(String) }),
    ])
  })
})

it('[GLV-4] a deleted global volume is wiped by a host that had it and offers such volumes', async () => {
  const { host } = await makeCenter()
  const { key } = await createAccount()
  const { id } = (await api(key).post('/v2/global-volumes', { name: 'models' })).body
  await mount(id, host)
  await api(key).delete(`/v2/global-volumes/${id}`)
  const ref = { kind: 'global' as const, id }
  expect((await host.exchangeVolumes({ kinds: ['network'], wiped: [ref] })).wipe).not.toContainEqual(ref)
  expect((await host.exchangeVolumes()).wipe).toContainEqual(ref)
  expect((await host.exchangeVolumes({ wiped: [ref] })).wipe).not.toContainEqual(ref)
  expect(await tombstone(id)).toMatchObject({ kind: 'global', dataCenterId: null, size: null, wipedAt: expect.any(String) })
})

describe('volumes reported by hosts', () => {
  it('[VOL-5][VOL-9] show the reported data, and only a host that had the volume is believed', async () => {
    const { dataCenterId, host } = await makeCenter()
    const elsewhere = (await makeCenter()).host
    const { id, read } = await makeVolume(dataCenterId, host)
    const other = await makeVolume(dataCenterId, host)
    const use = { kind: 'network' as const, id, bytes: 52_428_800, enforced: true }
    await elsewhere.exchangeVolumes({ used: [use] })
    expect(await read()).toMatchObject({ usedBytes: null, usedAt: null, sizeEnforced: false })
    await host.exchangeVolumes({ used: [use] })
    expect(await read()).toMatchObject({ size: 10, usedBytes: 52_428_800, usedAt: expect.any(String), sizeEnforced: true })
    await host.exchangeVolumes({ used: [{ ...use, bytes: 1, enforced: false }] })
    expect(await read()).toMatchObject({ usedBytes: 1, sizeEnforced: false })
    expect(await other.read()).toMatchObject({ usedBytes: null, sizeEnforced: false })
  })

  it('[GLV-5] show the reported data of a global volume', async () => {
    const { host } = await makeCenter()
    const { key } = await createAccount()
    const { id } = (await api(key).post('/v2/global-volumes', { name: 'models' })).body
    await mount(id, host)
    await host.exchangeVolumes({ used: [{ kind: 'global', id, bytes: 7, enforced: false }] })
    expect((await api(key).get(`/v2/global-volumes/${id}`)).body).toMatchObject({ id, usedBytes: 7, usedAt: expect.any(String) })
  })

  it('[VOL-10] have their sizes sent to a host that had them, also after they grew', async () => {
    const { dataCenterId, host } = await makeCenter()
    const elsewhere = (await makeCenter()).host
    const { account, id, path } = await makeVolume(dataCenterId, host)
    expect((await host.exchangeVolumes({ held: [id, 'nothing'] })).sizes).toEqual([{ id, sizeGb: 10 }])
    await api(account.key).patch(path, { size: 20 })
    expect((await host.exchangeVolumes({ held: [id] })).sizes).toEqual([{ id, sizeGb: 20 }])
    expect((await elsewhere.exchangeVolumes({ held: [id] })).sizes).toEqual([])
  })

  it('[VOL-7][VOL-10] of as many volumes as one message has are taken together', async () => {
    const { dataCenterId, host } = await makeCenter()
    const { id, account, path } = await makeVolume(dataCenterId, host)
    const others = Array.from({ length: 199 }, (_, i) => `unknown${i}`)
    expect((await host.exchangeVolumes({ held: [...others, id] })).sizes).toEqual([{ id, sizeGb: 10 }])
    await api(account.key).delete(path)
    const wiped = [...others, id].map((each) => ({ kind: 'network' as const, id: each }))
    await host.exchangeVolumes({ wiped })
    expect(await tombstone(id)).toMatchObject({ wipedAt: expect.any(String) })
  })

  it('[VOL-7] are accepted from hosts alone', async () => {
    const { host } = await makeCenter()
    host.accessToken = 'forged'
    expect(await host.callStatus('volumes')).toBe(401)
  })
})
