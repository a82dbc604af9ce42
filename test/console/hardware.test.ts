import { describe, expect, it } from 'vitest'
import { cpuOffers, podGpus, workerGpus } from '../../src/console/parts/hardware/offers.ts'
import type { CpuType, GpuType } from '../../src/contract/catalog/catalog.ts'

const gpu = (id: string, members: Partial<GpuType> = {}): GpuType => ({
  id,
  name: id,
  pool: 'AMPERE_24',
  manufacturer: 'NVIDIA',
  memory: 24,
  secure: true,
  community: false,
  price: { secure: 0.5, community: 0, serverless: 0.7 },
  maxCount: { secure: 8, community: 0 },
  ...members,
})
const cpu: CpuType = {
  id: 'cpu3c',
  name: 'Compute',
  group: 'Gen 3',
  vcpu: { min: 2, max: 32 },
  ramGbPerVcpu: 2,
  price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.02 },
  availability: 'LOW',
}

describe('[UI-71] the hardware that a pod or a worker may run on', () => {
  it('a pod asks for a type, at the price of its cloud for all its GPUs', () => {
    const all = [gpu('L4', { availability: 'LOW' }), gpu('A5000', { secure: false, community: true })]
    expect(podGpus(all, 'secure', 2)).toEqual([{ id: 'L4', name: 'L4', memoryGb: 24, perHour: 1, level: 'LOW' }])
    expect(podGpus(all, 'community', 1).map(({ id, level }) => [id, level])).toEqual([['A5000', 'NONE']])
  })

  it('a worker asks for a pool: the least memory, the highest price and the most room of its types', () => {
    const all = [
      gpu('L4', { availability: 'NONE' }),
      gpu('3090', { memory: 20, availability: 'MEDIUM', price: { secure: 1, community: 1, serverless: 0.9 } }),
      gpu('H100', { pool: 'ADA_80_PRO', price: { secure: 2, community: 2, serverless: 4 } }),
      gpu('A2', { pool: null }),
      gpu('K80', { price: { secure: 1, community: 1 } }),
    ]
    expect(workerGpus(all, 2)).toEqual([
      { id: 'AMPERE_24', name: 'L4 or 3090', memoryGb: 20, perHour: 1.8, level: 'MEDIUM' },
      { id: 'ADA_80_PRO', name: 'H100', memoryGb: 24, perHour: 8, level: 'NONE' },
    ])
  })

  it('the price of CPUs is that of the product, for all of them', () => {
    expect(cpuOffers([cpu], 'POD', 4)).toEqual([{ id: 'cpu3c', name: 'Compute', memoryGb: 8, perHour: 0.12, level: 'LOW' }])
    expect(cpuOffers([cpu], 'SERVERLESS', 4)[0]?.perHour).toBe(0.08)
  })
})
