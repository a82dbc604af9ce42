import type { Pod } from '../../../src/contract/pods/pods.ts'
import type { V1CreatePod } from '../../../src/contract/v1/bodies.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { inV1Terms } from '../../../src/domain/flat/container.ts'
import { podPatch } from '../../../src/domain/flat/pod-patch.ts'
import { podCandidates, v1Pod } from '../../../src/domain/v1/pods.ts'
import { describe, expect, it } from '../../support/unit.ts'

const bodiesOf = (body: V1CreatePod) => {
  const result = podCandidates(body, SEED_CATALOG)
  if (!result.ok) throw new Error(result.detail)
  return result.bodies
}
const GPU = { count: 1, minRamPerGpu: 8, minVcpuCountPerGpu: 2 }

describe('a create of v1 in v2', () => {
  it('[LEG-6] with nothing but an image and types has the defaults of v1, once a type', () => {
    const shared = {
      name: 'my pod',
      image: 'img',
      disk: 50,
      ports: ['8888/http', '22/tcp'],
      mounts: { persistent: { size: 20, path: '/workspace' } },
      startSsh: true,
    }
    expect(bodiesOf({ imageName: 'img', gpuTypeIds: ['NVIDIA L4', 'NVIDIA A40'] })).toEqual([
      { ...shared, gpu: { id: 'NVIDIA L4', ...GPU } },
      { ...shared, gpu: { id: 'NVIDIA A40', ...GPU } },
    ])
  })

  it('[LEG-6] every member of v1 has its place', () => {
    const body: V1CreatePod = {
      name: 'n',
      imageName: 'img',
      containerDiskInGb: 5,
      containerRegistryAuthId: 'r1',
      dockerEntrypoint: ['sh'],
      dockerStartCmd: ['-c', 'x'],
      env: { A: '1' },
      ports: ['80/http'],
      cloudType: 'COMMUNITY',
      dataCenterIds: ['US-KS-2', 'EU-RO-1'],
      gpuTypeIds: ['NVIDIA L4'],
      gpuCount: 2,
      minRAMPerGPU: 16,
      minVCPUPerGPU: 4,
      allowedCudaVersions: ['12.8'],
      networkVolumeId: 'v1',
      volumeMountPath: '/data',
      volumeInGb: 20,
      globalNetworking: false,
    }
    expect(bodiesOf(body)).toEqual([
      {
        name: 'n',
        image: 'img',
        disk: 5,
        registry: 'r1',
        entrypoint: ['sh'],
        cmd: ['-c', 'x'],
        env: { A: '1' },
        ports: ['80/http'],
        cloud: 'COMMUNITY',
        dataCenterIds: ['US-KS-2', 'EU-RO-1'],
        gpu: { id: 'NVIDIA L4', count: 2, minRamPerGpu: 16, minVcpuCountPerGpu: 4, allowedCudaVersions: ['12.8'] },
        mounts: { network: [{ volumeId: 'v1', path: '/data' }] },
        globalNetworking: false,
        startSsh: true,
      },
    ])
  })

  it('[LEG-6] a template fills what the body leaves out', () => {
    const [body] = bodiesOf({ templateId: 't1', gpuTypeIds: ['NVIDIA L4'], containerDiskInGb: 9 })
    expect(body).toEqual({ name: 'my pod', templateId: 't1', disk: 9, gpu: { id: 'NVIDIA L4', ...GPU }, startSsh: true })
  })

  it('[LEG-6] countries are the data centers in them, those that were named if any were', () => {
    const placesOf = (body: V1CreatePod) => bodiesOf({ imageName: 'img', computeType: 'CPU', ...body })[0]?.dataCenterIds
    expect(placesOf({ countryCodes: ['RO', 'CZ'] })).toEqual(['EU-RO-1', 'EU-CZ-1'])
    expect(placesOf({ countryCodes: ['RO'], dataCenterIds: ['US-KS-2', 'EU-RO-1'] })).toEqual(['EU-RO-1'])
    expect(placesOf({})).toBeUndefined()
    const nowhere = podCandidates({ countryCodes: ['RO'], dataCenterIds: ['US-KS-2'], computeType: 'CPU' }, SEED_CATALOG)
    expect(nowhere).toEqual({ ok: false, detail: '$.countryCodes: no data center of dataCenterIds is in these countries' })
  })

  it.each([
    [0, undefined],
    [1, 10],
    [10, 10],
    [11, 11],
  ])('[LEG-6] a volume of %i GB is one of %j', (volumeInGb, size) => {
    const [body] = bodiesOf({ imageName: 'img', gpuTypeIds: ['NVIDIA L4'], volumeInGb })
    expect(body?.mounts?.persistent?.size).toBe(size)
  })

  it('[LEG-6] a CPU pod has disk for its vCPUs, and flavors in the order that was named', () => {
    const bodies = bodiesOf({ imageName: 'img', cpuFlavorIds: ['cpu5m', 'cpu3c'], vcpuCount: 4 })
    expect(bodies.map(({ cpu, disk, mounts }) => ({ cpu, disk, mounts }))).toEqual([
      { cpu: { id: 'cpu5m', vcpuCount: 4 }, disk: 40, mounts: undefined },
      { cpu: { id: 'cpu3c', vcpuCount: 4 }, disk: 40, mounts: undefined },
    ])
  })
})

describe('an update of v1 in v2', () => {
  it.each<[string, Parameters<typeof podPatch>, object]>([
    ['nothing of volumes', [{ name: 'n', env: {} }, {}], { name: 'n', env: {} }],
    [
      'a larger volume keeps its path',
      [{ volumeInGb: 30 }, { persistent: { size: 20, path: '/w' } }],
      { mounts: { persistent: { size: 30, path: '/w' } } },
    ],
    [
      'another path keeps the size',
      [{ volumeMountPath: '/x' }, { persistent: { size: 20, path: '/w' } }],
      { mounts: { persistent: { size: 20, path: '/x' } } },
    ],
    [
      'the path of a network volume',
      [{ volumeMountPath: '/x' }, { network: [{ volumeId: 'v', path: '/w' }] }],
      { mounts: { network: [{ volumeId: 'v', path: '/x' }] } },
    ],
  ])('[LEG-6] %s', (_title, [body, mounts], patch) => expect(podPatch(body, mounts)).toEqual(patch))
})

describe('a pod of v2 in v1', () => {
  const pod: Pod = {
    id: 'p1',
    name: 'n',
    image: 'img',
    args: '',
    cmd: [],
    entrypoint: [],
    disk: 5,
    env: {},
    ports: ['22/tcp'],
    registry: null,
    status: 'RUNNING',
    statusReason: null,
    actions: [],
    mounts: {},
    gpu: { id: 'NVIDIA L4', count: 1, vcpuCount: 7.5, memory: 31.9 },
    cloud: 'SECURE',
    dataCenterId: 'EU-RO-1',
    cudaVersion: '12.8',
    ssh: { proxy: null, direct: null },
    template: null,
    cost: 0.44,
    locked: false,
    globalNetworking: { enabled: false },
    onHostLoss: 'WAIT',
    stopAfter: null,
    terminateAfter: null,
    idleStop: null,
    labels: {},
    runtime: {
      uptime: 7,
      ports: [
        { private: 22, public: 10_341, type: 'tcp', ip: '195.26.233.3' },
        { private: 8888, public: 40_000, type: 'http', ip: '100.64.0.1' },
        { private: 23, public: null, type: 'tcp', ip: null },
      ],
    },
    createdAt: '2026-11-15T12:00:00Z',
    startedAt: '2026-11-15T12:00:05Z',
  }

  it('[LEG-7] sizes are whole, ports are a map, what is not known is null', () => {
    expect(v1Pod(pod, SEED_CATALOG)).toMatchObject({
      desiredStatus: 'RUNNING',
      vcpuCount: 7,
      memoryInGb: 31,
      gpu: { id: 'NVIDIA L4', count: 1, displayName: 'L4' },
      publicIp: '195.26.233.3',
      portMappings: { 22: 10_341 },
      templateId: null,
      networkVolumeId: null,
      volumeMountPath: '',
      lastStatusChange: '2026-11-15T12:00:05Z',
    })
    expect(v1Pod({ ...pod, runtime: null, startedAt: null }, SEED_CATALOG)).toMatchObject({
      publicIp: '',
      portMappings: {},
      uptimeSeconds: 0,
    })
  })

  it.each([
    ['PROVISIONING', 'RUNNING'],
    ['STARTING', 'RUNNING'],
    ['EXITED', 'EXITED'],
    ['ERROR', 'EXITED'],
    ['TERMINATED', 'TERMINATED'],
  ] as const)('[LEG-7] %s is %s', (status, desired) => expect(v1Pod({ ...pod, status }, SEED_CATALOG).desiredStatus).toBe(desired))
})

describe('errors in the terms of v1', () => {
  it.each([
    ['$.disk: minimum: got 0, want 1', '$.containerDiskInGb: minimum: got 0, want 1'],
    ['$.env.A: got number, want string', '$.env.A: got number, want string'],
    ['$.ports[1]: does not match pattern', '$.ports[1]: does not match pattern'],
    ['$.mounts.persistent.size: minimum', '$.volumeInGb: minimum'],
    ['$.gpu.count: minimum: got 0, want 1', '$.gpuCount: minimum: got 0, want 1'],
    ['$.diskette: x', '$.diskette: x'],
    ["$: missing property 'name'", "$: missing property 'name'"],
  ])('[LEG-5] %s', (v2, v1) => expect(inV1Terms(v2)).toBe(v1))
})
