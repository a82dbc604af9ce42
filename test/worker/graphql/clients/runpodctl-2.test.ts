import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { decodeGo, decodeGoList, type GoStruct } from '../../../support/http/go-decoder.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { v1 } from '../../../support/http/v1.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const ctl = replayOf('runpodctl-2')

const GO_POD: GoStruct = {
  id: 'string',
  containerDiskInGb: 'int',
  costPerHr: 'float64',
  desiredStatus: 'string',
  lastStatusChange: 'string',
  uptimeSeconds: 'int',
  dockerArgs: 'string',
  env: '[]string',
  gpuCount: 'int',
  imageName: 'string',
  memoryInGb: 'int',
  name: 'string',
  podType: 'string',
  ports: 'string',
  vcpuCount: 'int',
  volumeInGb: 'int',
  volumeMountPath: 'string',
  machine: 'map[string]any',
}
const GO_ENDPOINT: GoStruct = {
  id: 'string',
  name: 'string',
  templateId: 'string',
  gpuIds: 'string',
  gpuCount: 'int',
  instanceIds: '[]string',
  computeType: 'string',
  workersMin: 'int',
  workersMax: 'int',
  locations: 'string',
  networkVolumeId: 'string',
  networkVolumeIds: '[]any',
  idleTimeout: 'int',
  scalerType: 'string',
  scalerValue: 'int',
  executionTimeoutMs: 'int',
  minCudaVersion: 'string',
  flashBootType: 'string',
  modelReferences: '[]string',
}
const GO_TEMPLATE: GoStruct = {
  id: 'string',
  name: 'string',
  imageName: 'string',
  isServerless: 'bool',
  isPublic: 'bool',
  isRunpod: 'bool',
  category: 'string',
  containerDiskInGb: 'int',
  volumeInGb: 'int',
  volumeMountPath: 'string',
}
/** The members that `pod create` always sends. */
const POD = {
  cloudType: 'SECURE',
  containerDiskInGb: 20,
  gpuCount: 1,
  gpuTypeId: 'NVIDIA L4',
  startSsh: true,
  volumeMountPath: '/workspace',
}

const nullVariables = { variables: null }

describe('runpodctl 2: pods', () => {
  it('[GQL-61] pod create of an image, and pod list', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const input = { ...POD, imageName: 'img', name: 'b', ports: '22/tcp', volumeInGb: 5, env: [{ key: 'A', value: '1' }] }
    const { podFindAndDeployOnDemand: made } = await ctl.play(key, 'create-pod', { variables: { input } })
    expect(decodeGo(made, GO_POD)).toEqual({
      id: expect.any(String),
      name: 'b',
      imageName: 'img',
      desiredStatus: 'RUNNING',
      costPerHr: 0.44,
      containerDiskInGb: 20,
      volumeInGb: 10,
      volumeMountPath: '/workspace',
      gpuCount: 1,
      memoryInGb: expect.any(Number),
      vcpuCount: expect.any(Number),
      ports: '22/tcp',
      lastStatusChange: expect.any(String),
      env: ['A=1'],
      machine: { gpuDisplayName: 'L4', location: expect.any(String) },
    })
    const { myself } = await ctl.play(key, 'my-pods', nullVariables)
    expect(decodeGoList(myself.pods, GO_POD)).toMatchObject([{ ...made, podType: 'RESERVED' }])
    scene.leave()
  })

  it('[GQL-61] pod create of a template takes its container', async () => {
    const scene = await podScene(gpus(1))
    const { key } = scene.account
    const template = await api(key).post('/v2/templates', { name: 't', image: 'from/template:1', env: { B: '2' }, ports: ['8888/http'] })
    const input = { ...POD, templateId: template.body.id }
    const { podFindAndDeployOnDemand: made } = await ctl.play(key, 'create-pod', { variables: { input } })
    expect(made).toMatchObject({ imageName: 'from/template:1', env: expect.arrayContaining(['B=2']), ports: '8888/http', volumeInGb: 0 })
    scene.leave()
  })
})

describe('runpodctl 2: serverless', () => {
  it('[GQL-61] serverless create, update of the model, and another template', async () => {
    const { key } = await createAccount()
    const { serverlessGpuPools } = await ctl.play(key, 'serverless-gpu-pools', nullVariables)
    expect(serverlessGpuPools.find(({ id }: { id: string }) => id === 'AMPERE_24').gpuTypeIds).toContain('NVIDIA L4')
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) => api(key).post('/v2/templates', { name, image: 'img', serverless: true })),
    )
    const templateId = first?.body.id
    const input = {
      name: 'serv',
      templateId,
      gpuIds: 'AMPERE_24',
      gpuCount: 1,
      workersMax: 2,
      idleTimeout: 10,
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      flashBootType: 'FLASHBOOT',
    }
    const { saveEndpoint: made } = await ctl.play(key, 'save-endpoint', { variables: { input } })
    expect(decodeGo(made, GO_ENDPOINT)).toMatchObject({
      ...input,
      instanceIds: [],
      networkVolumeIds: [],
      computeType: 'GPU',
      workersMin: 0,
    })
    const replaced = {
      executionTimeoutMs: 0,
      flashBootType: '',
      gpuCount: 1,
      gpuIds: '',
      id: made.id,
      idleTimeout: 5,
      instanceIds: null,
      locations: '',
      minCudaVersion: '',
      modelReferences: ['https://huggingface.co/a/b:main'],
      name: 'e',
      networkVolumeId: '',
      networkVolumeIds: [],
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      templateId,
      workersMax: 3,
      workersMin: 0,
    }
    const { saveEndpoint: saved } = await ctl.play(key, 'update-endpoint-model', { variables: { input: replaced } })
    expect(decodeGo(saved, GO_ENDPOINT)).toMatchObject({
      id: made.id,
      name: 'e',
      gpuIds: 'AMPERE_24',
      flashBootType: 'FLASHBOOT',
      workersMax: 3,
      idleTimeout: 5,
      executionTimeoutMs: made.executionTimeoutMs,
    })
    const moved = { endpointId: made.id, templateId: second?.body.id }
    expect((await ctl.play(key, 'update-endpoint-template', { variables: { input: moved } })).updateEndpointTemplate).toEqual({
      id: made.id,
      templateId: second?.body.id,
    })
  })

  it('[GQL-61] serverless create on CPUs, and with volumes and a model', async () => {
    const { key } = await createAccount()
    const template = await api(key).post('/v2/templates', { name: 't1', image: 'img', serverless: true })
    const templateId = template.body.id
    const cpu = { name: 'servcpu', templateId, instanceIds: ['cpu3g-4-16'], workersMax: 3, flashBootType: 'FLASHBOOT' }
    const { saveEndpoint: made } = await ctl.play(key, 'save-endpoint', { variables: { input: cpu } })
    expect(decodeGo(made, GO_ENDPOINT)).toMatchObject({ ...cpu, computeType: 'CPU', gpuIds: '' })
    const volumes = await Promise.all(
      ['US-KS-2', 'EU-RO-1'].map((dataCenter) => api(key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter })),
    )
    const networkVolumeIds = volumes.map(({ body }) => ({ networkVolumeId: body.id }))
    const large = {
      name: 'withvol',
      templateId,
      gpuIds: 'AMPERE_24',
      gpuCount: 1,
      workersMax: 3,
      networkVolumeIds,
      executionTimeoutMs: 60_000,
      minCudaVersion: '12.4',
      flashBootType: 'FLASHBOOT',
      modelReferences: ['https://huggingface.co/a/b:main'],
    }
    const { saveEndpoint } = await ctl.play(key, 'save-endpoint', { variables: { input: large } })
    const { modelReferences: _nowhere, ...kept } = large
    expect(decodeGo(saveEndpoint, GO_ENDPOINT)).toMatchObject(kept)
  })
})

describe('runpodctl 2: templates', () => {
  it('[GQL-61] [GQL-66] template create over v1 shows at once in GraphQL, as template list, search and get', async () => {
    const { key } = await createAccount()
    const sent = { name: 't', imageName: 'img', isServerless: true, ports: ['8888/http'], env: { A: '1' }, containerDiskInGb: 20 }
    const { id } = (await v1(key).post('/templates', sent)).body
    const { myself } = await ctl.play(key, 'template-for-port-labels', nullVariables)
    expect(myself.podTemplates).toEqual([
      {
        id,
        name: 't',
        imageName: 'img',
        dockerArgs: '',
        env: [{ key: 'A', value: '1' }],
        ports: '8888/http',
        volumeMountPath: expect.any(String),
        volumeInGb: 0,
        containerDiskInGb: 20,
        containerRegistryAuthId: null,
        startJupyter: expect.any(Boolean),
        startSsh: expect.any(Boolean),
        startScript: '',
        isServerless: true,
        isPublic: false,
        readme: '',
        advancedStart: false,
        category: expect.any(String),
      },
    ])
    const { podTemplate } = await ctl.play(key, 'get-template', { variables: { id } })
    expect(decodeGo(podTemplate, GO_TEMPLATE)).toMatchObject({ id, name: 't', isServerless: true, isPublic: false, containerDiskInGb: 20 })
    expect(podTemplate.portsConfig).toEqual([{ port: '8888/http', name: expect.any(String) }])
    for (const isRunpod of [true, false]) {
      const { podTemplates } = await ctl.play(key, 'pod-templates', { variables: { input: { isRunpod } } })
      expect(decodeGoList(podTemplates, GO_TEMPLATE).every((one) => one.isPublic)).toBe(true)
    }
  })
})

describe('runpodctl 2: the account and what there is', () => {
  it('[GQL-61] user, ssh, gpu list, datacenter list', async () => {
    const { key, userId, email } = await createAccount()
    const { myself } = await ctl.play(key, 'account', nullVariables)
    const figures = { clientBalance: 'float64', currentSpendPerHr: 'float64', spendLimit: 'float64' } as const
    expect(decodeGo(myself, { id: 'string', email: 'string', ...figures, notifyPodsStale: 'bool' })).toMatchObject({ id: userId, email })
    expect(Object.values(myself)).not.toContain(null)
    const pubKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada'
    expect(await ctl.play(key, 'update-user-settings', { variables: { input: { pubKey } } })).toEqual({
      updateUserSettings: { id: userId },
    })
    expect(await ctl.play(key, 'myself', nullVariables)).toEqual({ myself: { id: userId, pubKey } })
    const { gpuTypes } = await ctl.play(key, 'gpu-types', nullVariables)
    expect(gpuTypes).toContainEqual({ id: 'NVIDIA L4', displayName: 'L4', memoryInGb: 24, secureCloud: true, communityCloud: true })
    const { dataCenters } = await ctl.play(key, 'data-centers', nullVariables)
    expect(decodeGoList(dataCenters, { id: 'string', name: 'string', location: 'string', gpuAvailability: '[]any' })).toContainEqual({
      id: 'US-KS-2',
      name: 'US Kansas 2',
      location: expect.any(String),
      gpuAvailability: expect.any(Array),
    })
  })

  it('[GQL-20] [GQL-61] hub list, search and get', async () => {
    const input = { limit: 10, orderBy: 'stars', orderDirection: 'desc' }
    expect(await ctl.play(null, 'listings', { variables: { input } })).toEqual({ listings: [] })
    expect(await ctl.play(null, 'listings', { variables: { input: { ...input, searchQuery: 'vllm' } } })).toEqual({ listings: [] })
    expect(await ctl.play(null, 'listing', { variables: { id: 'xid' } })).toEqual({ listing: null })
  })
})
