import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { decodeGo, decodeGoList, type GoStruct } from '../../../support/http/go-decoder.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const ctl = replayOf('runpodctl-1')

/** The members of a pod that its decoder reads. */
const GO_POD: GoStruct = {
  id: 'string',
  containerDiskInGb: 'int',
  costPerHr: 'float64',
  desiredStatus: 'string',
  dockerArgs: 'string',
  dockerId: 'string',
  env: '[]string',
  gpuCount: 'int',
  imageName: 'string',
  lastStatusChange: 'string',
  machineId: 'string',
  memoryInGb: 'int',
  name: 'string',
  podType: 'string',
  port: 'any',
  ports: 'string',
  uptimeSeconds: 'int',
  vcpuCount: 'int',
  volumeInGb: 'int',
  volumeMountPath: 'string',
  machine: 'map[string]any',
}
/** The defaults that `create pod` sends for omitted flags. */
const DEFAULTS = {
  cloudType: 'SECURE',
  containerDiskInGb: 20,
  dockerArgs: '',
  dataCenterId: '',
  env: [],
  gpuCount: 1,
  gpuTypeId: 'NVIDIA L4',
  imageName: 'img',
  minMemoryInGb: 20,
  minVcpuCount: 1,
  name: 'b',
  networkVolumeId: '',
  ports: '',
  supportPublicIp: false,
  startSsh: false,
  templateId: '',
  volumeInGb: 1,
  volumeMountPath: '/runpod',
}

describe('runpodctl 1', () => {
  it('[GQL-61] create, get, stop, start, start with a bid and remove a pod', async () => {
    const scene = await podScene(gpus(4))
    const { key } = scene.account
    const variables = { input: DEFAULTS }
    const { podFindAndDeployOnDemand: made } = await ctl.play(key, 'create-pod', { variables })
    expect(made).toEqual({
      id: expect.any(String),
      costPerHr: expect.any(Number),
      desiredStatus: 'RUNNING',
      lastStatusChange: expect.any(String),
    })
    await scene.run(made.id, 1, [{ private: 22, public: 10_341, type: 'tcp' }])
    const { myself } = await ctl.play(key, 'my-pods', { variables: null })
    expect(decodeGoList(myself.pods, GO_POD)).toMatchObject([
      { id: made.id, name: 'b', imageName: 'img', containerDiskInGb: 20, volumeInGb: 10, volumeMountPath: '/runpod', gpuCount: 1, env: [] },
    ])
    expect(myself.pods[0].runtime.ports).toMatchObject([{ privatePort: 22, publicPort: 10_341, PortType: 'tcp' }])
    const { podStop: stopped } = await ctl.play(key, 'stop-pod', { variables: { podId: made.id } })
    expect(stopped).toEqual({ id: made.id, desiredStatus: 'EXITED', lastStatusChange: expect.any(String) })
    await scene.host.report(`${made.id}-1`, { state: 'exited', exitCode: 0 })
    const { podResume: started } = await ctl.play(key, 'resume-pod', { variables: { podId: made.id } })
    expect(started).toMatchObject({ id: made.id, desiredStatus: 'RUNNING', costPerHr: made.costPerHr })
    await scene.run(made.id, 2)
    await ctl.play(key, 'stop-pod', { variables: { podId: made.id } })
    await scene.host.report(`${made.id}-2`, { state: 'exited', exitCode: 0 })
    const bid = { variables: { podId: made.id, bidPerGpu: 0.3, gpuCount: 1 } }
    expect((await ctl.play(key, 'bid-resume-pod', bid)).podBidResume).toMatchObject({ id: made.id, desiredStatus: 'RUNNING' })
    expect(await ctl.play(key, 'terminate-pod', { variables: { podId: made.id } })).toEqual({ podTerminate: null })
    expect((await api(key).get(`/v2/pods/${made.id}`)).status).toBe(404)
    scene.leave()
  })

  it('[GQL-61] create a pod of a template, with a volume, in a data center', async () => {
    const scene = await podScene(gpus(1))
    const { key } = scene.account
    const dataCenterId = (await scene.create({ name: 'elsewhere' })).dataCenterId
    const volume = await api(key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: dataCenterId })
    const template = await api(key).post('/v2/templates', { name: 't', image: 'from/template:1' })
    const input = {
      ...DEFAULTS,
      dockerArgs: 'sleep 1',
      dataCenterId,
      env: [{ key: 'A', value: '1' }],
      networkVolumeId: volume.body.id,
      ports: '22/tcp',
      templateId: template.body.id,
    }
    // The only GPU of this plane is taken, so the create fails for capacity after all references were found.
    const { body } = await ctl.send(key, 'create-pod', { variables: { input } })
    expect(body).toMatchObject({ data: { podFindAndDeployOnDemand: null }, errors: [{ extensions: { code: 'RUNPOD' } }] })
    scene.leave()
  })

  it('[GQL-8] [GQL-61] an id that is none is an error of every command', async () => {
    const { key } = await createAccount()
    for (const name of ['resume-pod', 'stop-pod', 'terminate-pod', 'bid-resume-pod']) {
      const { status, body } = await ctl.send(key, name, {
        variables: { podId: 'xid', ...(name === 'bid-resume-pod' && { bidPerGpu: 0.3, gpuCount: 1 }) },
      })
      expect([name, status, body.errors?.[0].message]).toEqual([name, 200, expect.stringContaining('not found')])
    }
  })

  it('[GQL-61] get cloud: prices for so many GPUs', async () => {
    for (const secureCloud of [null, true, false]) {
      const { gpuTypes } = await ctl.play(null, 'lowest-price', { variables: { input: { gpuCount: 2, secureCloud } } })
      const l4 = gpuTypes.find((one: { lowestPrice: { gpuTypeId: string } }) => one.lowestPrice.gpuTypeId === 'NVIDIA L4')
      const price = secureCloud === false ? 0.28 : 0.44
      expect(decodeGo(l4.lowestPrice, { minMemory: 'int', minVcpu: 'int', gpuName: 'string', minimumBidPrice: 'float64' })).toEqual({
        gpuName: 'L4',
        minMemory: expect.any(Number),
        minVcpu: expect.any(Number),
        minimumBidPrice: price,
      })
      expect(l4.lowestPrice.uninterruptablePrice).toBe(price)
    }
  })

  it('[GQL-61] ssh: the keys of the account, read and replaced', async () => {
    const { key, userId } = await createAccount()
    const pubKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada'
    expect(await ctl.play(key, 'update-user-settings', { variables: { input: { pubKey } } })).toEqual({
      updateUserSettings: { id: userId },
    })
    expect(await ctl.play(key, 'myself')).toEqual({ myself: { id: userId, pubKey } })
    await ctl.play(key, 'update-user-settings', { variables: { input: { pubKey: '' } } })
    expect((await ctl.play(key, 'myself')).myself.pubKey).toBe('')
  })

  it('[GQL-20] [GQL-61] models: none to read, and none can be made', async () => {
    const { key } = await createAccount()
    expect(await ctl.play(key, 'my-models')).toEqual({ myModels: [] })
    expect(await ctl.play(key, 'my-model', { variables: { owner: 'a', name: 'b' } })).toEqual({ myModel: null })
    const mutations = ['add-model', 'remove-model', 'create-model-upload', 'complete-model-upload']
    for (const name of mutations) expect(await refusal(key, name, { input: { name: 'a', metadata: { from: 'hf' } } })).toBe('not supported')
    expect(await refusal(key, 'update-model-version', { hash: 'a', status: 'READY' })).toBe('not supported')
  })
})

async function refusal(key: string, name: string, variables: Record<string, unknown>): Promise<string> {
  const { status, body } = await ctl.send(key, name, { variables })
  expect([name, status]).toEqual([name, 200])
  return body.errors[0].message
}
