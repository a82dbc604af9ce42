import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const sdk = replayOf('python')

describe('the Python SDK: pods', () => {
  it('[GQL-61] create_pod, get_pods, get_pod, stop_pod, resume_pod and terminate_pod', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const { gpuTypes } = await sdk.play(key, 'gpu-type-of-one')
    expect(gpuTypes).toMatchObject([{ id: 'NVIDIA L4', manufacturer: 'NVIDIA', memoryInGb: 24, oneMonthPrice: null, securePrice: 0.44 }])
    const { podFindAndDeployOnDemand: made } = await sdk.play(key, 'create-pod')
    expect(made).toEqual({
      id: expect.any(String),
      imageName: 'img',
      env: [],
      machineId: expect.any(String),
      machine: { podHostId: expect.stringMatching(new RegExp(`^${made.id}-[0-9a-f]{8}$`)) },
    })
    await scene.run(made.id, 1)
    const { myself } = await sdk.play(key, 'my-pods')
    const { pod } = await sdk.play(key, 'pod', { inline: { p1: made.id } })
    expect(myself.pods).toEqual([{ ...pod, uptimeSeconds: expect.any(Number) }])
    expect(pod).toMatchObject({
      id: made.id,
      name: 'n',
      desiredStatus: 'RUNNING',
      containerDiskInGb: 10,
      volumeInGb: 0,
      podType: 'RESERVED',
    })
    expect(await sdk.play(key, 'stop-pod', { inline: { p1: made.id } })).toEqual({ podStop: { id: made.id, desiredStatus: 'EXITED' } })
    await scene.host.report(`${made.id}-1`, { state: 'exited', exitCode: 0 })
    const { podResume: started } = await sdk.play(key, 'resume-pod', { inline: { p1: made.id } })
    expect(started).toEqual({ ...made, desiredStatus: 'RUNNING' })
    expect(await sdk.play(key, 'terminate-pod', { inline: { p1: made.id } })).toEqual({ podTerminate: null })
    expect((await sdk.send(key, 'pod', { inline: { p1: made.id } })).body).toEqual({ data: { pod: null } })
    scene.leave()
  })

  it('[GQL-61] create_pod on a CPU, whose template is called runpod-ubuntu', async () => {
    const scene = await podScene(gpus(1))
    const { key } = scene.account
    const { deployCpuPod: made } = await sdk.play(key, 'create-cpu-pod')
    expect(made).toMatchObject({ imageName: 'img', machineId: expect.any(String) })
    expect((await api(key).get(`/v2/pods/${made.id}`)).body).toMatchObject({ cpu: { id: 'cpu3c', vcpuCount: 2, memory: 4 }, disk: 10 })
    scene.leave()
  })

  it('[GQL-6] [GQL-61] a quote in a variable: the document that the SDK then writes is refused, with the reason', async () => {
    const { key } = await createAccount()
    const { status, body } = await sdk.send(key, 'create-pod-with-all')
    expect([status, body.errors[0].message]).toEqual([400, expect.stringContaining('Syntax Error')])
    expect((await api(key).get('/v2/pods')).body.pods).toEqual([])
  })

  it('[GQL-61] get_gpus and get_gpu of two', async () => {
    const { key } = await createAccount()
    const { gpuTypes } = await sdk.play(key, 'gpu-types')
    expect(gpuTypes).toContainEqual({ id: 'NVIDIA L4', displayName: 'L4', memoryInGb: 24 })
    expect((await sdk.play(key, 'gpu-type-of-two')).gpuTypes).toMatchObject([{ lowestPrice: { uninterruptablePrice: 0.44 } }])
  })
})

describe('the Python SDK: serverless', () => {
  it('[GQL-61] create_template, create_endpoint, get_endpoints and update_endpoint_template', async () => {
    const { key, userId } = await createAccount()
    const { saveTemplate: first } = await sdk.play(key, 'save-serverless-template')
    expect(first).toEqual({
      id: expect.any(String),
      name: 't',
      imageName: 'img',
      dockerArgs: 'x',
      containerDiskInGb: 5,
      volumeInGb: 0,
      volumeMountPath: expect.any(String),
      ports: '22/tcp',
      env: [{ key: 'A', value: '1' }],
      isServerless: true,
    })
    const { saveTemplate: second } = await sdk.play(key, 'save-pod-template', { inline: { t: 'of pods' } })
    expect(second).toMatchObject({ name: 'of pods', volumeInGb: 10, volumeMountPath: '/w', ports: '', env: [], isServerless: false })
    const other = await api(key).post('/v2/templates', { name: 'other', image: 'img2', serverless: true })
    const { saveEndpoint: made } = await sdk.play(key, 'save-endpoint', { inline: { t1: first.id } })
    const shared = {
      id: made.id,
      templateId: first.id,
      gpuIds: 'AMPERE_24',
      gpuCount: 1,
      locations: 'US-KS-2',
      networkVolumeId: null,
      idleTimeout: 5,
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      workersMin: 0,
      workersMax: 3,
    }
    expect(made).toEqual({ ...shared, name: 'e', allowedCudaVersions: '12.4,12.5', flashBootType: 'FLASHBOOT' })
    expect((await sdk.play(key, 'my-endpoints')).myself.endpoints).toEqual([
      {
        ...shared,
        name: 'e',
        aiKey: null,
        type: 'QB',
        userId,
        version: expect.any(Number),
        workersStandby: 0,
        env: [{ key: 'A', value: '1' }],
        createdAt: expect.any(String),
        networkVolume: null,
      },
    ])
    const moved = { inline: { t2: other.body.id, e1: made.id } }
    expect(await sdk.play(key, 'update-endpoint-template', moved)).toEqual({
      updateEndpointTemplate: { id: made.id, templateId: other.body.id },
    })
    expect((await api(key).get(`/v2/serverless/${made.id}`)).body.image).toBe('img2')
  })
})

describe('the Python SDK: the account', () => {
  it('[GQL-61] get_user and update_user_settings', async () => {
    const { key, userId } = await createAccount()
    const volume = await api(key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'US-KS-2' })
    const pubKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM me'
    expect(await sdk.play(key, 'update-user-settings', { inline: { 'ssh-ed25519 AAAA me': pubKey } })).toEqual({
      updateUserSettings: { id: userId, pubKey },
    })
    expect(await sdk.play(key, 'myself')).toEqual({
      myself: { id: userId, pubKey, networkVolumes: [{ id: volume.body.id, name: 'v', size: 10, dataCenterId: 'US-KS-2' }] },
    })
  })

  it('[GQL-61] create, update and delete a registry', async () => {
    const { key } = await createAccount()
    const { saveRegistryAuth: made } = await sdk.play(key, 'save-registry-auth')
    expect(made).toEqual({ id: expect.any(String), name: 'r' })
    expect(await sdk.play(key, 'update-registry-auth', { inline: { r1: made.id } })).toEqual({ updateRegistryAuth: made })
    await sdk.play(key, 'delete-registry-auth', { inline: { r1: made.id } })
    expect((await api(key).get(`/v2/registries/${made.id}`)).status).toBe(404)
  })
})
