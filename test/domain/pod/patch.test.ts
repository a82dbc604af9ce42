import type { UpdatePodRequest } from '../../../src/contract/pods/pods.ts'
import type { PodSpec } from '../../../src/domain/pod/record.ts'
import { envOf } from '../../../src/domain/pod/request/container.ts'
import { type PatchedPod, planPatch } from '../../../src/domain/pod/request/patch.ts'
import type { PodReferences } from '../../../src/domain/pod/request/request.ts'
import type { TemplateConfig } from '../../../src/domain/resources/record.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NONE: PodReferences = {
  template: null,
  networkVolume: null,
  hasGlobalVolume: false,
  hasRegistry: false,
  unknownDataCenter: null,
  sshKeys: [],
}
const SPEC: PodSpec = {
  container: { image: 'i', args: 'a b', diskGb: 10, env: { A: '1', B: '2' }, ports: ['22/tcp', '80/http'], registry: null },
  compute: { kind: 'cpu', flavorId: 'cpu3c', vcpuCount: 2, memoryGb: 4 },
  cloud: 'SECURE',
  dataCenterIds: [],
  mounts: { network: { volumeId: 'n', path: '/n' } },
  globalNetworking: false,
  onHostLoss: 'WAIT',
}
const TEMPLATE: TemplateConfig = {
  id: 't',
  teamId: 'a',
  name: 't',
  container: { image: 't', args: '', diskGb: 10, env: { T: 't' }, ports: [], registry: null },
  persistent: null,
  serverless: false,
  isPublic: false,
  category: 'NVIDIA',
  startSsh: true,
  startJupyter: true,
  allowedCudaVersions: [],
}
const ACCESS = { PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password' }
const POD: PatchedPod = { name: 'p', locked: false, spec: SPEC, clusterId: null, stopAfterMs: null, terminateAfterMs: null, labels: {} }
const plan = (body: UpdatePodRequest, pod: Partial<PatchedPod> = {}, references: Partial<PodReferences> = {}) =>
  planPatch({ ...POD, ...pod }, body, { ...NONE, ...references }, 0)

describe('a PATCH', () => {
  it.each<[UpdatePodRequest, boolean, boolean]>([
    [{}, false, false],
    [{ name: 'p', image: 'i', disk: 10, locked: false, mounts: {}, onHostLoss: 'WAIT' }, false, false],
    [{ name: 'q' }, true, false],
    [{ locked: true }, true, false],
    [{ onHostLoss: 'REPLACE' }, true, false],
    [{ cmd: ['a', 'b'] }, true, false],
    [{ env: { B: '2', A: '1' } }, true, false],
    [{ ports: ['80/http', '22/tcp'] }, true, false],
    [{ cmd: ['a', 'b', 'c'] }, true, true],
    [{ env: { A: '1' } }, true, true],
    [{ ports: [] }, true, true],
    [{ image: 'j' }, true, true],
    [{ disk: 11 }, true, true],
    [{ mounts: { network: [{ volumeId: 'n', path: '/n' }] } }, false, false],
    [{ mounts: { network: [{ volumeId: 'n', path: '/m' }] } }, true, true],
  ])('[POD-13] %j changes something: %s, needs a new container: %s', (body, isChanged, needsNewContainer) => {
    expect(plan(body)).toMatchObject({ ok: true, isChanged, needsNewContainer })
  })

  it.each<[UpdatePodRequest, Partial<PodReferences>, Record<string, string>]>([
    [{ env: { A: '2' } }, {}, { PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password', A: '2' }],
    [{ env: {} }, {}, { PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password' }],
    [{ env: { PUBLIC_KEY: 'mine' } }, {}, { PUBLIC_KEY: 'mine', JUPYTER_PASSWORD: 'password' }],
    [{ templateId: 't' }, { template: TEMPLATE }, { PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password', T: 't' }],
    [{ image: 'j' }, {}, { PUBLIC_KEY: 'key', JUPYTER_PASSWORD: 'password', A: '1', B: '2' }],
  ])('[POD-20] %j keeps the variables for access by the user', (body, references, env) => {
    const result = plan(body, { spec: { ...SPEC, accessEnv: ACCESS } }, references)
    expect(result.ok && envOf(result.pod.spec)).toEqual(env)
  })

  it("[POD-20] a variable that its user replaced is the pod's again when the user removes their own", () => {
    const own = plan({ env: { PUBLIC_KEY: 'mine' } }, { spec: { ...SPEC, accessEnv: ACCESS } })
    const back = plan({ env: {} }, own.ok ? own.pod : {})
    expect(back.ok && envOf(back.pod.spec)).toEqual(ACCESS)
  })

  it('[POD-20] [POD-13] sending back the body that was read makes no new container', () => {
    const spec = { ...SPEC, accessEnv: ACCESS }
    expect(plan({ env: envOf(spec) }, { spec })).toMatchObject({ needsNewContainer: false })
  })

  it('[CON-7] [POD-13] a changed credential makes a new container; an unknown one is refused', () => {
    expect(plan({ registry: 'c' }, {}, { hasRegistry: true })).toMatchObject({ needsNewContainer: true })
    expect(plan({ registry: 'c' })).toMatchObject({ ok: false, problem: { detail: 'container registry auth c not found' } })
    const withCredential = { spec: { ...SPEC, container: { ...SPEC.container, registry: 'c' } } }
    expect(plan({ name: 'q' }, withCredential)).toMatchObject({ ok: true })
    expect(plan({ registry: '' }, withCredential)).toMatchObject({ ok: true, pod: { spec: { container: { registry: null } } } })
  })

  it.each([
    [true, { image: 'j' }, false],
    [true, { image: 'j', locked: false }, true],
    [true, { name: 'q' }, true],
    [true, { locked: false }, true],
    [false, { image: 'j', locked: true }, true],
  ])('[POD-15] [POD-43] locked: %s, %j passes: %s', (locked, body, ok) => {
    expect(plan(body, { locked }).ok).toBe(ok)
    if (!ok) expect(plan(body, { locked })).toMatchObject({ problem: { key: 'conflict', detail: 'pod is locked', code: 'LOCKED' } })
  })

  it('[POD-16] [ERR-6] a member of a cluster is refused, after the errors of the request itself', () => {
    expect(plan({ name: 'q' }, { clusterId: 'c' })).toMatchObject({ ok: false, problem: { key: 'conflict' } })
    expect(plan({ image: '' }, { clusterId: 'c' })).toMatchObject({ ok: false, problem: { key: 'badRequest' } })
  })

  it('[POD-8] [POD-13] rules over the whole pod hold', () => {
    expect(plan({ disk: 21 })).toMatchObject({ problem: { detail: 'disk 21 is above 20 GB, the most for 2 vCPUs' } })
    // [NET-49]
    expect(plan({ globalNetworking: true })).toMatchObject({ ok: true, isChanged: true, needsNewContainer: true })
    expect(plan({ globalNetworking: false })).toMatchObject({ ok: true, isChanged: false })
  })
})
