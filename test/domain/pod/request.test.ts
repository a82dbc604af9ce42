import type { CreatePodRequest } from '../../../src/contract/pods/pods.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { envOf } from '../../../src/domain/pod/request/container.ts'
import { type PodReferences, planPod, refuseCreate } from '../../../src/domain/pod/request/request.ts'
import type { TemplateConfig } from '../../../src/domain/resources/record.ts'
import { describe, expect, it } from '../../support/unit.ts'

const GPU = 'NVIDIA L4'
const NONE: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: false,
  hasRegistry: false,
  unknownDataCenter: null,
  sshKeys: [],
}
const TEMPLATE: TemplateConfig = {
  id: 't1',
  teamId: 'a',
  name: 't',
  container: { image: 'from/template', args: 'a b', diskGb: 33, env: { A: 't', B: 't' }, ports: ['22/tcp'], registry: 'cred' },
  persistent: { sizeGb: 15, path: '/t' },
  serverless: false,
  isPublic: false,
  category: 'NVIDIA',
  startSsh: true,
  startJupyter: true,
  allowedCudaVersions: ['12.4'],
}
const body = (changes: Partial<CreatePodRequest> = {}): CreatePodRequest => ({ name: 'p', image: 'i', gpu: { id: GPU }, ...changes })
const plan = (changes: Partial<CreatePodRequest> = {}, references: Partial<PodReferences> = {}) =>
  planPod(SEED_CATALOG, body(changes), { ...NONE, ...references }, 'password', 0)
const planned = (changes: Partial<CreatePodRequest> = {}, references: Partial<PodReferences> = {}) => {
  const result = plan(changes, references)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.plan
}
const refused = (changes: Partial<CreatePodRequest>, references: Partial<PodReferences> = {}) => {
  const result = plan(changes, references)
  return result.ok ? 'ok' : (result.problem.detail ?? result.problem.key)
}

describe('the pod of a create', () => {
  it('[POD-3] [POD-6] [POD-7] has defaults', () => {
    expect(planned()).toEqual({
      templateId: null,
      deadlines: { stopAfterMs: null, terminateAfterMs: null },
      labels: {},
      diskRates: { diskNanosPerHour: 1_369_863, stoppedDiskNanosPerHour: 0 },
      pricePerHour: 0.44,
      spec: {
        container: { image: 'i', args: '', diskGb: 10, env: {}, ports: [], registry: null },
        compute: {
          kind: 'gpu',
          typeId: GPU,
          count: 1,
          allowedCudaVersions: [],
          minCudaVersion: null,
          minRamGbPerGpu: null,
          minVcpuPerGpu: null,
        },
        cloud: 'SECURE',
        dataCenterIds: [],
        mounts: {},
        globalNetworking: false,
        onHostLoss: 'WAIT',
      },
    })
  })

  it('[POD-19] costs its price times its GPUs or vCPUs', () => {
    expect(planned({ gpu: { id: GPU, count: 3 } }).pricePerHour).toBeCloseTo(1.32)
    expect(planned({ gpu: { id: GPU, count: 2 }, cloud: 'COMMUNITY' }).pricePerHour).toBeCloseTo(0.56)
    expect(planned({ gpu: undefined, cpu: { id: 'cpu5m', vcpuCount: 8 } }).pricePerHour).toBeCloseTo(0.48)
  })

  it('[CAT-30] types without any price cost nothing in both clouds, CPUs are sold in one', () => {
    for (const cloud of ['SECURE', 'COMMUNITY'] as const) expect(planned({ gpu: { id: 'NVIDIA A30' }, cloud }).pricePerHour).toBe(0)
    expect(refused({ gpu: { id: 'NVIDIA B200' }, cloud: 'COMMUNITY' })).toBe('gpu.id NVIDIA B200 is not sold in cloud COMMUNITY')
    expect(refused({ gpu: undefined, cpu: { id: 'cpu3c', vcpuCount: 2 }, cloud: 'COMMUNITY' })).toContain('not sold')
  })

  it.each([
    [GPU, 8, 'ok'],
    [GPU, 9, `gpu.count 9 is above 8, the most of ${GPU} in one pod`],
    ['NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb', 1, 'ok'],
    ['NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb', 2, expect.stringContaining('above 1')],
  ])('[POD-9] %s, %d of them: %s', (id, count, outcome) => {
    expect(refused({ gpu: { id, count } })).toEqual(outcome)
  })

  it.each([
    [2, 20, 'ok'],
    [2, 21, 'disk 21 is above 20 GB, the most for 2 vCPUs'],
    [32, 320, 'ok'],
    [32, 321, 'disk 321 is above 320 GB, the most for 32 vCPUs'],
  ])('[POD-8] %d vCPUs with %d GB of disk: %s', (vcpuCount, disk, outcome) => {
    expect(refused({ gpu: undefined, cpu: { id: 'cpu3c', vcpuCount }, disk })).toBe(outcome)
  })

  it.each([
    [1, false],
    [2, true],
    [3, false],
    [4, true],
    [6, false],
    [32, true],
    [33, false],
    [64, false],
  ])('[POD-8] %d vCPUs are sold: %s', (vcpuCount, isSold) => {
    expect(refused({ gpu: undefined, cpu: { id: 'cpu3g', vcpuCount } }) === 'ok').toBe(isSold)
  })

  it('[POD-8] memory comes from the flavor', () => {
    const spec = planned({ gpu: undefined, cpu: { id: 'cpu3g', vcpuCount: 4, memory: 16 } }).spec
    expect(spec.compute).toEqual({ kind: 'cpu', flavorId: 'cpu3g', vcpuCount: 4, memoryGb: 16 })
    expect(refused({ gpu: undefined, cpu: { id: 'cpu3g', vcpuCount: 4, memory: 15 } })).toContain('memory 15')
  })

  it.each([
    ['1/tcp', 'ok'],
    ['0/tcp', 'ports[0]: 0/tcp is not a port of a container'],
    ['65535/http', 'ok'],
    ['65536/tcp', 'ports[0]: 65536/tcp is not a port of a container'],
    ['69999/tcp', 'ports[0]: 69999/tcp is not a port of a container'],
    ['70000/tcp', 'ok'],
    ['99999/tcp', 'ok'],
    ['100000/tcp', 'ports[0]: 100000/tcp is not a port of a container'],
  ])('[POD-45] [NET-4] port %s: %s', (port, outcome) => expect(refused({ ports: [port] })).toBe(outcome))

  it('[POD-45] 64 ports pass, 65 do not', () => {
    const ports = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}/tcp`)
    expect(refused({ ports: ports(64) })).toBe('ok')
    expect(refused({ ports: ports(65) })).toBe('ports has 65 items, the most is 64')
  })

  it('[POD-9] a network volume decides the data center', () => {
    const mounts = { network: [{ volumeId: 'v', path: '/v' }] }
    const networkVolume = { id: 'v', dataCenterId: 'EU-RO-1' }
    expect(planned({ mounts }, { networkVolume }).spec.dataCenterIds).toEqual(['EU-RO-1'])
    expect(planned({ mounts, dataCenterIds: ['US-KS-2', 'EU-RO-1'] }, { networkVolume }).spec.dataCenterIds).toEqual(['EU-RO-1'])
    expect(refused({ mounts, dataCenterIds: ['US-KS-2'] }, { networkVolume })).toBe('network volume v is in EU-RO-1, not in US-KS-2')
    expect(refused({ mounts })).toBe('network volume v not found')
  })

  it('[POD-48] REPLACE and a persistent mount exclude each other, the one of a template too', () => {
    const text = 'onHostLoss REPLACE and mounts.persistent exclude each other: a persistent mount cannot leave its host'
    expect(refused({ onHostLoss: 'REPLACE', mounts: { persistent: { size: 10, path: '/a' } } })).toBe(text)
    expect(refused({ onHostLoss: 'REPLACE' }, { template: TEMPLATE })).toBe(text)
    expect(planned({ onHostLoss: 'REPLACE' }).spec.onHostLoss).toBe('REPLACE')
  })
})

describe('bodies that are refused before their ids are resolved', () => {
  it.each([
    [{ gpu: undefined }, 'exactly one of gpu or cpu must be set'],
    [{ cpu: { id: 'cpu3c', vcpuCount: 2 } }, 'exactly one of gpu or cpu must be set'],
    [{ image: undefined }, 'image is required unless templateId is set'],
    [{ image: '' }, 'image is required unless templateId is set'],
    [{ image: undefined, templateId: 't' }, undefined],
    [{ gpu: { id: GPU, allowedCudaVersions: ['12.1'], minCudaVersion: '12.0' } }, expect.stringContaining('exclude each other')],
    [{ gpu: { id: GPU, allowedCudaVersions: [], minCudaVersion: '12.0' } }, undefined],
    [{ globalNetworking: true }, undefined],
  ])('[POD-4] [POD-5] [POD-7] %j: %s', (changes, detail) => expect(refuseCreate(body(changes))?.detail).toEqual(detail))
})

describe('a template', () => {
  it('[POD-11] fills the omitted members', () => {
    const { spec, templateId } = planned({ image: undefined, env: { B: 'body', C: 'body' } }, { template: TEMPLATE, sshKeys: ['key'] })
    expect(templateId).toBe('t1')
    expect(spec.container).toEqual({ ...TEMPLATE.container, env: { A: 't', B: 'body', C: 'body' } })
    expect(envOf(spec)).toEqual({ PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password', A: 't', B: 'body', C: 'body' })
    expect(spec.mounts).toEqual({ persistent: { sizeGb: 15, path: '/t' } })
    expect(spec.compute).toMatchObject({ allowedCudaVersions: ['12.4'], minCudaVersion: null })
  })

  it('[POD-11] [POD-38] is overridden by the body, member by member', () => {
    const own = { image: 'own', args: '', disk: 5, ports: [], registry: null, startSsh: false, startJupyter: false }
    const mounts = { persistent: { size: 12, path: '/own' } }
    const { spec } = planned({ ...own, mounts }, { template: TEMPLATE, sshKeys: ['key'] })
    expect(spec.container).toEqual({ image: 'own', args: '', diskGb: 5, env: { A: 't', B: 't' }, ports: [], registry: null })
    expect(spec.mounts).toEqual({ persistent: { sizeGb: 12, path: '/own' } })
    const global = planned({ mounts: { global: [{ volumeId: 'g' }] } }, { template: TEMPLATE, hasGlobalVolume: true })
    expect(global.spec.mounts).toEqual({ global: { volumeId: 'g', path: '/workspace-global' } })
    expect(planned({ mounts: { network: [] } }, { template: TEMPLATE }).spec.mounts).toEqual({ persistent: { sizeGb: 15, path: '/t' } })
  })

  it.each([
    [{}, ['12.4'], null],
    [{ minCudaVersion: '12.0' }, [], '12.0'],
    [{ allowedCudaVersions: [] }, [], null],
    [{ allowedCudaVersions: ['11.8'] }, ['11.8'], null],
  ])('[POD-11] its CUDA set beside %j: %j, %s', (cuda, allowedCudaVersions, minCudaVersion) => {
    expect(planned({ gpu: { id: GPU, ...cuda } }, { template: TEMPLATE }).spec.compute).toMatchObject({
      allowedCudaVersions,
      minCudaVersion,
    })
  })

  it('[POD-11] a CPU pod ignores its mount and its CUDA set', () => {
    const { spec } = planned({ gpu: undefined, cpu: { id: 'cpu3c', vcpuCount: 4 } }, { template: TEMPLATE })
    expect(spec).toMatchObject({ mounts: {}, compute: { kind: 'cpu' } })
  })

  it('[RATE-6] may fill a body up to the cap and not beyond', () => {
    const big = (bytes: number) => ({ ...TEMPLATE, container: { ...TEMPLATE.container, env: { BIG: 'ä'.repeat(bytes / 2) } } })
    expect(refused({}, { template: big(100_000) })).toBe('ok')
    expect(refused({}, { template: big(102_400) })).toBe('payloadTooLarge')
  })
})

describe('access', () => {
  const env = (changes: Partial<CreatePodRequest>, sshKeys: string[] = ['k1', 'k2']) => envOf(planned(changes, { sshKeys }).spec)
  it('[POD-20] keys and password are injected when asked for, unless env has them; no keys, nothing', () => {
    expect(env({})).toEqual({})
    expect(env({ startSsh: true })).toEqual({ PUBLIC_KEY: 'k1\nk2' })
    expect(env({ startSsh: true }, [])).toEqual({})
    expect(env({ startSsh: true, env: { PUBLIC_KEY: '' } })).toEqual({ PUBLIC_KEY: '' })
    expect(env({ startJupyter: true })).toEqual({ JUPYTER_PASSWORD: 'password' })
    // Only the user's variable is stored: removing it uncovers no injected one.
    expect(planned({ startSsh: true, env: { PUBLIC_KEY: 'mine' } }, { sshKeys: ['k1'] }).spec.accessEnv).toBeUndefined()
    expect(env({ startJupyter: true, env: { JUPYTER_PASSWORD: 'own' } })).toEqual({ JUPYTER_PASSWORD: 'own' })
  })

  it('[NET-5] startSsh is stored with the pod, with keys or without, whatever env has', () => {
    const kept = (changes: Partial<CreatePodRequest>, sshKeys: string[] = []) => planned(changes, { sshKeys }).spec.startSsh
    expect([
      kept({}),
      kept({ startSsh: false }),
      kept({ startSsh: true }),
      kept({ startSsh: true, env: { PUBLIC_KEY: '' } }, ['k']),
    ]).toEqual([undefined, undefined, true, true])
  })
})
