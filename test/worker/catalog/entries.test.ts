import { openDatabase } from '../../../src/db/client.ts'
import { catalogEntries } from '../../../src/db/tables/billing/catalog.ts'
import type { KeyedEntry } from '../../../src/domain/catalog/entries.ts'
import { CATALOG_TTL_MS, dropCatalog, loadCatalog } from '../../../src/effects/catalog.ts'
import { afterEach, api, createAccount, describe, env, expect, it, vi } from '../../support/harness.ts'

const L4 = 'NVIDIA L4'
const POD = { name: 'p', image: 'ubuntu:24.04', gpu: { id: L4, count: 2 } }

afterEach(async () => {
  vi.useRealTimers()
  await openDatabase(env.DB).delete(catalogEntries)
  dropCatalog()
})

const say = (...entries: KeyedEntry[]) =>
  openDatabase(env.DB)
    .insert(catalogEntries)
    .values(entries.map((entry) => ({ ...entry, updatedAt: 0 })))

describe('the catalog of an isolate', () => {
  it('[CAT-8] decides what a pod costs and whether its data center is known', async () => {
    const { key } = await createAccount()
    const dryRun = (body: object) => api(key).post('/v2/pods?dryRun=true', { ...POD, ...body })
    expect((await dryRun({})).body.cost).toBe(0.88)
    expect((await dryRun({ dataCenterIds: ['LAB-9'] })).status).toBe(400)
    await say(
      { kind: 'GPU', id: L4, body: { securePrice: 0.5 } },
      { kind: 'DATA_CENTER', id: 'LAB-9', body: { name: 'Laboratory 9', region: 'ASIA', country: 'JP', networkVolumeTypes: [] } },
    )
    dropCatalog()
    expect((await dryRun({ dataCenterIds: ['LAB-9'] })).body).toMatchObject({ cost: 1 })
  })

  it('[CAT-8] is at most five seconds old', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    const price = async () => (await loadCatalog(env)).gpuTypes.find(({ id }) => id === L4)?.securePrice
    expect(await price()).toBe(0.44)
    await say({ kind: 'GPU', id: L4, body: { securePrice: 0.5 } })
    vi.advanceTimersByTime(CATALOG_TTL_MS - 1)
    expect(await price()).toBe(0.44)
    vi.advanceTimersByTime(1)
    expect(await price()).toBe(0.5)
  })
})
