import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from '../../../src/client/client.ts'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { BUILD_TIMEOUT_MS, busyboxImage, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { Replay } from '../support/clients/graphql-replay.ts'
import { LogFollower } from '../support/plane/log-follower.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The requests that published clients send over GraphQL, in the order of their commands, against a plane with an agent and real containers.
// test/worker/graphql/clients asserts the answers in full; here their shape must match the selection, and pods run. Available packages run
// unmodified in graphql.e2e.test.ts; of SkyPilot's, which takes half a gigabyte to import, only the documents are here.

const GPU = 'NVIDIA L4'
const HERE = 'LOCAL-1'
const WAIT_MS = 60_000
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada'

interface GraphqlPod {
  id: string
  name: string
  desiredStatus: string
  podType: string
  runtime: { ports: { privatePort: number; publicPort: number }[] } | null
}
interface Named {
  id: string
  name: string
  templateId: string
}
type Pods = { myself: { pods: GraphqlPod[] } }

let plane: TestPlane
let agent: TestAgent
let api: ApiClient
let image: string
let replay: Replay
beforeAll(async () => {
  image = await busyboxImage(['/bin/sh', '-c', STAY_SCRIPT])
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ plane, name: 'replayed', simulateGpus: `${GPU}:8`, args: ['--public-ip', '127.0.0.1'] })
  api = createApiClient(plane.url, plane.apiKey)
  replay = new Replay(plane)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

/** Waits until the pod runs, as this document of its client shows it. */
async function runs(document: string, id: string): Promise<GraphqlPod> {
  return await eventually(`${document} shows pod ${id} run`, WAIT_MS, async () => {
    const { myself } = await replay.play<Pods>(document)
    const pod = myself.pods.find((one) => one.id === id)
    return pod?.runtime ? pod : undefined
  })
}

const isGone = (id: string) => expect(api.getPod({ path: { id } })).rejects.toThrow('404')
const endPod = (podId: string) => replay.play('runpodctl-1/terminate-pod', { variables: { podId } })
const template = (name: string, body: object = {}) =>
  api.createTemplate({ body: { name, image: 'builtin/echo', serverless: true, ...body } })
const volume = (dataCenter: string) => api.createNetworkVolume({ body: { name: 'v', size: 10, dataCenter } })

describe('[GQL-61] replayed against real containers', () => {
  test('runpodctl 1: pods, prices, keys and models', async () => {
    for (const secureCloud of [null, true])
      await replay.play('runpodctl-1/lowest-price', { variables: { input: { gpuCount: 1, secureCloud } } })
    const sizes = { containerDiskInGb: 5, gpuCount: 1, minMemoryInGb: 1, minVcpuCount: 1, volumeInGb: 1, volumeMountPath: '/runpod' }
    const said = {
      dockerArgs: '',
      dataCenterId: '',
      env: [],
      networkVolumeId: '',
      ports: '',
      supportPublicIp: false,
      startSsh: false,
      templateId: '',
    }
    const input = { cloudType: 'SECURE', ...sizes, ...said, gpuTypeId: GPU, imageName: image, name: 'b' }
    const { podFindAndDeployOnDemand: made } = await replay.play<{ podFindAndDeployOnDemand: GraphqlPod }>('runpodctl-1/create-pod', {
      variables: { input: { ...input, ports: '22/tcp' } },
    })
    const podId = made.id
    expect(await runs('runpodctl-1/my-pods', podId)).toMatchObject({ name: 'b', runtime: { ports: [{ privatePort: 22 }] } })
    // No community machine exists, and none in that data center.
    const elsewhere = {
      dataCenterId: 'US-KS-2',
      networkVolumeId: (await volume('US-KS-2')).id,
      templateId: (await api.createTemplate({ body: { name: 't1', image } })).id,
    }
    for (const more of [{ cloudType: 'COMMUNITY' }, elsewhere])
      expect(await replay.refused('runpodctl-1/create-pod', { variables: { input: { ...input, ...more, name: 'c' } } })).toMatch(
        /no longer any instances|network volumes/,
      )
    await replay.play('runpodctl-1/stop-pod', { variables: { podId } })
    expect(await replay.play('runpodctl-1/resume-pod', { variables: { podId } })).toMatchObject({ podResume: { desiredStatus: 'RUNNING' } })
    await runs('runpodctl-1/my-pods', podId)
    await replay.play('runpodctl-1/stop-pod', { variables: { podId } })
    await replay.play('runpodctl-1/bid-resume-pod', { variables: { podId, bidPerGpu: 0.3, gpuCount: 2 } })
    await runs('runpodctl-1/my-pods', podId)
    expect(await api.getPod({ path: { id: podId } })).toMatchObject({ status: 'RUNNING', gpu: { count: 2 } })
    await endPod(podId)
    await isGone(podId)
    for (const pubKey of [KEY, '']) {
      await replay.play('runpodctl-1/update-user-settings', { variables: { input: { pubKey } } })
      expect(await replay.play('runpodctl-1/myself')).toMatchObject({ myself: { pubKey } })
    }
    expect(await replay.play('runpodctl-1/my-models')).toEqual({ myModels: [] })
    expect(await replay.play('runpodctl-1/my-model', { variables: { owner: 'a', name: 'b' } })).toEqual({ myModel: null })
    const model = { variables: { input: { name: 'a', metadata: { from: 'hf' } } } }
    for (const name of ['add-model', 'remove-model', 'create-model-upload', 'complete-model-upload'])
      expect(await replay.refused(`runpodctl-1/${name}`, model)).toBe('not supported')
    expect(await replay.refused('runpodctl-1/update-model-version', { variables: { hash: 'a', status: 'READY' } })).toBe('not supported')
  })

  test('runpodctl 2: pods, templates, serverless, hub and the account', async () => {
    const asked = { cloudType: 'SECURE', containerDiskInGb: 5, gpuCount: 1, gpuTypeId: GPU, startSsh: true, volumeMountPath: '/workspace' }
    const { id } = await api.createTemplate({ body: { name: 'of a pod', image } })
    const ofImage = { imageName: image, name: 'b', ports: '22/tcp', env: [{ key: 'A', value: '1' }] }
    for (const more of [ofImage, { templateId: id }]) {
      const { podFindAndDeployOnDemand: pod } = await replay.play<{ podFindAndDeployOnDemand: GraphqlPod }>('runpodctl-2/create-pod', {
        variables: { input: { ...asked, ...more } },
      })
      await runs('runpodctl-2/my-pods', pod.id)
      await endPod(pod.id)
    }
    const shown = await replay.play<{ myself: { podTemplates: object[] } }>('runpodctl-2/template-for-port-labels', { variables: null })
    expect(shown.myself.podTemplates).toContainEqual(expect.objectContaining({ id, imageName: image }))
    await replay.play('runpodctl-2/get-template', { variables: { id } })
    for (const isRunpod of [true, false]) await replay.play('runpodctl-2/pod-templates', { variables: { input: { isRunpod } } })

    await replay.play('runpodctl-2/serverless-gpu-pools', { variables: null })
    const [first, second] = [await template('first'), await template('second')]
    const gpu = { templateId: first.id, gpuIds: 'AMPERE_24', gpuCount: 1, flashBootType: 'FLASHBOOT' }
    const queue = { workersMax: 2, idleTimeout: 10, scalerType: 'QUEUE_DELAY', scalerValue: 4 }
    const save = async (input: object) =>
      (await replay.play<{ saveEndpoint: Named }>('runpodctl-2/save-endpoint', { variables: { input } })).saveEndpoint
    const endpoint = await save({ name: 'serv', ...gpu, ...queue })
    const job = await api.runJobSync({ path: { endpointId: endpoint.id }, body: { input: { n: 1 } } }, { timeoutMs: WAIT_MS })
    expect(job).toMatchObject({ status: 'COMPLETED', output: { n: 1 } })
    await save({ name: 'servcpu', templateId: first.id, instanceIds: ['cpu3g-4-16'], workersMax: 3, flashBootType: 'FLASHBOOT' })
    const networkVolumeIds = [await volume('US-KS-2'), await volume('EU-RO-1')].map(({ id }) => ({ networkVolumeId: id }))
    const modelReferences = ['https://huggingface.co/a/b:main']
    await save({
      name: 'withvol',
      ...gpu,
      // A built-in image takes no volumes.
      templateId: (await template('mounted', { image })).id,
      workersMax: 3,
      networkVolumeIds,
      executionTimeoutMs: 60_000,
      minCudaVersion: '12.4',
      modelReferences,
    })
    const emptied = {
      flashBootType: '',
      gpuIds: '',
      instanceIds: null,
      locations: '',
      minCudaVersion: '',
      networkVolumeId: '',
      networkVolumeIds: [],
    }
    await replay.play('runpodctl-2/update-endpoint-model', {
      variables: {
        input: {
          ...queue,
          ...emptied,
          id: endpoint.id,
          name: 'e',
          templateId: first.id,
          gpuCount: 1,
          executionTimeoutMs: 0,
          modelReferences,
          workersMin: 0,
        },
      },
    })
    const moved = { endpointId: endpoint.id, templateId: second.id }
    expect(await replay.play('runpodctl-2/update-endpoint-template', { variables: { input: moved } })).toEqual({
      updateEndpointTemplate: { id: endpoint.id, templateId: second.id },
    })

    for (const name of ['gpu-types', 'data-centers', 'account', 'myself']) await replay.play(`runpodctl-2/${name}`, { variables: null })
    for (const pubKey of [KEY, '']) await replay.play('runpodctl-2/update-user-settings', { variables: { input: { pubKey } } })
    const listed = { limit: 10, orderBy: 'stars', orderDirection: 'desc' }
    for (const input of [listed, { ...listed, searchQuery: 'vllm' }])
      expect(await replay.play('runpodctl-2/listings', { variables: { input }, isAnonymous: true })).toEqual({ listings: [] })
    expect(await replay.play('runpodctl-2/listing', { variables: { id: 'xid' } })).toEqual({ listing: null })
  })

  test('the Python SDK: pods, templates, endpoints, the account', async () => {
    for (const name of ['gpu-types', 'gpu-type-of-two', 'gpu-type-of-one']) await replay.play(`python/${name}`)
    const { podFindAndDeployOnDemand: made } = await replay.play<{ podFindAndDeployOnDemand: GraphqlPod }>('python/create-pod', {
      inline: { img: image },
    })
    await runs('python/my-pods', made.id)
    const inline = { p1: made.id }
    expect(await replay.play('python/pod', { inline })).toMatchObject({
      pod: { id: made.id, desiredStatus: 'RUNNING', podType: 'RESERVED' },
    })
    expect(await replay.play('python/stop-pod', { inline })).toEqual({ podStop: { id: made.id, desiredStatus: 'EXITED' } })
    expect(await replay.play('python/resume-pod', { inline })).toMatchObject({ podResume: { id: made.id, desiredStatus: 'RUNNING' } })
    await runs('python/my-pods', made.id)
    await replay.play('python/terminate-pod', { inline })
    const { deployCpuPod: cpu } = await replay.play<{ deployCpuPod: GraphqlPod }>('python/create-cpu-pod', { inline: { img: image } })
    await runs('python/my-pods', cpu.id)
    await endPod(cpu.id)
    const { answer } = await replay.send('python/create-pod-with-all')
    expect(answer).toMatchObject({ status: 400, errors: [{ message: expect.stringContaining('Syntax Error') }] })

    const { saveTemplate: first } = await replay.play<{ saveTemplate: Named }>('python/save-serverless-template')
    await replay.play('python/save-pod-template', { inline: { t: 'of pods' } })
    const { saveEndpoint: endpoint } = await replay.play<{ saveEndpoint: Named }>('python/save-endpoint', { inline: { t1: first.id } })
    await replay.play('python/my-endpoints')
    const moved = { t2: (await template('moved')).id, e1: endpoint.id }
    await replay.play('python/update-endpoint-template', { inline: moved })
    await replay.play('python/update-user-settings', { inline: { 'ssh-ed25519 AAAA me': KEY } })
    expect(await replay.play('python/myself')).toMatchObject({ myself: { pubKey: KEY } })
    const { saveRegistryAuth: login } = await replay.play<{ saveRegistryAuth: Named }>('python/save-registry-auth')
    await replay.play('python/update-registry-auth', { inline: { r1: login.id } })
    await replay.play('python/delete-registry-auth', { inline: { r1: login.id } })
    expect(await api.listRegistries()).toEqual({ registries: [] })
  })

  test('SkyPilot: launch a spot pod, list it, and take everything down', async () => {
    for (const name of ['gpu-type', 'cpu-flavor', 'cpu-flavor-specifics']) await replay.play(`skypilot/${name}`)
    // Without the credentials of its registry: the image is on this machine.
    const { id } = await api.createTemplate({ body: { name: 'sky-docker-login-template', image } })
    await replay.play('skypilot/template-registries')
    const { podRentInterruptable: made } = await replay.play<{ podRentInterruptable: GraphqlPod }>('skypilot/create-spot-pod', {
      // Its start script is for bash.
      inline: { 'acme/sky:1': await pythonWorkerImage(), t1: id, '12.4': '13.0' },
    })
    expect(await runs('skypilot/my-pods', made.id)).toMatchObject({ name: 'sky-head', podType: 'INTERRUPTABLE', desiredStatus: 'RUNNING' })
    await replay.play('skypilot/pods-of-volumes')
    await endPod(made.id)
    expect(await replay.play('skypilot/delete-template')).toEqual({ deleteTemplate: null })
  })

  test('dstack and its catalog: offers, a pod and a spot pod, and another image for one', async () => {
    for (const name of ['gpu-names', 'places', 'cpu-data-centers']) await replay.play(`gpuhunt/${name}`, { isAnonymous: true })
    await replay.play('gpuhunt/cpu-flavors', { variables: { dataCenterId: HERE }, isAnonymous: true })
    const asked = {
      gpuCount: 1,
      minDisk: null,
      minMemoryInGb: null,
      minVcpuCount: null,
      minCudaVersion: '12.8',
      secureCloud: true,
      dataCenterId: HERE,
    }
    for (const variables of [{ lowestPriceInput: asked }, { gpuTypesInput: { cluster: true }, lowestPriceInput: { gpuCount: 8 } }])
      await replay.play('gpuhunt/prices', { variables, isAnonymous: true })
    const inline = { 'acme/dstack:1': image }
    const { podFindAndDeployOnDemand: made } = await replay.play<{ podFindAndDeployOnDemand: GraphqlPod }>('dstack/create-pod', { inline })
    const { podRentInterruptable: spot } = await replay.play<{ podRentInterruptable: GraphqlPod }>('dstack/create-spot-pod', { inline })
    for (const { id } of [made, spot]) await runs('runpodctl-1/my-pods', id)
    const registry = await api.createRegistry({ body: { name: 'r', username: 'u', password: 'p' } })
    await replay.play('dstack/edit-pod', { inline: { p1: made.id, r1: registry.id } })
    expect(await api.getPod({ path: { id: made.id } })).toMatchObject({ image: 'acme/dstack:2', registry: registry.id })
    for (const { id } of [made, spot]) await endPod(id)
  })

  test('the public documentation: pods, a template, an endpoint, a secret', async () => {
    for (const name of ['gpu-type', 'my-volumes']) await replay.play(`docs/${name}`)
    const { podFindAndDeployOnDemand: made } = await replay.play<{ podFindAndDeployOnDemand: GraphqlPod }>('docs/create-pod', {
      inline: { 'runpod/tensorflow': image },
    })
    const { podRentInterruptable: spot } = await replay.play<{ podRentInterruptable: GraphqlPod }>('docs/create-spot-pod', {
      inline: { 'runpod/pytorch': image },
    })
    await runs('docs/my-pods-with-runtime', made.id)
    await runs('docs/my-pods-with-runtime', spot.id)
    expect(await replay.play('docs/pod-with-runtime', { inline: { p1: made.id } })).toMatchObject({
      pod: { runtime: { uptimeInSeconds: expect.any(Number) } },
    })
    for (const [{ id }, name] of [
      [made, 'resume-pod'],
      [spot, 'bid-resume-pod'],
    ] as const) {
      await replay.play('docs/stop-pod', { inline: { p1: id } })
      await replay.play(`docs/${name}`, { inline: { p1: id } })
      await runs('docs/my-pods-with-runtime', id)
      await endPod(id)
    }
    await replay.play('docs/save-template')
    const { id: t1 } = await template('of docs')
    expect(await replay.play('docs/update-template', { inline: { t1 } })).toMatchObject({ saveTemplate: { readme: '## Goodbye, World!' } })
    await replay.play('docs/delete-template')
    const { saveEndpoint: endpoint } = await replay.play<{ saveEndpoint: Named }>('docs/create-endpoint', { inline: { t1 } })
    await replay.play('docs/my-endpoints')
    await replay.play('docs/update-endpoint', { inline: { e1: endpoint.id, t1 } })
    expect(await replay.play('docs/delete-endpoint', { inline: { e1: endpoint.id } })).toEqual({ deleteEndpoint: null })
    const { secretCreate: secret } = await replay.play<{ secretCreate: Named }>('docs/create-secret')
    expect(await replay.play('docs/delete-secret', { inline: { s1: secret.id } })).toEqual({ secretDelete: null })
  })

  test('flash: stock, an endpoint with a template of its own, and no apps', async () => {
    const wanted = { dataCenterId: null, gpuCount: 1, secureCloud: true, includeAiApi: true, allowedCudaVersions: [], compliance: [] }
    expect(await replay.play('flash/gpu-stock', { variables: { gpuTypesInput: { ids: [GPU] }, lowestPriceInput: wanted } })).toEqual({
      gpuTypes: [{ lowestPrice: { stockStatus: expect.stringMatching(/^(Low|Medium|High)$/) } }],
    })
    const specificsInput = { dataCenterId: HERE, instanceId: 'cpu3c-2-4' }
    await replay.play('flash/cpu-stock', { variables: { cpuFlavorInput: { id: 'cpu3c' }, specificsInput } })
    const own = {
      name: 'worker-template',
      imageName: image,
      containerDiskInGb: 5,
      dockerArgs: '',
      env: [{ key: 'A', value: '1' }],
      ports: '',
      startScript: '',
    }
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
      locations: '',
      flashBootType: 'FLASHBOOT',
      executionTimeoutMs: 0,
      allowedCudaVersions: '',
    }
    const { saveEndpoint: made } = await replay.play<{ saveEndpoint: Named }>('flash/save-endpoint', {
      variables: { input: { ...input, template: own } },
    })
    const id = made.id
    expect(await replay.play('flash/endpoint-exists', { variables: { id } })).toEqual({ myself: { endpoint: { id } } })
    await replay.play('flash/save-endpoint', { variables: { input: { ...input, id, workersMax: 2, templateId: made.templateId } } })
    expect(await replay.play('flash/get-template', { variables: { id: made.templateId } })).toMatchObject({
      podTemplate: { imageName: image },
    })
    const changed = { ...own, id: made.templateId, env: [], volumeInGb: 0, readme: '', startScript: undefined }
    await replay.play('flash/update-template', { variables: { input: changed } })
    expect(await replay.play('flash/delete-endpoint', { variables: { id } })).toEqual({ deleteEndpoint: null })
    expect(await replay.play('flash/list-apps')).toEqual({ myself: { flashApps: [] } })
    const reads = {
      ...{ 'get-app': { input: 'a' }, 'get-app-by-name': { flashAppName: 'a' }, 'get-build': { input: 'a' } },
      ...{ 'get-environment': { flashEnvironmentId: 'a' }, 'get-environment-by-name': { input: { flashAppId: 'a', name: 'b' } } },
      'auth-request-status': { flashAuthRequestId: 'a' },
    }
    for (const [name, variables] of Object.entries(reads))
      expect(Object.values(await replay.play<object>(`flash/${name}`, { variables }))).toEqual([null])
    const writes = {
      ...{
        'create-app': { input: { name: 'a' } },
        'create-environment': { input: { flashAppId: 'a', name: 'b' } },
        'create-auth-request': {},
      },
      ...{
        'prepare-upload': { input: { flashAppId: 'a', tarballSize: 1 } },
        'finalize-upload': { input: { flashAppId: 'a', objectKey: 'b' } },
      },
      ...{
        'update-build-manifest': { input: { flashBuildId: 'a' } },
        'deploy-build': { input: { flashEnvironmentId: 'a', flashBuildId: 'b' } },
      },
      ...{ 'delete-app': { flashAppId: 'a' }, 'delete-environment': { flashEnvironmentId: 'a' } },
    }
    for (const [name, variables] of Object.entries(writes))
      expect(await replay.refused(`flash/${name}`, { variables })).toBe('not supported')
  })

  test('the Terraform provider: a cluster of two members', async () => {
    const sizes = { podCount: 2, gpuCountPerPod: 1, type: 'TRAINING', deployCost: 2, containerDiskInGb: 5 }
    const input = { clusterName: 'train', gpuTypeId: GPU, imageName: image, dataCenterIds: [HERE], ...sizes }
    const { createCluster: made } = await replay.play<{ createCluster: Named }>('terraform/create-cluster', { variables: { input } })
    await eventually('both members run', WAIT_MS, async () => {
      const { pods } = await api.listClusterPods({ path: { id: made.id } })
      return pods.length === 2 && pods.every(({ status }) => status === 'RUNNING')
    })
    const { myself } = await replay.play<{ myself: { cluster: { pods: object[] } } }>('terraform/get-cluster', {
      variables: { id: made.id },
    })
    expect(myself.cluster.pods).toMatchObject([{ clusterRole: 'PRIMARY' }, { clusterRole: 'SECONDARY' }])
    expect(await replay.play('terraform/list-clusters')).toMatchObject({ myself: { clusters: [{ id: made.id, podCount: 2 }] } })
    await replay.play('terraform/delete-cluster', { variables: { input: { id: made.id } } })
  })

  test('read-only clients: MCP, rp and the Java client', async () => {
    for (const name of ['hub-repos', 'hub-repos-with-config', 'public-endpoints']) await replay.play(`mcp/${name}`)
    for (const name of ['mcp/key-check', 'rp/key-check']) expect(await replay.play(name)).toEqual({ myself: { id: expect.any(String) } })
    await replay.play('rp/data-centers')
    expect(await replay.play('rp/listing-from-repo', { variables: { repoOwner: 'a', repoName: 'b' } })).toEqual({ listingFromRepo: null })
    for (const name of ['cpu-types', 'cpu-flavors']) await replay.play(`java/${name}`, { isAnonymous: true })
    // Waits until the previous pods have released their capacity.
    await eventually('the capacity of this machine is told', WAIT_MS, async () => {
      const { gpuTypes } = await replay.play<{ gpuTypes: { id: string; lowestPrice: { stockStatus: string } }[] }>('mcp/capacity')
      return /^(Low|Medium|High)$/.test(gpuTypes.find(({ id }) => id === GPU)?.lowestPrice.stockStatus ?? '')
    })
  })

  test('[GQL-43] a start script runs in a pod of its template, with the arguments of the command', async () => {
    const { id } = await api.createTemplate({ body: { name: 'scripted', image } })
    const startScript = `for word in "$@"; do echo "given $word"; done; ${STAY_SCRIPT}`
    const input = { id, dockerArgs: "one 'two three'", startScript }
    const document = 'mutation($input: SaveTemplateInput) { saveTemplate(input: $input) { dockerArgs startScript } }'
    const saved = await api.request('POST', '/graphql', { query: document, variables: { input } })
    expect(saved).toEqual({ data: { saveTemplate: { dockerArgs: input.dockerArgs, startScript } } })
    const pod = await api.createPod({ body: { name: 'scripted', gpu: { id: GPU }, templateId: id, env: { GREETING: 'there' } } })
    const log = LogFollower.ofPod(plane, pod.id)
    await log.waitFor((lines) => lines.includes('hello there'))
    expect(log.lines()).toEqual(expect.arrayContaining(['given one', 'given two three']))
    log.close()
    await endPod(pod.id)
  })

  test('every document is sent', () => {
    console.info(`documents of published clients: ${replay.count} in all, ${replay.count - replay.unsent.size} sent`)
    expect([...replay.unsent]).toEqual([])
  })
})
