import { describe, expect, test } from 'vitest'
import { type PlacementHost, type PlacementRequest, rankHosts } from '../../src/domain/placement.ts'

describe('placement', () => {
  const host = (id: string, change: Partial<PlacementHost> = {}): PlacementHost => ({
    id,
    online: true,
    dataCenterId: 'LOCAL-1',
    runtimes: ['process', 'docker'],
    vcpuFree: 8,
    memoryMbFree: 32_768,
    diskGbFree: 100,
    gpus: [{ typeId: 'NVIDIA L4', free: 2, cudaVersion: '12.8' }],
    ...change,
  })
  const request: PlacementRequest = {
    runtime: 'docker',
    dataCenterIds: [],
    diskGb: 10,
    shapes: [{ gpu: { typeId: 'NVIDIA L4', count: 1 }, vcpus: 2, memoryMb: 8_192 }],
    allowedCudaVersions: [],
    minCudaVersion: null,
  }

  test('the fuller host wins among those that fit', () => {
    const hosts = [host('roomy', { vcpuFree: 64 }), host('full', { gpus: [{ typeId: 'NVIDIA L4', free: 1, cudaVersion: null }] })]
    expect(rankHosts(request, hosts).candidates.map((c) => c.hostId)).toEqual(['full', 'roomy'])
  })

  test.each([
    ['runtime: docker > process', request, { runtimes: ['process'] }],
    ['gpu NVIDIA L4: 1 > 0', request, { gpus: [] }],
    ['vcpu: 2 > 1', request, { vcpuFree: 1 }],
    ['memoryMb: 8192 > 1', request, { memoryMbFree: 1 }],
    ['diskGb: 10 > 9', request, { diskGbFree: 9 }],
    ['dataCenter: EU-RO-1 > LOCAL-1', { ...request, dataCenterIds: ['EU-RO-1'] }, {}],
    ['cuda: 12.11 > 12.8', { ...request, minCudaVersion: '12.11' }, {}],
    ['cuda: 12.4 > 12.8', { ...request, allowedCudaVersions: ['12.4'] }, {}],
  ])('a host that does not fit says %s', (failed, wanted, change) => {
    expect(rankHosts(wanted, [host('h', change)])).toEqual({ candidates: [], refusals: [{ hostId: 'h', failed: [failed] }] })
  })
})
