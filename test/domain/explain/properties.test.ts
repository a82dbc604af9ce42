import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CreateClusterRequest } from '../../../src/contract/clusters/clusters.ts'
import { UpdateEndpointRequest } from '../../../src/contract/endpoints/endpoints.ts'
import { MAX_OPTIONS } from '../../../src/contract/explain-options.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { placeGang } from '../../../src/domain/cluster/gang.ts'
import { memberRequest, memberSpec, refuseCluster } from '../../../src/domain/cluster/request.ts'
import { createEndpointConfig, patchEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import type { EndpointConfig } from '../../../src/domain/endpoint/record.ts'
import { clusterOptions } from '../../../src/domain/explain/cluster-options.ts'
import { endpointOptions, endpointProbe } from '../../../src/domain/explain/endpoint-options.ts'
import { type Holder, holderAdvice } from '../../../src/domain/explain/holders.ts'
import { type PlacementHost, rankHosts } from '../../../src/domain/host/placement.ts'
import { type PodReferences, planPod } from '../../../src/domain/pod/request/request.ts'
import { placementRequestOf } from '../../../src/domain/worker/shape.ts'

const RUNS = 400
const TYPES = ['NVIDIA L4', 'NVIDIA RTX A5000', 'NVIDIA H200'] as const
const POOLS = ['AMPERE_24', 'ADA_24', 'HOPPER_141'] as const
const PLACES = ['EU-RO-1', 'US-KS-2', 'EU-NL-1'] as const
const NOTHING: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: false,
  hasRegistry: false,
  unknownDataCenter: null,
  sshKeys: [],
}

const machine = fc.record({
  online: fc.integer({ max: 9, min: 0 }).map((n) => n > 0),
  cordoned: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
  dataCenterId: fc.constantFrom(...PLACES),
  cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
  overlay: fc.constantFrom('none' as const, 'local' as const, 'routed' as const, 'routed' as const),
  heldBy: fc.constantFrom(null, null, null, [], ['ada'], ['bob']),
  vcpuFree: fc.integer({ min: 0, max: 32 }),
  memoryMbFree: fc.integer({ min: 4_096, max: 131_072 }),
  diskGbFree: fc.integer({ min: 0, max: 250 }),
  gpus: fc.uniqueArray(
    fc.record({
      typeId: fc.constantFrom(...TYPES),
      total: fc.constant(8),
      free: fc.integer({ min: 0, max: 4 }),
      cudaVersion: fc.constantFrom(null, '12.4', '12.8'),
    }),
    { minLength: 1, maxLength: 2, selector: ({ typeId }) => typeId },
  ),
})
const SAME = { publicIp: null, runtimes: ['docker'], sharedVolumes: null, runtimeClass: 'runc', vcpuTotal: 32, memoryMbTotal: 131_072 }
const fleet = fc
  .array(machine, { minLength: 1, maxLength: 12 })
  .map((hosts) => hosts.map((one, index): PlacementHost => ({ ...one, ...SAME, requiredClasses: new Map(), id: `h${index}` })))

const gpuEndpoint = fc
  .record({
    pools: fc.uniqueArray(fc.constantFrom(...POOLS), { minLength: 1, maxLength: 2 }),
    count: fc.integer({ min: 1, max: 6 }),
    minCudaVersion: fc.constantFrom(undefined, '12.8', '13.0'),
  })
  .map(({ minCudaVersion, ...gpu }) => ({ gpu: { ...gpu, ...(minCudaVersion && { minCudaVersion }) } }))
const cpuEndpoint = fc.constantFrom(4, 8, 16).map((vcpuCount) => ({ cpu: [{ id: 'cpu3c', vcpuCount }] }))
const endpoint = fc
  .record({
    compute: fc.oneof({ weight: 3, arbitrary: gpuEndpoint }, cpuEndpoint),
    disk: fc.integer({ min: 1, max: 200 }),
    dataCenterIds: fc.uniqueArray(fc.constantFrom(...PLACES), { maxLength: 2 }),
  })
  .map(({ compute, ...rest }) =>
    createEndpointConfig(SEED_CATALOG, { name: 'e', image: 'acme/idle:1', ...compute, ...rest }, { id: 'e', teamId: 'ada' }, 0),
  )
  .filter((result) => result.ok)
  .map(({ config }) => config)

/** Whether a worker finds a place, by the code that places workers. */
const hasPlace = (config: EndpointConfig, hosts: readonly PlacementHost[]) =>
  rankHosts(placementRequestOf(SEED_CATALOG, config), hosts).candidates.length > 0

describe('the promise of an option agrees with placement', () => {
  test('[WHY-10] of an endpoint: after its PATCH a worker finds a place, on any fleet', () => {
    let options = 0
    fc.assert(
      fc.property(endpoint, fleet, (config, hosts) => {
        const found = endpointOptions({ config, catalog: SEED_CATALOG, hosts })
        options += found.length
        expect(found.length).toBeLessThanOrEqual(MAX_OPTIONS)
        if (hasPlace(config, hosts)) expect(found).toEqual([])
        for (const { asked } of found) {
          expect(UpdateEndpointRequest.safeParse(asked).success).toBe(true)
          const patched = patchEndpointConfig(SEED_CATALOG, config, asked)
          expect(patched.ok && hasPlace(patched.config, hosts)).toBe(true)
        }
      }),
      { numRuns: RUNS },
    )
    expect(options).toBeGreaterThan(30)
  })

  const cluster = fc
    .record({
      gpuTypeId: fc.constantFrom(...TYPES),
      gpuCountPerPod: fc.integer({ min: 1, max: 3 }),
      podCount: fc.integer({ min: 2, max: 4 }),
      disk: fc.integer({ min: 1, max: 200 }),
      dataCenterIds: fc.uniqueArray(fc.constantFrom(...PLACES), { maxLength: 2 }),
    })
    .map(({ disk, dataCenterIds, ...compute }): CreateClusterRequest => {
      return { name: 'c', type: 'TRAINING', image: 'acme/idle:1', compute, disk, dataCenterIds }
    })
  const placed = (body: CreateClusterRequest, hosts: readonly PlacementHost[]) => {
    const planned = planPod(SEED_CATALOG, memberRequest(body), NOTHING, 'x', 0)
    return planned.ok ? placeGang('ada', memberSpec(planned.plan.spec, body), body.compute.podCount, hosts, 'pack') : null
  }

  test('[WHY-12] of a cluster: its create finds places for all members, in one data center, on any fleet', () => {
    let options = 0
    fc.assert(
      fc.property(cluster, fleet, (body, hosts) => {
        const gang = placed(body, hosts)
        fc.pre(gang !== null && !gang.ok)
        if (gang === null || gang.ok) return
        const world = { teamId: 'ada', catalog: SEED_CATALOG, hosts, references: NOTHING, strategy: 'pack' as const, nowMs: 0 }
        const found = clusterOptions(world, body, gang)
        options += found.length
        expect(found.length).toBeLessThanOrEqual(MAX_OPTIONS)
        for (const { asked } of found) {
          expect(CreateClusterRequest.safeParse(asked).success && refuseCluster(asked)).toBeNull()
          expect(placed(asked, hosts)).toMatchObject({ ok: true })
        }
      }),
      { numRuns: RUNS },
    )
    expect(options).toBeGreaterThan(30)
  })

  const holder = fc.record({
    host: fc.nat(5),
    kind: fc.constantFrom('POD' as const, 'POD' as const, 'WORKER' as const),
    gpu: fc.option(fc.record({ typeId: fc.constantFrom(...TYPES), count: fc.integer({ min: 2, max: 4 }) }), { nil: null, freq: 9 }),
    vcpus: fc.integer({ min: 8, max: 16 }),
    memoryMb: fc.integer({ min: 16_384, max: 65_536 }),
    savesNanosPerHour: fc.integer({ min: 0, max: 1_000_000_000 }),
    leavesInMs: fc.integer({ min: 0, max: 60_000 }),
  })
  const holders = fc.array(holder, { minLength: 4, maxLength: 12 }).map((all) =>
    all.map(({ host, kind, leavesInMs, ...rest }, index): Holder => {
      const of = { id: `x${index}`, name: `x${index}`, hostId: `h${host}`, diskGb: kind === 'POD' ? 0 : 10 }
      return { ...rest, ...of, kind, leavesInMs: kind === 'POD' ? null : leavesInMs }
    }),
  )
  /** The fleet once one of them is gone, worked out here. */
  const after = (hosts: readonly PlacementHost[], gone: Holder) =>
    hosts.map((host): PlacementHost => {
      if (host.id !== gone.hostId) return host
      const gpus = host.gpus.map((gpu) => ({ ...gpu, free: gpu.free + (gpu.typeId === gone.gpu?.typeId ? gone.gpu.count : 0) }))
      const [vcpuFree, memoryMbFree] = [host.vcpuFree + gone.vcpus, host.memoryMbFree + gone.memoryMb]
      return { ...host, gpus, vcpuFree, memoryMbFree, diskGbFree: host.diskGbFree + gone.diskGb }
    })

  test('[WHY-14] [WHY-15] of releasing held resources: without them a worker finds a place; the named ones save least, and leave first', () => {
    let options = 0
    fc.assert(
      fc.property(endpoint, fleet, holders, (config, hosts, held) => {
        fc.pre(!hasPlace(config, hosts))
        const probe = (host: PlacementHost) => endpointProbe({ config, catalog: SEED_CATALOG, hosts: [host] })({})
        const found = holderAdvice(held, hosts, probe, { nanosPerHour: 0, gpus: 0, pods: 0 })
        const helps = held.filter((one) => hasPlace(config, after(hosts, one)))
        const pods = helps.filter(({ kind }) => kind === 'POD').toSorted((a, b) => a.savesNanosPerHour - b.savesNanosPerHour)
        const workers = helps.filter(({ kind }) => kind === 'WORKER').map(({ leavesInMs }) => Math.ceil((leavesInMs ?? 0) / 1000))
        options += found.length
        const stops = found.filter(({ option }) => option.kind === 'STOP').map(({ option }) => option.summary)
        expect(stops).toEqual(pods.slice(0, 2).map(({ name }) => `stop your pod ${name}`))
        const waits = found.filter(({ option }) => option.kind === 'WAIT').map(({ option }) => option.waitSeconds)
        expect(waits).toEqual(workers.length === 0 ? [] : [Math.min(...workers)])
      }),
      { numRuns: 3 * RUNS },
    )
    expect(options).toBeGreaterThan(40)
  })
})
