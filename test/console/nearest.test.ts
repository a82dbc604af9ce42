import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clusterBody, EMPTY_CLUSTER, withClusterOption } from '../../src/console/pages/clusters/cluster-form.ts'
import { askedBody, EMPTY_POD, type PodText, withOption } from '../../src/console/pages/pods/create/pod-form.ts'
import { reasonsOf } from '../../src/console/pages/pods/create/reasons.ts'
import type { CreatePodRequest } from '../../src/contract/pods/pods.ts'
import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { podLadders } from '../../src/domain/explain/pod-changes.ts'
import type { PlacementHost } from '../../src/domain/host/placement.ts'
import { type PodReferences, planPod } from '../../src/domain/pod/request/request.ts'

const REFERENCES: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: false,
  hasRegistry: false,
  unknownDataCenter: null,
  sshKeys: [],
}
const HOST: PlacementHost = {
  id: 'a',
  online: true,
  cordoned: false,
  dataCenterId: 'EU-NL-1',
  cloud: 'SECURE',
  runtimes: ['docker'],
  sharedVolumes: null,
  runtimeClass: 'runc',
  requiredClasses: new Map(),
  heldBy: null,
  overlay: 'none',
  publicIp: null,
  vcpuTotal: 32,
  vcpuFree: 32,
  memoryMbTotal: 131_072,
  memoryMbFree: 131_072,
  diskGbFree: 60,
  gpus: [{ typeId: 'NVIDIA RTX A5000', total: 2, free: 2, cudaVersion: '12.8' }],
}
const POD: PodText = { ...EMPTY_POD, name: 'lab', gpuId: 'NVIDIA L4', container: { ...EMPTY_POD.container, image: 'acme/idle:1' } }

const planOf = (body: CreatePodRequest) => planPod(SEED_CATALOG, body, REFERENCES, 'x', 0)

describe('[UI-6] the nearest miss of a new pod', () => {
  it('becomes the same request in the form as the option has, whatever the option changes', () => {
    const forms = fc.record({
      kind: fc.constantFrom('gpu' as const, 'cpu' as const),
      gpuCount: fc.constantFrom('1', '3'),
      cloud: fc.constantFrom('SECURE' as const, 'COMMUNITY' as const),
      isAnyCuda: fc.boolean(),
      cpuId: fc.constant(SEED_CATALOG.cpuFlavors[0]?.id ?? ''),
      vcpuCount: fc.constantFrom('4', '8'),
      dataCenters: fc.constantFrom('', 'EU-RO-1', 'EU-RO-1,US-KS-2'),
      persistentGb: fc.constantFrom('', '90'),
      globalNetworking: fc.boolean(),
      disk: fc.constantFrom('', '200'),
    })
    const seen = new Set<string>()
    fc.assert(
      fc.property(forms, ({ disk, ...change }) => {
        const text = { ...POD, ...change, container: { ...POD.container, disk } }
        const asked = askedBody(text)
        const planned = planOf(asked)
        // A request that is refused regardless of capacity has no options.
        if (!planned.ok) return
        for (const { kind, rungs } of podLadders(planned.plan.spec, SEED_CATALOG, [HOST])) {
          for (const { apply } of rungs) {
            const option = apply(asked)
            // Options that the plane would refuse, such as a CPU of the community cloud, are skipped.
            if (!planOf(option).ok) continue
            expect(planOf(askedBody(withOption(text, option))), kind).toEqual(planOf(option))
            seen.add(kind)
          }
        }
      }),
    )
    expect([...seen].sort()).toEqual(['CLOUD', 'CPU_SIZE', 'DATA_CENTER', 'DISK', 'GLOBAL_NETWORKING', 'GPU_COUNT', 'GPU_TYPE', 'VOLUME'])
    // Of a template that asks for certain versions.
    const any = { ...askedBody(POD), gpu: { id: 'NVIDIA L4', count: 1, allowedCudaVersions: [] } }
    expect(askedBody(withOption(POD, any))).toEqual(any)
  })

  it('keeps the other typed fields, and the name too', () => {
    const text = { ...POD, stopAfterHours: '2', container: { ...POD.container, env: 'A=1' } }
    const option = { ...askedBody(text), name: 'pod', gpu: { id: 'NVIDIA L4', count: 2 } }
    expect(withOption(text, option)).toEqual({ ...text, gpuCount: '2' })
  })

  it('says on how many machines each constraint fails, the most frequent first', () => {
    const hosts = [
      { hostId: 'a', failed: ['needs 4 free NVIDIA L4'] },
      { hostId: 'b', failed: ['needs 4 free NVIDIA L4', 'needs 90 GB of free disk'] },
    ]
    expect(reasonsOf(hosts)).toEqual([
      { text: 'needs 4 free NVIDIA L4', on: 2 },
      { text: 'needs 90 GB of free disk', on: 1 },
    ])
  })
})

describe('[UI-6] the nearest miss of a new cluster', () => {
  it('becomes the same request in the form as the option has', () => {
    const text = { ...EMPTY_CLUSTER, name: 'sft', gpuTypeId: 'NVIDIA L4', podCount: '4', container: { ...POD.container } }
    const asked = clusterBody(text)
    const options = [
      { ...asked, compute: { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: 2 } },
      { ...asked, compute: { gpuTypeId: 'NVIDIA H200', gpuCountPerPod: 2, podCount: 4 } },
      { ...asked, dataCenterIds: ['EU-RO-1', 'EU-NL-1'], disk: 10 },
    ]
    for (const option of options) expect(clusterBody(withClusterOption(text, option))).toEqual(option)
  })
})
