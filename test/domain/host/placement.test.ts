import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ComputeShape, judgeHosts, type PlacementHost, type PlacementRequest, rankHosts } from '../../../src/domain/host/placement.ts'

const host = (id: string, change: Partial<PlacementHost> = {}): PlacementHost => ({
  id,
  online: true,
  cordoned: false,
  dataCenterId: 'LOCAL-1',
  cloud: 'SECURE',
  runtimes: ['process', 'docker'],
  sharedVolumes: null,
  runtimeClass: 'runc',
  requiredClasses: new Map(),
  heldBy: null,
  vcpuTotal: 8,
  vcpuFree: 8,
  publicIp: null,
  memoryMbTotal: 32_768,
  memoryMbFree: 32_768,
  diskGbFree: 100,
  gpus: [{ typeId: 'NVIDIA L4', total: 2, free: 2, cudaVersion: '12.8' }],
  ...change,
})
const request: PlacementRequest = {
  teamId: 'ada',
  runtime: 'docker',
  dataCenterIds: [],
  cloud: 'SECURE',
  diskGb: 10,
  shapes: [{ gpu: { typeId: 'NVIDIA L4', count: 1 }, vcpus: 2, memoryMb: 8_192 }],
  allowedCudaVersions: [],
  minCudaVersion: null,
}

describe('[CLASS-1] a required runtime class', () => {
  const requiredClasses = new Map([['ada', 'runsc']])
  test.each([
    ['of this account, on a host of that class', 'ada', 'docker', 'runsc', []],
    ['of this account, on another', 'ada', 'docker', 'runc', ['runtimeClass: runsc > runc']],
    ['of this account, for a built-in image', 'ada', 'process', 'runsc', ['runtimeClass: runsc > none']],
    ['of another account', 'bob', 'docker', 'runc', []],
  ] as const)('%s', (_name, teamId, runtime, runtimeClass, failed) => {
    const one = host('a', { runtimes: ['docker', 'process'], runtimeClass, requiredClasses })
    expect(rankHosts({ ...request, teamId, runtime }, [one]).refusals.flatMap((refusal) => refusal.failed)).toEqual(failed)
  })
})

describe('[END-31] the owner of the hardware', () => {
  const clouds = ['SECURE', 'COMMUNITY'] as const
  const hosts = clouds.map((cloud) => host(cloud, { cloud }))
  test.each([
    ['SECURE', ['SECURE'], ['cloud: SECURE > COMMUNITY']],
    ['COMMUNITY', ['COMMUNITY'], ['cloud: COMMUNITY > SECURE']],
    ['ALL', ['COMMUNITY', 'SECURE'], []],
  ] as const)('%s', (cloud, fitting, failed) => {
    const { candidates, refusals } = rankHosts({ ...request, cloud }, hosts)
    expect(candidates.map(({ hostId }) => hostId)).toEqual(fitting)
    expect(refusals.flatMap((refusal) => refusal.failed)).toEqual(failed)
  })
})

describe('[HOST-85] a host that cannot keep accounts apart', () => {
  test.each([
    ['that is empty takes any account', [], ['ada', 'bob']],
    ['that an account holds takes that account', ['ada'], ['ada']],
    ['that two accounts hold takes neither', ['ada', 'bob'], []],
    ['whose accounts trust one another, and one that isolates them, take any account', null, ['ada', 'bob']],
  ] as const)('%s', (_name, heldBy, taken) => {
    const fits = (teamId: string) => rankHosts({ ...request, teamId }, [host('h', { heldBy })]).candidates.length > 0
    expect(['ada', 'bob'].filter(fits)).toEqual(taken)
  })
})

describe('placement', () => {
  test('[CAT-10] a workload whose products are all withdrawn fits nowhere, with that reason', () => {
    expect(rankHosts({ ...request, shapes: [] }, [host('a')])).toEqual({
      candidates: [],
      refusals: [{ hostId: 'a', failed: ['compute: offered > none'] }],
    })
  })

  test('[SCALE-17] the fuller host wins among those that fit', () => {
    const hosts = [host('roomy', { vcpuFree: 64 }), host('full', { gpus: [{ typeId: 'NVIDIA L4', total: 4, free: 1, cudaVersion: null }] })]
    expect(rankHosts(request, hosts).candidates.map((c) => c.hostId)).toEqual(['full', 'roomy'])
  })

  test.each([
    ['status: ONLINE > OFFLINE', request, { online: false }],
    ['schedulable: yes > cordoned', request, { cordoned: true }],
    ['disk: writable > full', request, { diskFull: true }],
    ['runtime: docker > process', request, { runtimes: ['process'] }],
    ['isolation: accounts isolated > none', request, { heldBy: ['ada', 'bob'] }],
    ['gpu NVIDIA L4: 1 > 0', request, { gpus: [] }],
    ['vcpu: 2 > 1', request, { vcpuFree: 1 }],
    ['memoryMb: 8192 > 1', request, { memoryMbFree: 1 }],
    ['diskGb: 10 > 9', request, { diskGbFree: 9 }],
    ['dataCenter: EU-RO-1 > LOCAL-1', { ...request, dataCenterIds: ['EU-RO-1'] }, {}],
    ['cuda: 12.11 > 12.8', { ...request, minCudaVersion: '12.11' }, {}],
    ['cuda: 12.4 > 12.8', { ...request, allowedCudaVersions: ['12.4'] }, {}],
  ])('[HOST-172] a host that does not fit has the reason %s', (failed, wanted, change) => {
    expect(rankHosts(wanted, [host('h', change)])).toEqual({ candidates: [], refusals: [{ hostId: 'h', failed: [failed] }] })
  })
})

describe('[HLT-6, WHY-20] the lacking resources of a host are the reason against it', () => {
  const TYPES = ['NVIDIA L4', 'NVIDIA H200', 'NVIDIA A40']
  const VERSIONS = ['12.2', '12.4', '12.11', '13.0']
  const small = fc.integer({ min: 0, max: 4 })
  const amount = fc.record({ vcpus: small, memoryMb: small })
  const shape: fc.Arbitrary<ComputeShape> = fc
    .tuple(amount, fc.option(fc.record({ typeId: fc.constantFrom(...TYPES), count: fc.integer({ min: 1, max: 3 }) })))
    .map(([size, gpu]) => ({ ...size, gpu }))
  // A floor above every allowed version could be met by no host at all.
  const cuda = fc
    .tuple(fc.subarray(VERSIONS), fc.option(fc.constantFrom(...VERSIONS)))
    .filter(([allowed, min]) => min === null || allowed.every((version) => VERSIONS.indexOf(version) >= VERSIONS.indexOf(min)))
  const anyRequest: fc.Arbitrary<PlacementRequest> = fc
    .record({
      teamId: fc.constant('ada'),
      runtime: fc.constantFrom('docker' as const, 'process' as const),
      dataCenterIds: fc.subarray(['EU-RO-1', 'US-KS-2']),
      cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const, 'ALL' as const),
      diskGb: small,
      shapes: fc.array(shape, { minLength: 1, maxLength: 3 }),
      cuda,
    })
    .map(({ cuda: [allowedCudaVersions, minCudaVersion], ...rest }) => ({ ...rest, allowedCudaVersions, minCudaVersion }))
  const anyHost: fc.Arbitrary<PlacementHost> = fc.record({
    id: fc.constantFrom('h1', 'h2'),
    online: fc.boolean(),
    cordoned: fc.boolean(),
    dataCenterId: fc.constantFrom('EU-RO-1', 'US-KS-2', 'LOCAL-1'),
    cloud: fc.constantFrom('SECURE', 'COMMUNITY'),
    runtimes: fc.subarray(['docker', 'process']),
    sharedVolumes: fc.constant(null),
    runtimeClass: fc.constant('runc'),
    requiredClasses: fc.constant(new Map()),
    heldBy: fc.option(fc.subarray(['ada', 'bob'])),
    vcpuTotal: small,
    vcpuFree: small,
    publicIp: fc.constant(null),
    memoryMbTotal: small,
    memoryMbFree: small,
    diskGbFree: small,
    gpus: fc.uniqueArray(
      fc.record({ typeId: fc.constantFrom(...TYPES), total: small, free: small, cudaVersion: fc.option(fc.constantFrom(...VERSIONS)) }),
      {
        selector: (gpu) => gpu.typeId,
      },
    ),
  })

  const constraintOf = (failed: string) => failed.split(':')[0] ?? ''
  const wantedOf = (failed: string) => failed.split(/: | > /)[1] ?? ''
  const isCandidate = (wanted: PlacementRequest, host: PlacementHost) => rankHosts(wanted, [host]).candidates.length > 0

  /** The host with one named constraint met, and nothing else changed. */
  function relax(host: PlacementHost, failed: string, wanted: PlacementRequest): PlacementHost {
    const value = wantedOf(failed)
    const [kind, ...type] = constraintOf(failed).split(' ')
    switch (kind) {
      case 'status':
        return { ...host, online: true }
      case 'isolation':
        return { ...host, heldBy: null }
      case 'schedulable':
        return { ...host, cordoned: false }
      case 'disk':
        return { ...host, diskFull: false }
      case 'runtime':
        return { ...host, runtimes: [...host.runtimes, value] }
      case 'dataCenter':
        return { ...host, dataCenterId: value.split('|')[0] ?? '' }
      case 'cloud':
        return { ...host, cloud: value === 'COMMUNITY' ? 'COMMUNITY' : 'SECURE' }
      case 'vcpu':
        return { ...host, vcpuFree: Number(value) }
      case 'memoryMb':
        return { ...host, memoryMbFree: Number(value) }
      case 'diskGb':
        return { ...host, diskGbFree: Number(value) }
      case 'gpu': {
        const known = host.gpus.find((gpu) => gpu.typeId === type.join(' '))
        const others = host.gpus.filter((gpu) => gpu !== known)
        return { ...host, gpus: [...others, { typeId: type.join(' '), cudaVersion: null, total: 0, ...known, free: Number(value) }] }
      }
      case 'cuda': {
        // Once with its present GPUs, once with those that it would need.
        const cudaVersion = wanted.allowedCudaVersions[0] ?? wanted.minCudaVersion
        const missing = TYPES.filter((typeId) => host.gpus.every((gpu) => gpu.typeId !== typeId)).map((typeId) => ({
          typeId,
          total: 0,
          free: 0,
        }))
        return { ...host, gpus: [...host.gpus, ...missing].map((gpu) => ({ ...gpu, cudaVersion })) }
      }
      default:
        throw new Error(`unknown constraint ${failed}`)
    }
  }

  test('meeting exactly the named constraints makes a refused host a candidate, and leaving out any one does not', () => {
    let refusals = 0
    fc.assert(
      fc.property(anyRequest, anyHost, (wanted, host) => {
        const [refusal] = rankHosts(wanted, [host]).refusals
        expect(refusal === undefined).toBe(isCandidate(wanted, host))
        if (!refusal) return
        refusals++
        const constraints = [...new Map(refusal.failed.map((failed) => [constraintOf(failed), failed])).values()]
        const relaxed = (skip?: string) =>
          constraints.filter((failed) => failed !== skip).reduce((changed, failed) => relax(changed, failed, wanted), host)
        expect(isCandidate(wanted, relaxed())).toBe(true)
        for (const failed of constraints) expect(isCandidate(wanted, relaxed(failed)), `without ${failed}`).toBe(false)
      }),
      { numRuns: 2_000 },
    )
    expect(refusals).toBeGreaterThan(500)
  })

  test('hosts are listed fitting ones first, then by nearest miss, up to the requested number', () => {
    const hosts = [host('far', { vcpuFree: 0, online: false }), host('near', { vcpuFree: 0 }), host('fits')]
    expect(judgeHosts(request, hosts, 10)).toEqual([
      { hostId: 'fits', failed: [] },
      { hostId: 'near', failed: ['vcpu: 2 > 0'] },
      { hostId: 'far', failed: ['status: ONLINE > OFFLINE', 'vcpu: 2 > 0'] },
    ])
    expect(judgeHosts(request, hosts, 1)).toHaveLength(1)
  })
})
