import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'

const flash = replayOf('flash')

describe('flash', () => {
  it('[GQL-61] [GQL-63] makes an endpoint with a template of its own, changes both, and deletes it', async () => {
    const { key, userId } = await createAccount()
    const input = {
      name: 'worker-fb',
      gpuIds: 'AMPERE_24',
      gpuCount: 1,
      workersMin: 0,
      workersMax: 1,
      idleTimeout: 60,
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      type: 'QB',
      locations: 'EU-RO-1',
      flashBootType: 'FLASHBOOT',
      executionTimeoutMs: 0,
      allowedCudaVersions: '',
      template: {
        name: 'worker-template',
        imageName: 'acme/flash:1',
        containerDiskInGb: 64,
        dockerArgs: '',
        env: [{ key: 'A', value: '1' }],
        ports: '',
        startScript: '',
      },
    }
    const { saveEndpoint: made } = await flash.play(key, 'save-endpoint', { variables: { input } })
    expect(made).toMatchObject({
      name: 'worker-fb',
      gpuIds: 'AMPERE_24',
      locations: 'EU-RO-1',
      userId,
      type: 'QB',
      templateId: expect.any(String),
    })
    expect((await api(key).get(`/v2/serverless/${made.id}`)).body).toMatchObject({ image: 'acme/flash:1', disk: 64, env: { A: '1' } })
    expect(await flash.play(key, 'endpoint-exists', { variables: { id: made.id } })).toEqual({ myself: { endpoint: { id: made.id } } })
    const changed = { ...input, id: made.id, workersMax: 2, templateId: made.templateId, template: undefined }
    const { saveEndpoint: saved } = await flash.play(key, 'save-endpoint', { variables: { input: changed } })
    expect(saved).toMatchObject({ id: made.id, workersMax: 2, templateId: made.templateId })
    const { podTemplate } = await flash.play(key, 'get-template', { variables: { id: made.templateId } })
    expect(podTemplate).toMatchObject({ id: made.templateId, imageName: 'acme/flash:1', env: [{ key: 'A', value: '1' }] })
    const template = {
      id: made.templateId,
      name: podTemplate.name,
      imageName: 'acme/flash:2',
      containerDiskInGb: 64,
      dockerArgs: '',
      env: [],
      volumeInGb: 0,
      readme: '',
    }
    const { saveTemplate } = await flash.play(key, 'update-template', { variables: { input: template } })
    expect(saveTemplate).toMatchObject({ id: made.templateId, imageName: 'acme/flash:2' })
    expect((await api(key).get(`/v2/serverless/${made.id}`)).body).toMatchObject({ image: 'acme/flash:2', env: {} })
    expect(await flash.play(key, 'delete-endpoint', { variables: { id: made.id } })).toEqual({ deleteEndpoint: null })
    expect(await flash.play(key, 'endpoint-exists', { variables: { id: made.id } })).toEqual({ myself: { endpoint: null } })
  })

  it('[GQL-61] reads the stock', async () => {
    const { key } = await createAccount()
    const lowestPriceInput = {
      dataCenterId: null,
      gpuCount: 1,
      secureCloud: true,
      includeAiApi: true,
      allowedCudaVersions: [],
      compliance: [],
    }
    const gpu = await flash.play(key, 'gpu-stock', { variables: { gpuTypesInput: { ids: ['NVIDIA L4'] }, lowestPriceInput } })
    expect(gpu).toEqual({ gpuTypes: [{ lowestPrice: { stockStatus: expect.stringMatching(/^(None|Low|Medium|High)$/) } }] })
    const specificsInput = { dataCenterId: 'EU-RO-1', instanceId: 'cpu3c-2-4' }
    const cpu = await flash.play(key, 'cpu-stock', { variables: { cpuFlavorInput: { id: 'cpu3c' }, specificsInput } })
    expect(cpu).toEqual({ cpuFlavors: [{ specifics: { stockStatus: 'None' } }] })
  })

  it('[GQL-20] [GQL-61] finds no apps, and is refused when it creates one', async () => {
    const { key } = await createAccount()
    expect(await flash.play(key, 'list-apps')).toEqual({ myself: { flashApps: [] } })
    const reads = {
      'get-app': [{ input: 'a' }, 'flashApp'],
      'get-app-by-name': [{ flashAppName: 'a' }, 'flashAppByName'],
      'get-environment': [{ flashEnvironmentId: 'a' }, 'flashEnvironment'],
      'get-environment-by-name': [{ input: { flashAppId: 'a', name: 'b' } }, 'flashEnvironmentByName'],
      'get-build': [{ input: 'a' }, 'flashBuild'],
      'auth-request-status': [{ flashAuthRequestId: 'a' }, 'flashAuthRequestStatus'],
    } as const
    for (const [name, [variables, field]] of Object.entries(reads))
      expect(await flash.play(key, name, { variables })).toEqual({ [field]: null })
    const writes = {
      'create-app': { input: { name: 'a' } },
      'create-environment': { input: { flashAppId: 'a', name: 'b' } },
      'prepare-upload': { input: { flashAppId: 'a', tarballSize: 1 } },
      'finalize-upload': { input: { flashAppId: 'a', objectKey: 'b', manifest: {} } },
      'update-build-manifest': { input: { flashBuildId: 'a', manifest: { resources: [] } } },
      'deploy-build': { input: { flashEnvironmentId: 'a', flashBuildId: 'b' } },
      'delete-app': { flashAppId: 'a' },
      'delete-environment': { flashEnvironmentId: 'a' },
      'create-auth-request': {},
    }
    for (const [name, variables] of Object.entries(writes)) {
      const { status, body } = await flash.send(key, name, { variables })
      expect([name, status, body.errors?.[0].message]).toEqual([name, 200, 'not supported'])
    }
  })
})
