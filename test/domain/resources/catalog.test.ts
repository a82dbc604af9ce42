import {
  CPU_FLAVORS,
  findCpuFlavor,
  GPU_TYPES,
  gpuTypesOfPools,
  isGpuPool,
  isValidVcpuCount,
} from '../../../src/domain/resources/catalog.ts'
import { describe, expect, it } from '../../support/unit.ts'

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
    expect(gpuTypesOfPools(['ADA_24', 'AMPERE_24'], [])).toEqual([
      'NVIDIA GeForce RTX 4090',
      'NVIDIA RTX A5000',
      'NVIDIA L4',
      'NVIDIA GeForce RTX 3090',
    ])
    expect(gpuTypesOfPools(['AMPERE_24', 'AMPERE_24'], ['NVIDIA L4'])).toEqual(['NVIDIA RTX A5000', 'NVIDIA GeForce RTX 3090'])
    expect(gpuTypesOfPools(['NOPE'], [])).toEqual([])
    expect([isGpuPool('ADA_24'), isGpuPool('NOPE')]).toEqual([true, false])
  })
})

describe('CPU flavors', () => {
  it('[SEED-3] six of them, found by id', () => {
    expect(CPU_FLAVORS.map(({ id }) => id)).toEqual(['cpu3c', 'cpu5c', 'cpu3g', 'cpu5g', 'cpu3m', 'cpu5m'])
    expect(findCpuFlavor('cpu5g')).toMatchObject({ ramGbPerVcpu: 4, group: 'Gen 5' })
    expect(findCpuFlavor('cpu3c-2-4')).toBeUndefined()
  })

  it('[POD-8] sizes are powers of two within the range', () => {
    const flavor = CPU_FLAVORS[0]
    if (!flavor) throw new Error('no flavor')
    expect([1, 2, 3, 4, 6, 8, 16, 32, 64].filter((size) => isValidVcpuCount(flavor, size))).toEqual([2, 4, 8, 16, 32])
  })
})
