import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { graphql } from '../../../support/http/graphql.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const sky = replayOf('skypilot')
const TEMPLATE = 'sky-docker-login-template'

describe('SkyPilot', () => {
  it('[GQL-61] launches a spot pod with the credentials of a private image, lists it, and takes everything down', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const registry = await api(key).post('/v2/registries', { name: 'sky-registry-auth', username: 'u', password: 'p' })
    const template = await api(key).post('/v2/templates', { name: TEMPLATE, image: 'acme/sky:1', registry: registry.body.id })
    const { podRentInterruptable: made } = await sky.play(key, 'create-spot-pod', { inline: { t1: template.body.id, '12.4': '12.8' } })
    expect(made).toEqual({
      id: expect.any(String),
      desiredStatus: 'RUNNING',
      imageName: 'acme/sky:1',
      env: expect.any(Array),
      machineId: expect.any(String),
      machine: { podHostId: expect.stringMatching(new RegExp(`^${made.id}-`)) },
    })
    await scene.run(made.id, 1, [{ private: 22, public: 10_341, type: 'tcp' }])
    const { myself } = await sky.play(key, 'my-pods')
    expect(myself.pods).toMatchObject([
      {
        id: made.id,
        name: 'sky-head',
        podType: 'INTERRUPTABLE',
        containerRegistryAuthId: registry.body.id,
        ports: '22/tcp,8266/http,6380/http',
        runtime: { ports: [{ privatePort: 22, publicPort: 10_341, type: 'tcp' }] },
      },
    ])
    expect((await sky.play(key, 'pods-of-volumes')).myself.pods).toEqual([{ id: made.id, name: 'sky-head', networkVolumeId: null }])
    expect((await sky.play(key, 'template-registries')).myself.podTemplates).toEqual([
      { name: TEMPLATE, containerRegistryAuthId: registry.body.id },
    ])
    await graphql(key)(`mutation { podTerminate(input: { podId: "${made.id}" }) }`)
    expect(await sky.play(key, 'delete-template')).toEqual({ deleteTemplate: null })
    expect((await api(key).get(`/v2/templates/${template.body.id}`)).status).toBe(404)
    scene.leave()
  })

  it('[GQL-61] reads the catalog', async () => {
    const { key } = await createAccount()
    const { gpuTypes } = await sky.play(key, 'gpu-type')
    expect(gpuTypes).toMatchObject([
      {
        id: 'NVIDIA L4',
        lowestPrice: {
          uninterruptablePrice: 0.44,
          stockStatus: expect.any(String),
          compliance: [],
          maxUnreservedGpuCount: expect.any(Number),
          availableGpuCounts: expect.any(Array),
        },
      },
    ])
    const flavor = { id: 'cpu3c', displayName: 'Compute-Optimized', groupId: expect.any(String) }
    expect((await sky.play(key, 'cpu-flavor')).cpuFlavors).toEqual([
      { ...flavor, minVcpu: 2, maxVcpu: 32, vcpuBurstable: false, ramMultiplier: 2, diskLimitPerVcpu: 10 },
    ])
    expect((await sky.play(key, 'cpu-flavor-specifics')).cpuFlavors).toEqual([
      { ...flavor, specifics: { stockStatus: expect.any(String), securePrice: 0.06, slsPrice: 0.04 } },
    ])
  })
})
