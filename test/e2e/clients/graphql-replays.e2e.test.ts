import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from '../../../src/client/client.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/worker-image.ts'

// What the command lines of others send over GraphQL, in the order of their commands, against a plane with an agent and real containers. The
// programs themselves cannot be had from a package registry; the shapes of all their documents are held by test/worker/graphql/clients.

const DOCUMENTS = join(import.meta.dirname, '../../worker/graphql/documents')
const GPU = 'NVIDIA L4'
const WAIT_MS = 60_000

interface Answer {
  data?: Record<string, unknown>
  errors?: { message: string }[]
}
interface GraphqlPod {
  id: string
  name: string
  desiredStatus: string
  podType: string
  runtime: { ports: { privatePort: number; publicPort: number }[] } | null
}

let plane: TestPlane
let agent: TestAgent
let api: ApiClient
let image: string
beforeAll(async () => {
  image = await pythonWorkerImage()
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ plane, name: 'replayed', simulateGpus: `${GPU}:4`, args: ['--public-ip', '127.0.0.1'] })
  api = createApiClient(plane.url, plane.apiKey)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

/** Sends a document as it is recorded; `inline` names texts in it that stand for something else here. */
async function send<T>(file: string, variables: unknown = null, inline: Record<string, string> = {}): Promise<T> {
  const recorded = readFileSync(join(DOCUMENTS, `${file}.graphql`), 'utf8')
  const query = Object.entries(inline).reduce((text, [from, to]) => text.replaceAll(from, to), recorded)
  const { data, errors } = (await api.request('POST', '/graphql', { query, variables })) as Answer
  expect({ file, errors }).toEqual({ file, errors: undefined })
  return data as T
}

async function runs(client: string, id: string): Promise<GraphqlPod> {
  return await eventually(`${client} sees pod ${id} run`, WAIT_MS, async () => {
    const { myself } = await send<{ myself: { pods: GraphqlPod[] } }>(`${client}/my-pods`)
    const pod = myself.pods.find((one) => one.id === id)
    return pod?.runtime ? pod : undefined
  })
}

const ended = (id: string) =>
  eventually(`pod ${id} has ended`, WAIT_MS, async () => (await api.getPod({ path: { id } })).status === 'EXITED')

const sleeping = () => ({
  ...{ cloudType: 'SECURE', containerDiskInGb: 5, gpuCount: 1, gpuTypeId: GPU, imageName: image, volumeInGb: 0 },
  ...{ dockerArgs: 'sleep infinity', ports: '22/tcp', env: [{ key: 'A', value: '1' }] },
})

describe('[GQL-61] replayed against real containers', () => {
  test('runpodctl 1: create, get, stop, start and remove a pod', async () => {
    const input = { ...sleeping(), name: 'one', dataCenterId: '', minMemoryInGb: 1, minVcpuCount: 1, networkVolumeId: '', templateId: '' }
    const { podFindAndDeployOnDemand: made } = await send<{ podFindAndDeployOnDemand: GraphqlPod }>('runpodctl-1/create-pod', { input })
    const { id } = made
    expect(await runs('runpodctl-1', id)).toMatchObject({
      name: 'one',
      desiredStatus: 'RUNNING',
      runtime: { ports: [{ privatePort: 22 }] },
    })
    expect(await send('runpodctl-1/stop-pod', { podId: id })).toMatchObject({ podStop: { id, desiredStatus: 'EXITED' } })
    await ended(id)
    expect(await send('runpodctl-1/resume-pod', { podId: id })).toMatchObject({ podResume: { id, desiredStatus: 'RUNNING' } })
    await runs('runpodctl-1', id)
    expect(await send('runpodctl-1/terminate-pod', { podId: id })).toEqual({ podTerminate: null })
    await expect(api.getPod({ path: { id } })).rejects.toThrow('404')
  })

  test('runpodctl 2: create a pod, read it, and make an endpoint that moves to another template', async () => {
    const input = { ...sleeping(), name: 'two', startSsh: true, volumeMountPath: '/workspace' }
    const { podFindAndDeployOnDemand: made } = await send<{ podFindAndDeployOnDemand: GraphqlPod }>('runpodctl-2/create-pod', { input })
    await runs('runpodctl-2', made.id)
    await send('runpodctl-1/terminate-pod', { podId: made.id })

    const template = (name: string) => api.createTemplate({ body: { name, image: 'builtin/echo', serverless: true } })
    const [first, second] = [await template('first'), await template('second')]
    const settings = { gpuIds: 'AMPERE_24', gpuCount: 1, workersMax: 2, idleTimeout: 10, scalerType: 'QUEUE_DELAY', scalerValue: 4 }
    const { saveEndpoint: endpoint } = await send<{ saveEndpoint: { id: string } }>('runpodctl-2/save-endpoint', {
      input: { name: 'serv', templateId: first.id, ...settings, flashBootType: 'FLASHBOOT' },
    })
    const job = await api.runJobSync({ path: { endpointId: endpoint.id }, body: { input: { n: 1 } } }, { timeoutMs: WAIT_MS })
    expect(job).toMatchObject({ status: 'COMPLETED', output: { n: 1 } })
    const moved = await send('runpodctl-2/update-endpoint-template', { input: { endpointId: endpoint.id, templateId: second.id } })
    expect(moved).toEqual({ updateEndpointTemplate: { id: endpoint.id, templateId: second.id } })
    await api.deleteEndpoint({ path: { id: endpoint.id } })
  })

  test('SkyPilot: launch a spot pod with its start script, list it, and take everything down', async () => {
    const name = 'sky-docker-login-template'
    const template = await api.createTemplate({ body: { name, image } })
    const { podRentInterruptable: made } = await send<{ podRentInterruptable: GraphqlPod }>('skypilot/create-spot-pod', null, {
      ...{ '"acme/sky:1"': JSON.stringify(image), '"t1"': JSON.stringify(template.id) },
      ...{ 'minMemoryInGb: 24': 'minMemoryInGb: 1', 'minVcpuCount: 4': 'minVcpuCount: 1', '"12.4"': '"13.0"' },
    })
    expect(await runs('skypilot', made.id)).toMatchObject({ name: 'sky-head', podType: 'INTERRUPTABLE', desiredStatus: 'RUNNING' })
    await send('runpodctl-1/terminate-pod', { podId: made.id })
    expect(await send('skypilot/delete-template')).toEqual({ deleteTemplate: null })
  })

  test('the MCP server: its key, and the capacity of this machine', async () => {
    expect(await send('mcp/key-check')).toEqual({ myself: { id: expect.any(String) } })
    // Until the pods of before have given their places back.
    await eventually('the capacity of this machine is told', WAIT_MS, async () => {
      const { gpuTypes } = await send<{ gpuTypes: { id: string; lowestPrice: { stockStatus: string } }[] }>('mcp/capacity')
      const status = gpuTypes.find(({ id }) => id === GPU)?.lowestPrice.stockStatus ?? ''
      return /^(Low|Medium|High)$/.test(status)
    })
  })
})
