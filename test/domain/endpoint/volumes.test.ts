import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import type { EndpointConfig } from '../../../src/domain/endpoint/record.ts'
import { isNewRelease } from '../../../src/domain/endpoint/release-diff.ts'
import { placeVolumes, workerDataCenters, workerMounts } from '../../../src/domain/endpoint/volumes.ts'
import { type PlacementHost, rankHosts } from '../../../src/domain/host/placement.ts'
import { placementRequestOf } from '../../../src/domain/worker/shape.ts'
import { describe, expect, it } from '../../support/unit.ts'

const FOUND = [
  { id: 'v1', dataCenterId: 'DC-1' },
  { id: 'v2', dataCenterId: 'DC-2' },
  { id: 'twin', dataCenterId: 'DC-1' },
]
const CONFIG: EndpointConfig = {
  id: 'e',
  teamId: 'team',
  name: 'n',
  type: 'QUEUE',
  version: 1,
  revision: 1,
  container: { image: 'i', args: '', diskGb: 10, env: {}, ports: [], registry: null },
  compute: { kind: 'cpu', options: [{ id: 'cpu3c', vcpuCount: 2 }] },
  workers: { min: 0, max: 3, idleTimeoutSeconds: 5 },
  scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
  timeoutMs: 600_000,
  flashboot: 'OFF',
  dataCenterIds: [],
  networkVolumes: [],
  createdAt: '2026-06-01T12:00:00Z',
}

function makeHost(change: Partial<PlacementHost>): PlacementHost {
  const room = { vcpuTotal: 8, vcpuFree: 8, memoryMbTotal: 65_536, memoryMbFree: 65_536, diskGbFree: 100, gpus: [] }
  const limits = { runtimeClass: 'runc', requiredClasses: new Map<string, string>(), heldBy: null, publicIp: null }
  const base = { id: 'h', online: true, cordoned: false, dataCenterId: 'DC-1', cloud: 'SECURE' as const, runtimes: ['docker'] }
  return { ...base, ...room, ...limits, sharedVolumes: null, ...change }
}

function place(change: Partial<EndpointConfig>): EndpointConfig {
  const result = placeVolumes({ ...CONFIG, ...change }, FOUND)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.config
}

describe('[END-20] network volumes of an endpoint', () => {
  it('determine the data centers of workers, in the order that the endpoint prefers', () => {
    const both = place({ networkVolumes: ['v1', 'v2'] })
    expect(both.volumeAt).toEqual({ 'DC-1': 'v1', 'DC-2': 'v2' })
    expect(workerDataCenters(both)).toEqual(['DC-1', 'DC-2'])
    expect(workerDataCenters({ ...both, dataCenterIds: ['DC-3', 'DC-2', 'DC-1'] })).toEqual(['DC-2', 'DC-1'])
    expect(workerDataCenters(place({ dataCenterIds: ['DC-3'] }))).toEqual(['DC-3'])
  })

  it('are mounted in each worker from its own data center', () => {
    const both = place({ networkVolumes: ['v1', 'v2'] })
    expect(workerMounts(both, 'DC-2')).toEqual([{ kind: 'network', id: 'v2', path: '/runpod-volume' }])
    expect(workerMounts(CONFIG, 'DC-2')).toEqual([])
  })

  it('are only placed on hosts that offer such volumes', () => {
    const request = placementRequestOf(SEED_CATALOG, place({ networkVolumes: ['v2'] }))
    const hosts = [
      makeHost({ id: 'none', dataCenterId: 'DC-2', sharedVolumes: [] }),
      makeHost({ id: 'elsewhere', dataCenterId: 'DC-1', sharedVolumes: ['network'] }),
      makeHost({ id: 'good', dataCenterId: 'DC-2', sharedVolumes: ['network'] }),
    ]
    expect(rankHosts(request, hosts)).toMatchObject({
      candidates: [{ hostId: 'good' }],
      refusals: [
        { hostId: 'none', failed: ['networkVolumes: yes > none'] },
        { hostId: 'elsewhere', failed: ['dataCenter: DC-2 > DC-1'] },
      ],
    })
  })

  it('make a release when they change, and leave nothing behind when they go', () => {
    const one = place({ networkVolumes: ['v1'] })
    expect(isNewRelease(CONFIG, one)).toBe(true)
    expect(placeVolumes({ ...one, networkVolumes: [] }, [])).toEqual({ ok: true, config: CONFIG })
  })
})

it.each<[string, Partial<EndpointConfig>, string]>([
  ['that do not exist', { networkVolumes: ['v1', 'nope'] }, 'network volume nope not found'],
  ['twice', { networkVolumes: ['v1', 'v1'] }, 'networkVolumes: v1 is listed twice'],
  ['of one data center', { networkVolumes: ['v1', 'twin'] }, 'networkVolumes: v1 and twin are both in DC-1; list one for each data center'],
  [
    'where no worker may be',
    { networkVolumes: ['v1', 'v2'], dataCenterIds: ['DC-3'] },
    'networkVolumes: workers run in the data center of a volume (DC-1, DC-2), and dataCenterIds has none of these',
  ],
])('[END-21] volumes %s are refused', (_title, change, detail) => {
  expect(placeVolumes({ ...CONFIG, ...change }, FOUND)).toMatchObject({ ok: false, problem: { key: 'badRequest', detail } })
})
