import { CreatePodRequest, UpdatePodRequest } from '../../../src/contract/pods/pods.ts'
import { podState } from '../../../src/domain/audit/states.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import type { PodSpec } from '../../../src/domain/pod/record.ts'
import { type PatchedPod, planPatch } from '../../../src/domain/pod/request/patch.ts'
import { type PodReferences, planPod } from '../../../src/domain/pod/request/request.ts'
import type { TemplateConfig } from '../../../src/domain/resources/record.ts'
import { describe, expect, it } from '../../support/unit.ts'

// When this fails: a new member of a request is not read (docs/adding-things.md, "A field of a resource": Request, Patch, Audit state).

const TEMPLATE: TemplateConfig = {
  id: 't',
  teamId: 'a',
  name: 't',
  container: { image: 't', args: 'from template', diskGb: 11, env: { T: 't' }, ports: [], registry: null },
  persistent: null,
  serverless: false,
  isPublic: false,
  category: 'NVIDIA',
  startSsh: false,
  startJupyter: false,
  allowedCudaVersions: [],
}
const REFERENCES: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: true,
  hasRegistry: true,
  unknownDataCenter: null,
  sshKeys: ['key'],
}
const referencesOf = (name: string) => (name === 'templateId' ? { ...REFERENCES, template: TEMPLATE } : REFERENCES)

/** A value of each member that both requests have, other than the one of `SPEC`. */
const SHARED = {
  args: 'b',
  cmd: ['b'],
  disk: 12,
  entrypoint: ['b'],
  env: { B: 'b' },
  globalNetworking: true,
  idleStop: { afterSeconds: 60 },
  image: 'j',
  labels: { team: 'a' },
  mounts: { global: [{ volumeId: 'v', path: '/w' }] },
  name: 'q',
  onHostLoss: 'REPLACE',
  ports: ['22/tcp'],
  registry: 'r',
  stopAfter: '2030-06-01T00:00:00Z',
  templateId: 't',
  terminateAfter: '2030-06-02T00:00:00Z',
} as const
const CREATES: Record<keyof CreatePodRequest, unknown> = {
  ...SHARED,
  cloud: 'COMMUNITY',
  cpu: { id: 'cpu3c', vcpuCount: 2 },
  dataCenterIds: ['d'],
  gpu: { id: 'NVIDIA L4', count: 2 },
  startJupyter: true,
  startSsh: true,
}
const CHANGES: Record<keyof UpdatePodRequest, unknown> = { ...SHARED, locked: true }

const SPEC: PodSpec = {
  container: { image: 'i', args: '', diskGb: 10, env: {}, ports: [], registry: null },
  compute: { kind: 'cpu', flavorId: 'cpu3c', vcpuCount: 2, memoryGb: 4 },
  cloud: 'SECURE',
  dataCenterIds: [],
  mounts: { global: { volumeId: 'v', path: '/v' } },
  globalNetworking: false,
  onHostLoss: 'WAIT',
}
const POD: PatchedPod = { name: 'p', locked: false, spec: SPEC, clusterId: null, stopAfterMs: null, terminateAfterMs: null, labels: {} }

function planned(name: string, change: object) {
  const body = CreatePodRequest.parse({ name: 'p', image: 'i', gpu: { id: 'NVIDIA L4' }, ...change })
  const result = planPod(SEED_CATALOG, body, referencesOf(name), 'password', 0)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.plan
}

function patched(name: string, value: unknown, before = POD): PatchedPod {
  const result = planPatch(before, UpdatePodRequest.parse({ [name]: value }), referencesOf(name), 0)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.pod
}

const audited = (pod: PatchedPod) =>
  podState({ ...pod, status: 'RUNNING', hostLost: false, templateId: null, dataCenterId: 'd' }, (_name, value) => value)

describe('every member of a request for a pod', () => {
  // The name belongs to the row, not to the plan.
  it.each(Object.entries(CREATES).filter(([name]) => name !== 'name'))('[POD-3] of a create is part of the plan: %s', (name, value) => {
    expect(planned(name, name === 'cpu' ? { gpu: undefined, cpu: value } : { [name]: value })).not.toEqual(planned('', {}))
  })

  it.each(Object.entries(CHANGES))('[POD-13] [AUD-1] of a PATCH changes the pod and its audited state: %s', (name, value) => {
    const after = patched(name, value)
    expect(after).not.toEqual(POD)
    expect(audited(after)).not.toEqual(audited(POD))
  })

  const clearable = Object.entries(UpdatePodRequest.shape).filter(([, schema]) => schema.safeParse(null).success)
  it.each(clearable.map(([name]) => name))('[POD-13] of a PATCH that may be null is cleared by null: %s', (name) => {
    expect(patched(name, null, patched(name, CHANGES[name as keyof UpdatePodRequest]))).toEqual(POD)
  })
})
