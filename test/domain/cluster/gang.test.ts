import { placeGang } from '../../../src/domain/cluster/gang.ts'
import type { PlacementHost } from '../../../src/domain/host/placement.ts'
import type { PodSpec } from '../../../src/domain/pod/record.ts'
import { describe, expect, it } from '../../support/unit.ts'

const L4 = 'NVIDIA L4'
const SPEC: PodSpec = {
  container: { image: 'acme/train:1', args: '', diskGb: 10, env: {}, ports: [], registry: null },
  compute: { kind: 'gpu', typeId: L4, count: 1, allowedCudaVersions: [], minCudaVersion: null, minRamGbPerGpu: null, minVcpuPerGpu: null },
  cloud: 'SECURE',
  dataCenterIds: [],
  mounts: {},
  globalNetworking: false,
  onHostLoss: 'WAIT',
}

function host(id: string, free: number, change: Partial<PlacementHost> = {}): PlacementHost {
  return {
    id,
    online: true,
    cordoned: false,
    publicIp: null,
    dataCenterId: 'DC-1',
    cloud: 'SECURE',
    runtimes: ['docker'],
    sharedVolumes: null,
    runtimeClass: 'runc',
    requiredClasses: new Map(),
    heldBy: null,
    overlay: 'routed',
    vcpuTotal: 64,
    vcpuFree: 64,
    memoryMbTotal: 262_144,
    memoryMbFree: 262_144,
    diskGbFree: 1_000,
    gpus: [{ typeId: L4, total: 8, free, cudaVersion: '12.8' }],
    ...change,
  }
}

function seatsOf(podCount: number, hosts: PlacementHost[], change: Partial<PodSpec> = {}, strategy: 'pack' | 'spread' = 'pack') {
  const gang = placeGang('t', { ...SPEC, ...change }, podCount, hosts, strategy)
  return gang.ok ? { dataCenterId: gang.dataCenterId, seats: gang.seats.map(({ hostId }) => hostId) } : gang.nearest
}

describe('places for all members', () => {
  it('[CLU-8] all are in one data center, or none is anywhere', () => {
    const split = [host('a', 2), host('b', 2, { dataCenterId: 'DC-2' })]
    expect(seatsOf(3, split)).toEqual({ dataCenterId: 'DC-1', members: 2 })
    expect(seatsOf(3, [...split, host('c', 1, { dataCenterId: 'DC-2' })])).toEqual({ dataCenterId: 'DC-2', seats: ['b', 'b', 'c'] })
  })

  it('[CLU-8] data centers are used in the requested order, and no others', () => {
    const hosts = [host('a', 4), host('b', 4, { dataCenterId: 'DC-2' }), host('c', 8, { dataCenterId: 'DC-3' })]
    expect(seatsOf(2, hosts, { dataCenterIds: ['DC-2', 'DC-1'] })).toEqual({ dataCenterId: 'DC-2', seats: ['b', 'b'] })
    expect(seatsOf(5, hosts, { dataCenterIds: ['DC-2', 'DC-1'] })).toEqual({ dataCenterId: 'DC-1', members: 4 })
  })

  it('[CLU-13] packed they take the fewest hosts and leave the least over, spread the most', () => {
    const hosts = [host('a', 4), host('b', 2), host('c', 3), host('d', 1)]
    expect(seatsOf(5, hosts)).toEqual({ dataCenterId: 'DC-1', seats: ['a', 'a', 'a', 'a', 'd'] })
    expect(seatsOf(6, hosts)).toEqual({ dataCenterId: 'DC-1', seats: ['a', 'a', 'a', 'a', 'b', 'b'] })
    expect(seatsOf(5, hosts, {}, 'spread')).toEqual({ dataCenterId: 'DC-1', seats: ['a', 'a', 'b', 'c', 'd'] })
  })

  it('[CLU-15] several hosts must reach one another; one alone need not', () => {
    const alone = host('a', 4, { overlay: 'local' })
    expect(seatsOf(4, [alone, host('b', 2)])).toEqual({ dataCenterId: 'DC-1', seats: ['a', 'a', 'a', 'a'] })
    expect(seatsOf(5, [alone, host('b', 2)])).toEqual({ dataCenterId: 'DC-1', members: 4 })
    expect(seatsOf(2, [host('c', 4, { overlay: 'none' })])).toBeNull()
  })

  it('[CLU-15] a host that fits only a pod on its own is named as off the network', () => {
    const gang = placeGang('t', SPEC, 2, [host('a', 4, { overlay: 'none' }), host('b', 0)], 'pack')
    expect(gang).toEqual({
      ok: false,
      nearest: null,
      refusals: [
        { hostId: 'b', failed: ['gpu NVIDIA L4: 1 > 0'] },
        { hostId: 'a', failed: ['overlay: yes > none'] },
      ],
    })
  })

  it('[CLU-24] every member is granted the same, the least that any of the places has', () => {
    const gang = placeGang('t', SPEC, 3, [host('a', 2), host('b', 1, { vcpuFree: 5, memoryMbFree: 20_000 })], 'pack')
    expect(gang).toMatchObject({ ok: true, shape: { gpu: { typeId: L4, count: 1 }, vcpus: 5, memoryMb: 20_000 } })
  })
})
