import type { CreateEndpointRequest, UpdateEndpointRequest } from '../../../src/contract/endpoints/endpoints.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { createEndpointConfig, patchEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import type { EndpointConfig } from '../../../src/domain/endpoint/record.ts'
import { placementRequestOf } from '../../../src/domain/worker/shape.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = Date.UTC(2026, 5, 1, 12, 0, 0, 999)
const IDS = { id: 'e'.repeat(14), teamId: 'team' }
const BODY: CreateEndpointRequest = { name: 'n', image: 'i', gpu: { pools: ['ADA_24'] } }

function create(changes: CreateEndpointRequest = {}): EndpointConfig {
  const result = createEndpointConfig(SEED_CATALOG, { ...BODY, ...changes }, IDS, NOW)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.config
}

function refusal(changes: CreateEndpointRequest) {
  const result = createEndpointConfig(SEED_CATALOG, { ...BODY, ...changes }, IDS, NOW)
  return result.ok ? 'accepted' : [result.problem.key, result.problem.detail ?? result.problem.errors]
}

function patch(config: EndpointConfig, body: UpdateEndpointRequest) {
  const result = patchEndpointConfig(SEED_CATALOG, config, body)
  if (!result.ok) throw new Error(result.problem.detail)
  return result
}

function patchRefusal(config: EndpointConfig, body: UpdateEndpointRequest) {
  const result = patchEndpointConfig(SEED_CATALOG, config, body)
  return result.ok ? 'accepted' : result.problem.detail
}

describe('[END-31] the cloud of workers', () => {
  it.each(['SECURE', 'COMMUNITY', 'ALL'] as const)('%s reaches placement', (cloud) => {
    expect(placementRequestOf(SEED_CATALOG, create({ cloud })).cloud).toBe(cloud)
  })

  it('is SECURE for an endpoint that was created without one', () => {
    const { cloud: _cloud, ...old } = create()
    expect(placementRequestOf(SEED_CATALOG, old).cloud).toBe('SECURE')
    expect(patch(old, { cloud: 'SECURE' }).changed).toBe(false)
  })
})

describe('create', () => {
  it('[END-2][END-6][END-7][POD-6] fills the defaults', () => {
    expect(create()).toEqual({
      ...IDS,
      name: 'n',
      type: 'QUEUE',
      version: 1,
      revision: 1,
      container: { image: 'i', args: '', diskGb: 10, env: {}, ports: [], registry: null },
      compute: { kind: 'gpu', pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
      workers: { min: 0, max: 3, idleTimeoutSeconds: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      timeoutMs: 600_000,
      flashboot: 'OFF',
      dataCenterIds: [],
      cloud: 'SECURE',
      networkVolumes: [],
      createdAt: '2026-06-01T12:00:00Z',
    })
  })

  const refused: [string, CreateEndpointRequest, unknown][] = [
    ['[END-2] no name', { name: undefined }, ['validationFailed', ["$: missing property 'name'"]]],
    ['[END-3] no image', { image: undefined }, ['badRequest', 'image is required unless templateId is set']],
    ['[END-2] neither gpu nor cpu', { gpu: undefined }, ['badRequest', 'exactly one of gpu and cpu is required']],
    ['[END-2] both gpu and cpu', { cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }, ['badRequest', 'exactly one of gpu and cpu is required']],
    ['[END-4] an unknown pool', { gpu: { pools: ['NOPE'] } }, ['badRequest', 'gpu pool NOPE not found']],
    [
      '[END-4] an exclusion outside the pools',
      { gpu: { pools: ['ADA_24'], excludedTypes: ['NVIDIA L4'] } },
      ['badRequest', 'excluded type NVIDIA L4 is not in the selected pools'],
    ],
    [
      '[END-4] exclusions that leave nothing',
      { gpu: { pools: ['ADA_24'], excludedTypes: ['NVIDIA GeForce RTX 4090'] } },
      ['badRequest', 'gpu.excludedTypes leaves no GPU type'],
    ],
    [
      '[POD-7] a CUDA set with a floor',
      { gpu: { pools: ['ADA_24'], allowedCudaVersions: ['12.8'], minCudaVersion: '12.1' } },
      ['badRequest', 'allowedCudaVersions and minCudaVersion exclude each other'],
    ],
    [
      '[REST-32] more GPUs than one worker can have',
      { gpu: { pools: ['ADA_24', 'AMPERE_24'], count: 9 } },
      ['badRequest', 'gpu.count 9 is above 8, the most of these GPU types in one worker'],
    ],
    [
      '[REST-32] a built-in image that is none',
      { image: 'builtin/nothing' },
      ['badRequest', 'image builtin/nothing is no built-in image; there are builtin/echo, builtin/idle, builtin/probe'],
    ],
    ['[END-6] min above max', { workers: { min: 4 } }, ['badRequest', 'workers.min 4 is above workers.max 3']],
    [
      '[END-6] idleTimeout with REQUEST_COUNT',
      { scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { idleTimeout: 5 } },
      ['badRequest', 'workers.idleTimeout is not used with scaling type REQUEST_COUNT'],
    ],
    [
      '[END-5] QUEUE_DELAY on a load balancing endpoint',
      { type: 'LOAD_BALANCER', scaling: { type: 'QUEUE_DELAY', queueDelay: 4 } },
      ['badRequest', 'scaling type QUEUE_DELAY is for QUEUE endpoints only'],
    ],
    [
      '[END-10] a PORT that is none',
      { type: 'LOAD_BALANCER', env: { PORT: 'http' } },
      ['badRequest', "env.PORT 'http' is not a port; give a number from 1 to 65535"],
    ],
    [
      '[END-20][REST-32] a network volume for a built-in image',
      { image: 'builtin/echo', networkVolumes: ['v1'] },
      ['badRequest', 'image builtin/echo takes no mounts: built-in images run outside any container'],
    ],
  ]
  for (const [title, changes, expected] of refused) it(`${title} is refused`, () => expect(refusal(changes)).toEqual(expected))

  it('[END-2, END-6, LB-19] a load-balancing endpoint has a scaling of its own, an idle timeout with it, and any flashboot', () => {
    for (const flashboot of ['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'] as const) {
      const config = create({ type: 'LOAD_BALANCER', flashboot, workers: { idleTimeout: 30 } })
      expect([config.scaling, config.workers.idleTimeoutSeconds, config.flashboot]).toEqual([
        { type: 'REQUEST_COUNT', requestCount: 4 },
        30,
        flashboot,
      ])
    }
  })

  it('[POD-7] an empty CUDA set may accompany a floor', () => {
    expect(create({ gpu: { pools: ['ADA_24'], allowedCudaVersions: [], minCudaVersion: '12.1' } }).compute).toMatchObject({
      minCudaVersion: '12.1',
    })
  })

  it('[END-4] excluded types are trimmed', () => {
    const { compute } = create({ gpu: { pools: ['AMPERE_24'], excludedTypes: ['  NVIDIA L4 '] } })
    expect(compute).toMatchObject({ excludedTypes: ['NVIDIA L4'] })
  })

  it('[END-7] a boolean flashboot is FLASHBOOT or OFF', () => {
    expect(create({ flashboot: true }).flashboot).toBe('FLASHBOOT')
    expect(create({ flashboot: false }).flashboot).toBe('OFF')
  })

  it('[CON-7] registry null and empty mean none', () => {
    expect(create({ registry: null }).container.registry).toBeNull()
    expect(create({ registry: '' }).container.registry).toBeNull()
  })

  it('[END-6] workers.max 0 is a paused endpoint', () => expect(create({ workers: { max: 0 } }).workers.max).toBe(0))
})

describe('cpu', () => {
  const cpu = (...options: NonNullable<CreateEndpointRequest['cpu']>) => ({ gpu: undefined, cpu: options })

  it('[END-4] keeps the order, and one flavor at several sizes', () => {
    const config = create(cpu({ id: 'cpu5c', vcpuCount: 4 }, { id: 'cpu3c', vcpuCount: 2 }, { id: 'cpu3c', vcpuCount: 8 }))
    expect(config.compute).toEqual({
      kind: 'cpu',
      options: [
        { id: 'cpu5c', vcpuCount: 4 },
        { id: 'cpu3c', vcpuCount: 2 },
        { id: 'cpu3c', vcpuCount: 8 },
      ],
    })
  })

  it('[POD-8][REST-4] refuses an unknown flavor, a wrong size and a wrong memory', () => {
    expect(refusal(cpu({ id: 'cpu9', vcpuCount: 2 }))).toEqual(['badRequest', 'cpu flavor cpu9 not found'])
    expect(refusal(cpu({ id: 'cpu3c', vcpuCount: 6 }))).toEqual(['badRequest', 'vcpuCount 6 is not valid for cpu3c'])
    expect(refusal(cpu({ id: 'cpu3c', vcpuCount: 64 }))).toEqual(['badRequest', 'vcpuCount 64 is not valid for cpu3c'])
    expect(refusal(cpu({ id: 'cpu3c', vcpuCount: 2, memory: 5 }))).toEqual(['badRequest', 'memory 5 is not valid for cpu3c with 2 vCPUs'])
    expect(refusal(cpu({ id: 'cpu3c', vcpuCount: 2, memory: 4 }))).toBe('accepted')
  })

  it('[POD-8][REST-4] container disk is at most 10 GB a vCPU', () => {
    expect(refusal({ ...cpu({ id: 'cpu3c', vcpuCount: 2 }), disk: 20 })).toBe('accepted')
    expect(refusal({ ...cpu({ id: 'cpu3c', vcpuCount: 2 }), disk: 21 })).toEqual([
      'badRequest',
      'disk 21 is above 20 GB, the most for 2 vCPUs',
    ])
  })
})

describe('patch', () => {
  it('[STRICT-3] an empty body changes nothing, nor does one that repeats the current values', () => {
    const config = create()
    expect(patch(config, {})).toEqual({ ok: true, config, changed: false, releaseDiff: null })
    expect(patch(config, { name: 'n', type: 'QUEUE', workers: { max: 3 }, gpu: { pools: ['ADA_24'] } }).changed).toBe(false)
  })

  it('[END-12] bounds, scaling, timeout and name raise the revision without a release', () => {
    const result = patch(create(), { name: 'm', workers: { max: 9 }, timeout: 5000, scaling: { type: 'QUEUE_DELAY', queueDelay: 1 } })
    expect(result).toMatchObject({ changed: true, releaseDiff: null, config: { version: 1, revision: 2, name: 'm', timeoutMs: 5000 } })
    expect(result.config.workers).toEqual({ min: 0, max: 9, idleTimeoutSeconds: 5 })
  })

  it('[END-12][END-14][REST-7] a change of the container is a release with its differences', () => {
    const result = patch(create({ env: { A: '1' } }), { image: 'j', env: { A: '2' }, workers: { max: 4 } })
    expect(result).toMatchObject({ changed: true, config: { version: 2, revision: 2 } })
    expect(result.releaseDiff).toEqual([
      { field: 'template.imageName', old: 'i', new: 'j' },
      { field: 'template.env', old: { A: '1' }, new: { A: '2' } },
      { field: 'workers.max', old: 3, new: 4 },
    ])
  })

  it('[END-12] a change of placement is a release', () => {
    expect(patch(create(), { dataCenterIds: ['US-KS-2'] }).config.version).toBe(2)
    expect(patch(create(), { cloud: 'ALL' })).toMatchObject({
      config: { version: 2, cloud: 'ALL' },
      releaseDiff: [{ field: 'cloud', old: 'SECURE', new: 'ALL' }],
    })
    expect(patch(create(), { cloud: 'SECURE' }).changed).toBe(false)
    expect(patch(create(), { gpu: { count: 2 } }).config.version).toBe(2)
  })

  it('[END-11] pools alone clears the exclusions; without pools both stay', () => {
    const config = create({ gpu: { pools: ['AMPERE_24'], excludedTypes: ['NVIDIA L4'] } })
    expect(patch(config, { gpu: { pools: ['AMPERE_24', 'ADA_24'] } }).config.compute).toMatchObject({ excludedTypes: [] })
    expect(patch(config, { gpu: { count: 2 } }).config.compute).toMatchObject({
      pools: ['AMPERE_24'],
      excludedTypes: ['NVIDIA L4'],
      count: 2,
    })
    expect(patchRefusal(config, { gpu: { excludedTypes: [] } })).toBe('gpu.excludedTypes needs gpu.pools')
  })

  it('[END-11] an empty CUDA member clears itself and leaves the other', () => {
    const floor = create({ gpu: { pools: ['ADA_24'], minCudaVersion: '12.1' } })
    expect(patch(floor, { gpu: { minCudaVersion: '' } }).config.compute).toMatchObject({ minCudaVersion: null })
    expect(patch(floor, { gpu: { allowedCudaVersions: [] } }).config.compute).toMatchObject({ minCudaVersion: '12.1' })
    expect(patchRefusal(floor, { gpu: { allowedCudaVersions: ['12.8'] } })).toBe(
      'allowedCudaVersions and minCudaVersion exclude each other',
    )
    expect(patch(floor, { gpu: { allowedCudaVersions: ['12.8'], minCudaVersion: '' } }).config.compute).toMatchObject({
      allowedCudaVersions: ['12.8'],
      minCudaVersion: null,
    })
  })

  it('[END-11] refuses another type, another kind of compute and an empty image', () => {
    const config = create()
    expect(patchRefusal(config, { type: 'LOAD_BALANCER' })).toBe('type cannot be changed')
    expect(patchRefusal(config, { cpu: [{ id: 'cpu3c', vcpuCount: 2 }] })).toBe('an endpoint cannot change between gpu and cpu')
    expect(patchRefusal(create({ gpu: undefined, cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }), { gpu: {} })).toBe(
      'an endpoint cannot change between gpu and cpu',
    )
    expect(patchRefusal(config, { image: '' })).toBe('image cannot be empty')
  })

  it('[END-6] bounds are checked against the unchanged ones', () => {
    expect(patchRefusal(create({ workers: { min: 2 } }), { workers: { max: 1 } })).toBe('workers.min 2 is above workers.max 1')
  })

  it('[CON-3][CON-4] the command follows the container rules', () => {
    const config = create({ args: 'python a.py' })
    expect(patch(config, { entrypoint: ['tini'] }).config.container.args).toBe('{"entrypoint":["tini"],"cmd":["python","a.py"]}')
    expect(patchRefusal(config, { args: 'x', cmd: ['y'] })).toMatch(/different commands/)
  })
})
