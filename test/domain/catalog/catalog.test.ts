import {
  findCpuFlavor,
  findGpuType,
  gpuTypesOfPools,
  isGpuPool,
  isValidVcpuCount,
  podCpuPrice,
  podGpuPrice,
} from '../../../src/domain/catalog/catalog.ts'
import { mergeCatalog } from '../../../src/domain/catalog/merge.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { describe, expect, it } from '../../support/unit.ts'

const GPU_TYPES = SEED_CATALOG.gpuTypes

describe('GPU types', () => {
  it('[SEED-1][SEED-2] each id is there once', () => {
    expect(new Set(GPU_TYPES.map(({ id }) => id)).size).toBe(GPU_TYPES.length)
    expect(GPU_TYPES).toHaveLength(45)
  })

  it('[SEED-1] the serverless price belongs to the pool', () => {
    for (const pool of new Set(GPU_TYPES.flatMap(({ pool }) => pool ?? []))) {
      const prices = GPU_TYPES.filter((type) => type.pool === pool).map(({ serverlessPrice }) => serverlessPrice)
      expect(new Set(prices).size, pool).toBe(1)
    }
    for (const type of GPU_TYPES) expect(type.serverlessPrice === null, type.id).toBe(type.pool === null)
  })

  it('[END-4] pools give their types in the order asked, without the excluded ones', () => {
    expect(gpuTypesOfPools(SEED_CATALOG, ['ADA_24', 'AMPERE_24'], [])).toEqual([
      'NVIDIA GeForce RTX 4090',
      'NVIDIA RTX A5000',
      'NVIDIA L4',
      'NVIDIA GeForce RTX 3090',
    ])
    expect(gpuTypesOfPools(SEED_CATALOG, ['AMPERE_24', 'AMPERE_24'], ['NVIDIA L4'])).toEqual([
      'NVIDIA RTX A5000',
      'NVIDIA GeForce RTX 3090',
    ])
    expect(gpuTypesOfPools(SEED_CATALOG, ['NOPE'], [])).toEqual([])
    expect([isGpuPool(SEED_CATALOG, 'ADA_24'), isGpuPool(SEED_CATALOG, 'NOPE')]).toEqual([true, false])
  })
})

describe('CPU flavors', () => {
  it('[SEED-3] six of them, found by id', () => {
    expect(SEED_CATALOG.cpuFlavors.map(({ id }) => id)).toEqual(['cpu3c', 'cpu5c', 'cpu3g', 'cpu5g', 'cpu3m', 'cpu5m'])
    expect(findCpuFlavor(SEED_CATALOG, 'cpu5g')).toMatchObject({ ramGbPerVcpu: 4, group: 'Gen 5' })
    expect(findCpuFlavor(SEED_CATALOG, 'cpu3c-2-4')).toBeUndefined()
  })

  it('[POD-8] sizes are powers of two within the range', () => {
    const flavor = SEED_CATALOG.cpuFlavors[0]
    if (!flavor) throw new Error('no flavor')
    expect([1, 2, 3, 4, 6, 8, 16, 32, 64].filter((size) => isValidVcpuCount(flavor, size))).toEqual([2, 4, 8, 16, 32])
  })
})

describe('the settings of the operator', () => {
  const L4 = 'NVIDIA L4'

  it('[CAT-9] override the seed field by field, and new ids come after it', () => {
    const own = { name: 'TPU', manufacturer: 'UNKNOWN', memoryGb: 16, pool: null, securePrice: 1, communityPrice: null } as const
    const merged = mergeCatalog(SEED_CATALOG, [
      { kind: 'GPU', id: L4, body: { securePrice: 0.5 } },
      { kind: 'GPU', id: 'Own', body: { ...own, serverlessPrice: null, maxCount: 4, offered: true } },
      { kind: 'CPU', id: 'cpu3c', body: { maxVcpu: 16 } },
      { kind: 'DATA_CENTER', id: 'EU-RO-1', body: { compliance: ['GDPR'] } },
      { kind: 'STORAGE', id: 'containerDisk', body: { stopped: 0.05 } },
    ])
    expect(findGpuType(merged, L4)).toEqual({ ...findGpuType(SEED_CATALOG, L4), securePrice: 0.5 })
    expect(merged.gpuTypes.at(-1)).toEqual({ id: 'Own', ...own, serverlessPrice: null, maxCount: 4, offered: true })
    expect(findCpuFlavor(merged, 'cpu3c')).toEqual({ ...findCpuFlavor(SEED_CATALOG, 'cpu3c'), maxVcpu: 16 })
    expect(merged.dataCenters[0]).toEqual({ ...SEED_CATALOG.dataCenters[0], compliance: ['GDPR'] })
    expect(merged.storage).toEqual({ ...SEED_CATALOG.storage, containerDisk: { running: 0.1, stopped: 0.05 } })
    expect(mergeCatalog(SEED_CATALOG, [])).toEqual(SEED_CATALOG)
  })

  it('[CAT-10] a type that is not offered is sold in no cloud and runs no worker of its pool', () => {
    const merged = mergeCatalog(SEED_CATALOG, [
      { kind: 'GPU', id: L4, body: { offered: false } },
      { kind: 'GPU', id: 'NVIDIA A30', body: { offered: false } },
      { kind: 'CPU', id: 'cpu3c', body: { offered: false } },
    ])
    const prices = [L4, 'NVIDIA A30'].flatMap((id) => {
      const type = findGpuType(merged, id)
      return type ? [podGpuPrice(type, 'SECURE'), podGpuPrice(type, 'COMMUNITY')] : []
    })
    const flavor = findCpuFlavor(merged, 'cpu3c')
    expect([...prices, flavor && podCpuPrice(flavor, 'SECURE')]).toEqual([null, null, null, null, null])
    expect(gpuTypesOfPools(merged, ['AMPERE_24'], [])).toEqual(['NVIDIA RTX A5000', 'NVIDIA GeForce RTX 3090'])
    expect(isGpuPool(merged, 'AMPERE_24')).toBe(true)
  })
})
