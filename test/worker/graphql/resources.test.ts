import { dropPlaces } from '../../../src/services/catalog/fleet.ts'
import { api, createAccount, createEndpoint, describe, env, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { v1 } from '../../support/http/v1.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

/** Runs a document and expects success. */
function caller(key: string) {
  return async (query: string, variables?: Record<string, unknown>) => {
    const { status, body } = await graphql(key)(query, variables)
    expect([status, body.errors]).toEqual([200, undefined])
    return body.data
  }
}
const messageOf = async (key: string, query: string) => (await graphql(key)(query)).body.errors?.[0]?.message

describe('templates', () => {
  const SAVE = `mutation { saveTemplate( input: { name: "t", imageName: "img", dockerArgs: "x", containerDiskInGb: 5, volumeInGb: 0, ports: "22/tcp",
    env: [{ key: "A", value: "1" }], isServerless: true, containerRegistryAuthId : "", startSsh: true, isPublic: false, readme: "" } ) {
    id name imageName dockerArgs containerDiskInGb volumeInGb volumeMountPath ports env { key value } isServerless } }`

  it('[GQL-22] are saved, changed and deleted by their name; omitted members stay', async () => {
    const { key } = await createAccount()
    const run = caller(key)
    const { saveTemplate } = await run(SAVE)
    expect(saveTemplate).toEqual({
      id: saveTemplate.id,
      name: 't',
      imageName: 'img',
      dockerArgs: 'x',
      containerDiskInGb: 5,
      volumeInGb: 0,
      volumeMountPath: '',
      ports: '22/tcp',
      env: [{ key: 'A', value: '1' }],
      isServerless: true,
    })
    await run('mutation($i: SaveTemplateInput) { saveTemplate(input: $i) { id } }', {
      i: { id: saveTemplate.id, imageName: 'img2', ports: '' },
    })
    expect((await api(key).get(`/v2/templates/${saveTemplate.id}`)).body).toMatchObject({
      image: 'img2',
      ports: [],
      args: 'x',
      env: { A: '1' },
    })
    expect((await run('{ myself { podTemplates { name imageName } } }')).myself.podTemplates).toEqual([{ name: 't', imageName: 'img2' }])
    expect((await run(`{ podTemplate(id: "${saveTemplate.id}") { name isRunpod portsConfig { port } } }`)).podTemplate).toEqual({
      name: 't',
      isRunpod: false,
      portsConfig: [],
    })
    expect(await messageOf(key, SAVE)).toBe('Template name must be unique.')
    expect(await run('mutation { deleteTemplate(templateName: "t") }')).toEqual({ deleteTemplate: null })
    expect(await messageOf(key, 'mutation { deleteTemplate(templateName: "t") }')).toBe('template t not found')
  })

  it('[GQL-42] keep their readme, the names of their ports and their way of starting; omitted members stay', async () => {
    const { key } = await createAccount()
    const run = caller(key)
    const save = async (i: Record<string, unknown>) => {
      const document =
        'mutation($i: SaveTemplateInput) { saveTemplate(input: $i) { id readme advancedStart ports portsConfig { name port } } }'
      return (await run(document, { i })).saveTemplate
    }
    const ports = [
      { name: 'Notebook', port: '8888/http' },
      { name: 'SSH', port: '22/tcp' },
    ]
    const { id, ...made } = await save({ name: 't', imageName: 'i', readme: '# How', advancedStart: false, portsConfig: ports })
    expect(made).toEqual({ readme: '# How', advancedStart: false, ports: '8888/http,22/tcp', portsConfig: ports })
    expect(await save({ id, imageName: 'i2' })).toEqual({ id, ...made })
    // A removed port loses its name, through whichever interface it is removed.
    expect((await api(key).patch(`/v2/templates/${id}`, { ports: ['8888/http'] })).status).toBe(200)
    const left = { id, ...made, ports: '8888/http', portsConfig: ports.slice(0, 1) }
    expect(await save({ id })).toEqual(left)
    expect(await save({ id, portsConfig: [{ name: 'Lab', port: '8888' }] })).toEqual({
      ...left,
      portsConfig: [{ name: 'Lab', port: '8888/http' }],
    })
    expect((await v1(key).get(`/templates/${id}`)).body.readme).toBe('# How')
    expect((await v1(key).patch(`/templates/${id}`, { readme: 'other' })).body.readme).toBe('other')
    expect(await save({ id, readme: '', portsConfig: [] })).toEqual({ ...left, readme: '', ports: '', portsConfig: [] })
    const long = { id, readme: 'x'.repeat(64 * 1024 + 1) }
    const refused = await graphql(key)('mutation($i: SaveTemplateInput) { saveTemplate(input: $i) { id } }', { i: long })
    expect(refused.body.errors[0].message).toContain('$.readme')
    expect((await v1(key).get(`/templates/${id}`)).body.readme).toBe('')
  })

  it('[GQL-43] run their start script in place of the command, in endpoints too', async () => {
    const { key } = await createAccount()
    const run = caller(key)
    const save = async (i: Record<string, unknown>) => {
      const document = 'mutation($i: SaveTemplateInput) { saveTemplate(input: $i) { id dockerArgs startScript } }'
      return (await run(document, { i })).saveTemplate
    }
    const startScript = '#!/bin/bash\nprepare\nexec "$@"'
    const { id, ...made } = await save({ name: 't', imageName: 'i', isServerless: true, dockerArgs: 'serve --all', startScript })
    expect(made).toEqual({ dockerArgs: 'serve --all', startScript })
    const entrypoint = ['/bin/bash', '-c', startScript, 'startScript']
    expect((await api(key).get(`/v2/templates/${id}`)).body).toMatchObject({ entrypoint, cmd: ['serve', '--all'] })
    const saved = await run(
      `mutation { saveEndpoint(input: {name: "e", templateId: "${id}", gpuIds: "AMPERE_24"}) { id template { dockerArgs startScript } } }`,
    )
    expect(saved.saveEndpoint.template).toEqual(made)
    expect((await api(key).get(`/v2/serverless/${saved.saveEndpoint.id}`)).body).toMatchObject({ entrypoint, cmd: ['serve', '--all'] })
    expect(await save({ id, dockerArgs: 'other' })).toEqual({ id, dockerArgs: 'other', startScript })
    expect(await save({ id, startScript: '' })).toEqual({ id, dockerArgs: 'other', startScript: '' })
    expect(await messageOf(key, `mutation { saveTemplate(input: {id: "${id}", startScript: "#!/bin/perl"}) { id } }`)).toContain(
      'dockerArgs',
    )
    expect((await api(key).get(`/v2/templates/${id}`)).body).toMatchObject({ args: 'other' })
    const own = await run('mutation($i: EndpointInput) { saveEndpoint(input: $i) { templateId template { dockerArgs startScript } } }', {
      i: { name: 'own', gpuIds: 'AMPERE_24', template: { imageName: 'i', dockerArgs: '', startScript } },
    })
    expect(own.saveEndpoint.template).toEqual({ dockerArgs: '', startScript })
    const kept = { id: own.saveEndpoint.templateId, dockerArgs: 'serve', startScript: '' }
    expect(await save(kept)).toEqual({ ...kept, startScript })
  })

  it('[GQL-33] of other accounts cannot be deleted by their name', async () => {
    const [one, other] = [await createAccount(), await createAccount()]
    await caller(one.key)(SAVE)
    expect(await messageOf(other.key, 'mutation { deleteTemplate(templateName: "t") }')).toBe('template t not found')
    expect((await api(one.key).get('/v2/templates')).body.templates).toHaveLength(1)
  })

  it('[GQL-3] can be read without a key if they are public, and are not found if they are private', async () => {
    const { key } = await createAccount()
    const open = await api(key).post('/v2/templates', { name: 'open', image: 'img', public: true })
    const closed = await api(key).post('/v2/templates', { name: 'closed', image: 'img' })
    const read = async (id: string) => (await graphql(null)(`{ podTemplate(id: "${id}") { name } }`)).body
    expect(await read(open.body.id)).toEqual({ data: { podTemplate: { name: 'open' } } })
    expect(await read(closed.body.id)).toEqual({ data: { podTemplate: null } })
    const { podTemplates } = (await graphql(null)('{ podTemplates(input: {isRunpod: false}) { id isRunpod } }')).body.data
    expect(podTemplates).toContainEqual({ id: open.body.id, isRunpod: false })
    expect(podTemplates.map(({ id }: { id: string }) => id)).not.toContain(closed.body.id)
  })
})

describe('endpoints', () => {
  const FIELDS = `id name templateId gpuIds instanceIds computeType networkVolumeId networkVolumeIds { networkVolumeId dataCenterId } locations idleTimeout
    scalerType scalerValue workersMin workersMax gpuCount minCudaVersion executionTimeoutMs flashBootType modelReferences type`
  const SAVE = `mutation SaveEndpoint($input: EndpointInput!) { saveEndpoint(input: $input) { ${FIELDS} } }`

  async function withTemplate() {
    const { key } = await createAccount()
    const template = await api(key).post('/v2/templates', { name: 't1', image: 'img', serverless: true, env: { A: '1' } })
    return { key, run: caller(key), templateId: template.body.id as string }
  }

  it('[GQL-22] [GQL-18] are made from a template, with pools, exclusions and countries', async () => {
    const { key, run, templateId } = await withTemplate()
    const input = {
      name: 'serv',
      templateId,
      gpuIds: 'AMPERE_24,-NVIDIA L4',
      gpuCount: 1,
      workersMax: 2,
      idleTimeout: 10,
      scalerType: 'QUEUE_DELAY',
      scalerValue: 4,
      locations: 'RO',
      flashBootType: 'FLASHBOOT',
    }
    const { saveEndpoint } = await run(SAVE, { input })
    expect(saveEndpoint).toMatchObject({
      ...input,
      locations: 'EU-RO-1',
      computeType: 'GPU',
      networkVolumeId: null,
      type: 'QB',
      workersMin: 0,
    })
    expect((await api(key).get(`/v2/serverless/${saveEndpoint.id}`)).body).toMatchObject({
      name: 'serv',
      env: { A: '1' },
      gpu: { pools: ['AMPERE_24'], excludedTypes: ['NVIDIA L4'], count: 1 },
      dataCenterIds: ['EU-RO-1'],
      flashboot: 'FLASHBOOT',
      workers: { min: 0, max: 2, idleTimeout: 10 },
    })
    const cpu = await run(SAVE, {
      input: { name: 'servcpu', templateId, instanceIds: ['cpu3g-4-16'], workersMax: 3, flashBootType: 'FLASHBOOT' },
    })
    expect(cpu.saveEndpoint).toMatchObject({ computeType: 'CPU', instanceIds: ['cpu3g-4-16'] })
  })

  it('[GQL-22] keep their other members when a client sends every member back', async () => {
    const { key, run, templateId } = await withTemplate()
    const { saveEndpoint: made } = await run(SAVE, { input: { name: 'e', templateId, gpuIds: 'AMPERE_24', gpuCount: 1, workersMax: 3 } })
    const before = (await api(key).get(`/v2/serverless/${made.id}`)).body
    const sent = {
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
      workersMax: 5,
      workersMin: 0,
    }
    await run(SAVE, { input: sent })
    const { body } = await api(key).get(`/v2/serverless/${made.id}`)
    expect(body).toEqual({ ...before, workers: { ...before.workers, max: 5 } })
    expect((await api(key).get(`/v2/serverless/${made.id}/releases`)).body.endpointVersion).toBe(1)
  })

  it('[GQL-22] are filled anew by updateEndpointTemplate, and show its id', async () => {
    const { key, run, templateId } = await withTemplate()
    const other = await api(key).post('/v2/templates', { name: 't2', image: 'img2', serverless: true })
    const { saveEndpoint } = await run(SAVE, { input: { name: 'e', templateId, gpuIds: 'AMPERE_24' } })
    const update = 'mutation Mutation($input: UpdateEndpointTemplateInput) { updateEndpointTemplate(input: $input) { id templateId } }'
    const changed = await run(update, { input: { endpointId: saveEndpoint.id, templateId: other.body.id } })
    expect(changed.updateEndpointTemplate).toEqual({ id: saveEndpoint.id, templateId: other.body.id })
    expect((await api(key).get(`/v2/serverless/${saveEndpoint.id}`)).body.image).toBe('img2')
    expect((await run('{ myself { endpoints { templateId } } }')).myself.endpoints).toEqual([{ templateId: other.body.id }])
  })

  it('[GQL-22] that REST made have a template of their own, which is not listed', async () => {
    const { key } = await createAccount()
    const run = caller(key)
    const id = await createEndpoint(key)
    const { myself } = await run(
      '{ myself { podTemplates { id } endpoints { id templateId pods { desiredStatus } env { key } networkVolume { id } } } }',
    )
    const [{ templateId }] = myself.endpoints
    expect(myself).toEqual({ podTemplates: [], endpoints: [{ id, templateId, pods: [], env: [], networkVolume: null }] })
    expect((await run(`{ podTemplate(id: "${templateId}") { id imageName isServerless } }`)).podTemplate).toEqual({
      id: templateId,
      imageName: 'builtin/echo',
      isServerless: true,
    })
    await run(SAVE, { input: { id, templateId, workersMax: 4 } })
    expect(await run(`{ myself { endpoint(id: "${id}") { workersMax templateId } } }`)).toEqual({
      myself: { endpoint: { workersMax: 4, templateId } },
    })
    expect(await run(`mutation { deleteEndpoint(id: "${id}") }`)).toEqual({ deleteEndpoint: null })
    expect(await run(`{ myself { endpoint(id: "${id}") { id } } }`)).toEqual({ myself: { endpoint: null } })
    expect(await messageOf(key, `mutation { deleteEndpoint(id: "nothing") }`)).toBe('resource not found')
  })
})

describe('the account', () => {
  const KEYS = [
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC bob',
  ]

  it('[GQL-32] SSH keys are one text, separated by blank lines', async () => {
    const account = await createAccount()
    const run = caller(account.key)
    const update = 'mutation Mutation($input: UpdateUserSettingsInput) { updateUserSettings(input: $input) { id pubKey } }'
    const text = KEYS.join('\n\n')
    expect(await run(update, { input: { pubKey: `${KEYS[0]} \n\n\n${KEYS[1]}\n` } })).toEqual({
      updateUserSettings: { id: account.userId, pubKey: text },
    })
    expect((await api(account.key).get('/v2/account/ssh-keys')).body).toMatchObject({ keys: KEYS })
    expect(await run('{ myself { id pubKey email } }')).toEqual({ myself: { id: account.userId, pubKey: text, email: account.email } })
    expect(await run(update, { input: {} })).toEqual({ updateUserSettings: { id: account.userId, pubKey: text } })
    expect(await run(update, { input: { pubKey: '' } })).toEqual({ updateUserSettings: { id: account.userId, pubKey: '' } })
    expect(await messageOf(account.key, 'mutation { updateUserSettings(input: {pubKey: "nonsense"}) { id } }')).toContain('ssh-ed25519')
  })

  it('[GQL-21] balances and spending are numbers', async () => {
    const { myself } = await caller((await createAccount()).key)(
      '{ myself { clientBalance currentSpendPerHr spendLimit notifyPodsStale notifyPodsGeneral notifyLowBalance } }',
    )
    expect(myself).toEqual({
      clientBalance: 0,
      currentSpendPerHr: 0,
      spendLimit: 80,
      notifyPodsStale: false,
      notifyPodsGeneral: false,
      notifyLowBalance: false,
    })
  })

  it('[GQL-35] credentials of registries are saved, changed and deleted, and never shown', async () => {
    const { key, userId } = await createAccount()
    const run = caller(key)
    const { saveRegistryAuth } = await run(
      'mutation SaveRegistryAuth { saveRegistryAuth(input: {name: "r", username: "u", password: "p"}) { id name } }',
    )
    const { id } = saveRegistryAuth
    const sealed = () => env.DB.prepare('SELECT username_sealed, password_sealed, host FROM registries WHERE id = ?').bind(id).first()
    const before = await sealed()
    const update = (of: string) =>
      `mutation UpdateRegistryAuth { updateRegistryAuth(input: {id: "${of}", username: "u", password: "second-password"}) { id name } }`
    expect(await run(update(id))).toEqual({ updateRegistryAuth: { id, name: 'r' } })
    expect((await sealed())?.password_sealed).not.toBe(before?.password_sealed)
    const noted = await env.DB.prepare("SELECT action, before, after FROM audit WHERE resource_id = ? AND action = 'registries.rotate'")
      .bind(id)
      .all()
    expect(noted.results).toHaveLength(1)
    expect(JSON.stringify(noted.results)).not.toContain('second-password')
    const otherTenant = await createAccount()
    expect(await messageOf(otherTenant.key, update(id))).toBe('resource not found')
    expect(await run('{ myself { containerRegistryCreds { id name } } }')).toEqual({
      myself: { containerRegistryCreds: [{ id, name: 'r' }] },
    })
    expect(await run(`mutation DeleteRegistryAuth { deleteRegistryAuth(registryAuthId: "${id}") }`)).toEqual({ deleteRegistryAuth: true })
    expect(userId).not.toBe(otherTenant.userId)
  })

  it('[GQL-38] secrets are made and deleted', async () => {
    const { key } = await createAccount()
    const run = caller(key)
    const { secretCreate } = await run(
      'mutation { secretCreate(input: {name: "S", value: "v", description: "d"}) { id name description } }',
    )
    expect(secretCreate).toEqual({ id: secretCreate.id, name: 'S', description: 'd' })
    expect((await api(key).get('/v2/account/secrets')).body.secrets).toHaveLength(1)
    expect(await run(`mutation { secretDelete(id: "${secretCreate.id}") }`)).toEqual({ secretDelete: null })
    expect((await api(key).get('/v2/account/secrets')).body.secrets).toEqual([])
  })

  it('[GQL-23] network volumes of REST are read', async () => {
    const { key } = await createAccount()
    const { body } = await api(key).post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'EU-RO-1' })
    expect(await caller(key)('{ myself { networkVolumes { id name size dataCenterId } } }')).toEqual({
      myself: { networkVolumes: [{ id: body.id, name: 'v', size: 10, dataCenterId: 'EU-RO-1' }] },
    })
  })
})

describe('the catalog', () => {
  it('[GQL-44] the lowest price is for a pod of the given size: its stock is what a create then finds', async () => {
    // A GPU type of its own, so that only this host has it.
    const type = 'NVIDIA L40S'
    const scene = await podScene({ ...gpus(2, type), vcpus: 16, memoryMb: 65_536, diskGb: 100 })
    dropPlaces()
    const call = graphql(scene.account.key)
    const priceOf = async (input: Record<string, unknown>) => {
      const document = `query($i: GpuLowestPriceInput) { gpuTypes(input: {id: "${type}"}) { lowestPrice(input: $i) { stockStatus availableGpuCounts } } }`
      return (await call(document, { i: { secureCloud: true, ...input } })).body.data.gpuTypes[0].lowestPrice
    }
    const here = await env.DB.prepare('SELECT data_center_id FROM hosts WHERE id = ?').bind(scene.host.id).first('data_center_id')
    const [fits, none] = [
      { stockStatus: 'Low', availableGpuCounts: [1, 2] },
      { stockStatus: 'None', availableGpuCounts: [] },
    ]
    expect(await priceOf({})).toEqual(fits)
    expect(await priceOf({ gpuCount: 2, minVcpuCount: 16, minMemoryInGb: 64 })).toEqual({ ...fits, availableGpuCounts: [2] })
    expect(await priceOf({ gpuCount: 1, minVcpuCount: 9 })).toEqual({ ...none, availableGpuCounts: [2] })
    expect(await priceOf({ gpuCount: 1, minMemoryInGb: 33 })).toEqual({ ...none, availableGpuCounts: [2] })
    expect(await priceOf({ minVcpuCount: 17 })).toEqual(none)
    expect(await priceOf({ totalDisk: 101 })).toEqual(none)
    expect(await priceOf({ globalNetwork: true })).toEqual(none)
    expect(await priceOf({ dataCenterId: here })).toEqual(fits)
    expect(await priceOf({ dataCenterId: 'nowhere' })).toEqual(none)
    expect(await priceOf({ dataCenterId: here, compliance: ['HIPAA', 'none'] })).toEqual(none)

    const deploy = async (input: Record<string, unknown>) => {
      const document =
        'mutation($i: PodFindAndDeployOnDemandInput) { podFindAndDeployOnDemand(input: $i) { gpuCount vcpuCount memoryInGb } }'
      const asked = { name: 'p', imageName: 'i', gpuTypeId: type, cloudType: 'SECURE', containerDiskInGb: 5, ...input }
      return (await call(document, { i: asked })).body.data.podFindAndDeployOnDemand
    }
    expect(await deploy({ gpuCount: 1, minVcpuCount: 9 })).toBeNull()
    expect(await deploy({ gpuCount: 1, minMemoryInGb: 33 })).toBeNull()
    expect(await deploy({ gpuCount: 2, minVcpuCount: 16, minMemoryInGb: 64 })).toEqual({ gpuCount: 2, vcpuCount: 16, memoryInGb: 64 })
    dropPlaces()
    expect(await priceOf({})).toEqual(none)
    scene.leave()
  })

  it('[GQL-20] each of its parts returns data', async () => {
    const { status, body } = await graphql(null)(`{
      gpuTypes(input: {ids: ["NVIDIA L4"]}) { id displayName manufacturer memoryInGb cudaCores secureCloud securePrice communityPrice secureSpotPrice oneMonthPrice maxGpuCount
        lowestPrice(input: {gpuCount: 1}) { gpuName gpuTypeId minimumBidPrice uninterruptablePrice minMemory minVcpu stockStatus availableGpuCounts maxUnreservedGpuCount compliance gpuTypeCudaVersions { cudaVersion availability } } }
      serverlessGpuPools { id gpuTypeIds }
      dataCenters { id name location s3apiEnabled gpuAvailability { id gpuTypeId displayName stockStatus available } }
      cpuFlavors(input: {id: "cpu3c"}) { id displayName groupId groupName minVcpu maxVcpu ramMultiplier diskLimitPerVcpu vcpuBurstable specifics(input: {instanceId: "cpu3c-2-4"}) { stockStatus securePrice slsPrice } }
      cpuTypes { id displayName cores threadsPerCore groupId } }`)
    expect([status, body.errors]).toEqual([200, undefined])
    expect(body.data.gpuTypes).toMatchObject([
      { id: 'NVIDIA L4', lowestPrice: { gpuTypeId: 'NVIDIA L4', stockStatus: expect.stringMatching(/^(High|Medium|Low|None)$/) } },
    ])
    expect(body.data.serverlessGpuPools).toContainEqual({ id: 'AMPERE_24', gpuTypeIds: expect.arrayContaining(['NVIDIA L4']) })
    expect(body.data.dataCenters).toContainEqual(expect.objectContaining({ id: 'EU-RO-1', gpuAvailability: expect.any(Array) }))
    expect(body.data.cpuFlavors).toMatchObject([{ id: 'cpu3c', minVcpu: 2, ramMultiplier: 2, specifics: { securePrice: 0.06 } }])
    expect(body.data.cpuTypes.length).toBeGreaterThan(3)
  })
})
