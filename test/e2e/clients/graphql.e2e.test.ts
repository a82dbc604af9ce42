import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUILD_TIMEOUT_MS, dstackClient, earlierSdk, pythonClient } from '../support/agent/worker-image.ts'
import { PublishedClient } from '../support/clients/published-client.ts'
import { callPlane, eventually, hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'

// Published clients that speak GraphQL, unmodified, against a running plane and its agent.

const GPU = 'NVIDIA L4'
const DATA_CENTER = 'LOCAL-1'
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada'
const WAIT_MS = 60_000

interface Named {
  id: string
  name: string
}
interface SdkPod extends Named {
  desiredStatus: string
  runtime: object | null
}

let plane: TestPlane
let sdk: PublishedClient
let earlier: PublishedClient
let dstack: PublishedClient
let catalog: PublishedClient
beforeAll(async () => {
  const [python, ofDstack] = [await pythonClient(), await dstackClient()]
  plane = await startPlane({ args: ['--simulate-gpus', `${GPU}:4`] })
  await hostIsOnline(plane)
  sdk = new PublishedClient(python, 'runpod', plane)
  earlier = new PublishedClient(python, 'runpod', plane, await earlierSdk())
  dstack = new PublishedClient(ofDstack, 'dstack', plane)
  catalog = new PublishedClient(ofDstack, 'gpuhunt', plane)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  sdk?.stop()
  earlier?.stop()
  dstack?.stop()
  catalog?.stop()
  await plane?.stop()
})

const get = <T>(path: string) => callPlane<T>(plane, plane.apiKey, 'GET', path)
const remove = (path: string) => callPlane(plane, plane.apiKey, 'DELETE', path)

/** A pod as the SDK shows it, once its container runs. */
function runs(id: string): Promise<SdkPod> {
  return eventually(`the pod ${id} runs`, WAIT_MS, async () => {
    const pod = await sdk.call<SdkPod>('get_pod', [id])
    return pod.runtime === null ? undefined : pod
  })
}

describe('[GQL-67] the Python SDK', () => {
  test('chooses a GPU, and creates, lists, stops, resumes and ends a pod with it', async () => {
    expect(await sdk.call('get_gpus')).toContainEqual({ id: GPU, displayName: 'L4', memoryInGb: 24 })
    expect(await sdk.call('get_gpu', [GPU, 2])).toMatchObject({ id: GPU, lowestPrice: { uninterruptablePrice: 0.44 } })
    await expect(sdk.call('get_gpu', ['NVIDIA None'])).rejects.toThrow('ValueError: No GPU found with the specified ID')
    const options = { gpu_type_id: GPU, env: { GREETING: 'hello' }, ports: '8888/http,22/tcp', container_disk_in_gb: 5 }
    const { id } = await sdk.call<Named>('create_pod', ['tour', 'builtin/idle'], options)
    expect(await runs(id)).toMatchObject({
      name: 'tour',
      imageName: 'builtin/idle',
      desiredStatus: 'RUNNING',
      env: ['GREETING=hello'],
      gpuCount: 1,
      machine: { gpuDisplayName: 'L4' },
    })
    expect((await sdk.call<SdkPod[]>('get_pods')).map((pod) => pod.id)).toEqual([id])
    expect(await sdk.call('stop_pod', [id])).toEqual({ id, desiredStatus: 'EXITED' })
    await eventually('its container has ended', WAIT_MS, async () => (await get<{ status: string }>(`/v2/pods/${id}`)).status === 'EXITED')
    expect(await sdk.call('resume_pod', [id, 1])).toMatchObject({ id, desiredStatus: 'RUNNING' })
    expect(await runs(id)).toMatchObject({ id, desiredStatus: 'RUNNING' })
    expect(await sdk.call('terminate_pod', [id])).toBeNull()
    expect(await sdk.call('get_pods')).toEqual([])
    expect(await sdk.call('get_pod', [id])).toBeNull()
    await expect(sdk.call('stop_pod', [id])).rejects.toThrow('QueryError: pod not found')
  })

  test('creates a pod on CPUs, and shows why one cannot have a network volume', async () => {
    const { id: cpu } = await sdk.call<Named>('create_pod', ['cpu', 'builtin/idle'], { instance_id: 'cpu3c-2-4' })
    expect(await runs(cpu)).toMatchObject({ gpuCount: 0, vcpuCount: 2, memoryInGb: 4 })
    const body = { name: 'data', size: 10, dataCenter: DATA_CENTER }
    const volume = await callPlane<Named>(plane, plane.apiKey, 'POST', '/v2/network-volumes', body)
    // The SDK reads the location of the volume and requests a pod there; that image cannot have it.
    const named = { gpu_type_id: GPU, network_volume_id: volume.id }
    await expect(sdk.call('create_pod', ['data', 'builtin/idle'], named)).rejects.toThrow('builtin/idle takes no mounts')
    await sdk.call('terminate_pod', [cpu])
    await remove(`/v2/network-volumes/${volume.id}`)
  })

  test('creates templates and an endpoint, runs a job there, and moves it to another template', async () => {
    const first = await sdk.call<Named>('create_template', ['first', 'builtin/echo'], { is_serverless: true, env: { A: '1' } })
    const second = await sdk.call<Named>('create_template', ['second', 'builtin/echo'], { is_serverless: true })
    const made = await sdk.call<Named>('create_endpoint', ['jobs', first.id, 'AMPERE_24'], { workers_max: 1 })
    expect(made).toMatchObject({ name: 'jobs', templateId: first.id, gpuIds: 'AMPERE_24', workersMax: 1 })
    const { id } = made
    expect(await sdk.call<Named[]>('get_endpoints')).toContainEqual(
      expect.objectContaining({ id, templateId: first.id, env: [{ key: 'A', value: '1' }] }),
    )
    const job = await callPlane(plane, plane.apiKey, 'POST', `/v2/${id}/runsync`, { input: { n: 1 } })
    expect(job).toMatchObject({ status: 'COMPLETED', output: { n: 1 } })
    expect(await sdk.call('update_endpoint_template', [id, second.id])).toEqual({ id, templateId: second.id })
    expect(await get(`/v2/serverless/${id}`)).toMatchObject({ env: {} })
    await remove(`/v2/serverless/${id}`)
    for (const template of [first, second]) await remove(`/v2/templates/${template.id}`)
  })

  test('reads its user, replaces its SSH key, and keeps credentials of a registry', async () => {
    const user = await sdk.call<{ id: string }>('get_user')
    expect(await sdk.call('update_user_settings', [KEY])).toEqual({ id: user.id, pubKey: KEY })
    expect(await get('/v2/account/ssh-keys')).toMatchObject({ keys: [KEY] })
    const made = await sdk.call<Named>('create_container_registry_auth', ['hub', 'ada', 'secret'])
    expect(made).toEqual({ id: expect.any(String), name: 'hub' })
    expect(await sdk.call('update_container_registry_auth', [made.id, 'ada', 'other'])).toEqual(made)
    await sdk.call('delete_container_registry_auth', [made.id])
    expect(await get('/v2/registries')).toEqual({ registries: [] })
  })

  test('of an earlier generation, whose key is in the address, does the same', async () => {
    expect(await earlier.call('version.get_version')).toBe('1.7.7')
    expect(await earlier.call('get_gpus')).toContainEqual({ id: GPU, displayName: 'L4', memoryInGb: 24 })
    const { id } = await earlier.call<Named>('create_pod', ['earlier', 'builtin/idle', GPU], { container_disk_in_gb: 5 })
    expect(await earlier.call<SdkPod[]>('get_pods')).toMatchObject([{ id, name: 'earlier', desiredStatus: 'RUNNING' }])
    expect(await earlier.call('stop_pod', [id])).toEqual({ id, desiredStatus: 'EXITED' })
    await eventually('its container has ended', WAIT_MS, async () => (await get<{ status: string }>(`/v2/pods/${id}`)).status === 'EXITED')
    expect(await earlier.call('resume_pod', [id, 1])).toMatchObject({ id, desiredStatus: 'RUNNING' })
    expect(await earlier.call('terminate_pod', [id])).toBeNull()
    const first = await earlier.call<Named>('create_template', ['first', 'builtin/echo'], { is_serverless: true })
    const second = await earlier.call<Named>('create_template', ['second', 'builtin/echo'], { is_serverless: true })
    const made = await earlier.call<Named>('create_endpoint', ['jobs', first.id, 'AMPERE_24'], { workers_max: 0 })
    expect(await earlier.call<Named[]>('get_endpoints')).toContainEqual(
      expect.objectContaining({ id: made.id, templateId: first.id, gpuIds: 'AMPERE_24' }),
    )
    expect(await earlier.call('update_endpoint_template', [made.id, second.id])).toEqual({ id: made.id, templateId: second.id })
    const login = await earlier.call<Named>('create_container_registry_auth', ['hub', 'ada', 'secret'])
    expect(await get('/v2/registries')).toMatchObject({ registries: [{ id: login.id, name: 'hub' }] })
    expect(await earlier.call('update_user_settings', [KEY])).toMatchObject({ pubKey: KEY })
    const left = [`serverless/${made.id}`, `templates/${first.id}`, `templates/${second.id}`, `registries/${login.id}`]
    for (const path of left) await remove(`/v2/${path}`)
    const otherTenant = new PublishedClient(await pythonClient(), 'runpod', { url: plane.url, apiKey: 'wrong' }, await earlierSdk())
    await expect(otherTenant.call('get_pods')).rejects.toThrow('AuthenticationError: Unauthorized request')
    otherTenant.stop()
  })

  test('knows a wrong key by its status', async () => {
    const otherTenant = new PublishedClient(await pythonClient(), 'runpod', { url: plane.url, apiKey: 'wrong' })
    await expect(otherTenant.call('get_pods')).rejects.toThrow('AuthenticationError: Unauthorized request')
    otherTenant.stop()
  })
})

describe('[GQL-68] dstack', () => {
  test('finds offers, and makes, reads and ends a GPU pod', async () => {
    const offers = await catalog.call<unknown[][]>('offers', [DATA_CENTER, 1])
    expect(offers).toContainEqual([GPU, DATA_CENTER, 0.44, 1, expect.any(Number), expect.any(Number)])
    expect(offers).toContainEqual(['cpu3c-2-4', DATA_CENTER, 0.06, 0, 2, 4])
    expect(await dstack.call('validate_api_key')).toBe(true)
    const { id } = await dstack.call<Named>('create_gpu_pod_graphql', ['dstack-0', 'builtin/idle', GPU, 'SECURE'])
    const pod = await eventually(`the pod ${id} runs`, WAIT_MS, async () => {
      const read = await dstack.call<{ status: string }>('get_pod', [id])
      return read.status === 'RUNNING' ? read : undefined
    })
    expect(pod).toMatchObject({ id, name: 'dstack-0', gpu: { id: GPU, count: 1 } })
    expect(await get<{ pods: Named[] }>('/v2/pods')).toMatchObject({ pods: expect.arrayContaining([expect.objectContaining({ id })]) })
    expect(await dstack.call('terminate_pod', [id])).toBe(true)
    expect(await dstack.call('get_pod', [id])).toBeNull()
    const full = { gpu_count: 8 }
    await expect(dstack.call('create_gpu_pod_graphql', ['dstack-1', 'builtin/idle', GPU, 'SECURE'], full)).rejects.toThrow(
      'RunpodGraphqlClientError',
    )
  })
})
