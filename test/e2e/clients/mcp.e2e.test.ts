import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { McpServer } from './mcp-server.ts'

// The published MCP server, unmodified: every one of its tools against a running plane.

/** Data center of the agent that starts with the plane. */
const DATA_CENTER = 'LOCAL-1'
const GPU = 'NVIDIA L4'
const REPOSITORY = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
const POOLS = ['AMPERE_24']
const TOOLS = 68
/** Milliseconds in which a job of these tests ends. */
const WAIT = 60_000
/** Milliseconds for which a log is read; existing lines arrive at once. */
const LOG_WAIT = 500

/** Tools without a function here: their arguments, the status of their refusal, and the reason. */
const REFUSED: Readonly<Record<string, { args?: Record<string, unknown>; status: number | undefined; why: string }>> = {
  'deploy-hub-repo': { args: { repo: 'owner/name' }, status: undefined, why: 'no hub is here, so no repository has a listing' },
  'get-endpoint-build': { args: { id: 'none', buildId: 'none' }, status: 404, why: 'the plane builds no images, so no build has an id' },
}

const BILLS = [
  'list-billing',
  'list-pod-billing',
  'list-serverless-billing',
  'list-endpoint-billing',
  'list-network-volume-billing',
  'list-cluster-billing',
]

interface Bill {
  records: unknown[]
  metadata: object
}

interface Named {
  id: string
  name: string
}

let plane: TestPlane
let mcp: McpServer
beforeAll(async () => {
  plane = await startPlane({ args: ['--simulate-gpus', `${GPU}:4`] })
  await hostIsOnline(plane)
  mcp = await McpServer.start(plane)
})
afterAll(async () => {
  await mcp?.stop()
  await plane?.stop()
})

/** Whether a tool answers 404 for an id. */
async function isGone(tool: string, id: string): Promise<boolean> {
  const answer = await mcp.try(tool, { id })
  return !answer.ok && answer.status === 404
}

/** The first line from the platform in a log, once there is one. */
async function firstLine(tool: string, whose: Record<string, unknown>): Promise<unknown> {
  return await eventually(`${tool} gives a line`, WAIT, async () => {
    const { items } = await mcp.call<{ items: unknown[] }>(tool, { ...whose, source: 'system', maxWaitMs: LOG_WAIT })
    return items[0]
  })
}

const idsOf = (listed: readonly Named[]) => listed.map(({ id }) => id)

describe.concurrent('[CLIENT-21] the tools of the MCP server', () => {
  test('make, read, list, change and delete a template', async () => {
    const made = await mcp.call<Named>('create-template', { body: { name: 'one', image: 'builtin/idle', env: { A: '1' } } })
    expect(await mcp.call('get-template', { id: made.id })).toEqual(made)
    expect(idsOf((await mcp.call<{ templates: Named[] }>('list-templates')).templates)).toContain(made.id)
    expect(await mcp.call('update-template', { id: made.id, body: { name: 'two' } })).toEqual({ ...made, name: 'two' })
    await mcp.call('delete-template', { id: made.id })
    expect(await isGone('get-template', made.id)).toBe(true)
  })

  test('make, read, list, change and delete a network volume', async () => {
    const made = await mcp.call<Named>('create-network-volume', { body: { name: 'one', size: 10, dataCenter: DATA_CENTER } })
    expect(await mcp.call('get-network-volume', { id: made.id })).toEqual(made)
    expect(idsOf((await mcp.call<{ networkVolumes: Named[] }>('list-network-volumes')).networkVolumes)).toContain(made.id)
    expect(await mcp.call('update-network-volume', { id: made.id, body: { name: 'two', size: 20 } })).toEqual({
      ...made,
      name: 'two',
      size: 20,
    })
    await mcp.call('delete-network-volume', { id: made.id })
    expect(await isGone('get-network-volume', made.id)).toBe(true)
  })

  test('make, read, list and delete a registry', async () => {
    const made = await mcp.call<Named>('create-registry', { body: { name: 'one', username: 'ada', password: 'secret' } })
    expect(await mcp.call('get-registry', { id: made.id })).toEqual(made)
    expect(idsOf((await mcp.call<{ registries: Named[] }>('list-registries')).registries)).toContain(made.id)
    await mcp.call('delete-registry', { id: made.id })
    expect(await isGone('get-registry', made.id)).toBe(true)
  })

  test('make, list and revoke a delegation', async () => {
    const made = await mcp.call<Named>('create-delegation', { body: { resource: REPOSITORY, name: 'one' } })
    expect(made).toMatchObject({ name: 'one', awsRegion: 'us-east-1', repository: 'team/models', tag: 'latest' })
    expect(await mcp.call('list-delegations')).toEqual({ delegations: [made] })
    await mcp.call('revoke-delegation', { id: made.id })
    expect(await mcp.call('list-delegations')).toEqual({ delegations: [] })
  })

  test('make, read, list, change and delete a cluster, and list its members', async () => {
    const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 }
    // Its members are containers; these have no program to run.
    const body = { name: 'one', type: 'TRAINING', image: 'registry.invalid/none:1', compute }
    const { id } = await mcp.call<Named>('create-cluster', { body })
    expect(await mcp.call('get-cluster', { id })).toMatchObject({ id, name: 'one', type: 'TRAINING', pods: { total: 2 } })
    expect(idsOf((await mcp.call<{ clusters: Named[] }>('list-clusters')).clusters)).toContain(id)
    const { pods } = await mcp.call<{ pods: Named[] }>('list-cluster-pods', { id })
    expect(pods.map(({ name }) => name)).toEqual(['one-0', 'one-1'])
    expect(await mcp.call('update-cluster', { id, body: { name: 'two' } })).toMatchObject({ id, name: 'two' })
    await mcp.call('delete-cluster', { id })
    expect(await isGone('get-cluster', id)).toBe(true)
    const crowd = { ...body, compute: { ...compute, podCount: 100 } }
    expect(await mcp.try('create-cluster', { body: crowd })).toMatchObject({ ok: false, status: 400 })
  })

  test('read and replace SSH keys', async () => {
    const keys = ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada']
    const makers = [{ userId: expect.any(String), addedAt: expect.any(String), endedBecause: null }]
    expect(await mcp.call('update-ssh-keys', { body: { keys } })).toEqual({ keys, makers })
    expect(await mcp.call('get-ssh-keys')).toEqual({ keys, makers })
    expect(await mcp.call('update-ssh-keys', { body: { keys: [] } })).toEqual({ keys: [], makers: [] })
  })

  test('make, read, list, change, stop and delete a pod, and read its log', async () => {
    const body = { name: 'one', image: 'builtin/idle', gpu: { id: GPU, count: 1 } }
    const { id } = await mcp.call<Named>('create-pod', { body })
    expect(await mcp.call('get-pod', { id })).toMatchObject({ id, name: 'one', gpu: { id: GPU, count: 1 } })
    expect(idsOf((await mcp.call<{ pods: Named[] }>('list-pods', { includeClusterPods: true })).pods)).toContain(id)
    expect(await mcp.call('update-pod', { id, body: { name: 'two' } })).toMatchObject({ id, name: 'two' })
    expect(await firstLine('stream-pod-logs', { podId: id })).toMatchObject({ source: 'system', line: 'creating from image builtin/idle' })
    expect(await mcp.call('pod-action', { id, body: { action: 'stop' } })).toMatchObject({ id })
    await mcp.call('delete-pod', { id })
    expect(await isGone('get-pod', id)).toBe(true)
  })

  test('make, read, list, change and delete an endpoint', async () => {
    const body = { name: 'one', image: 'builtin/probe', gpu: { pools: POOLS, count: 1 }, workers: { max: 0 } }
    const { id } = await mcp.call<Named>('create-endpoint', { body })
    expect(await mcp.call('get-endpoint', { id })).toMatchObject({ id, name: 'one', gpu: { pools: POOLS } })
    expect(idsOf((await mcp.call<{ items: Named[] }>('list-endpoints', { limit: 100 })).items)).toContain(id)
    expect(await mcp.call('update-endpoint', { id, body: { name: 'two' } })).toMatchObject({ id, name: 'two' })
    expect(await mcp.call('set-endpoint-gpus', { endpointId: id, pools: ['ADA_24'], gpuCount: 2 })).toEqual({
      endpoint: { id, name: 'two', gpuIds: 'ADA_24', gpuCount: 2, workersMin: 0, workersMax: 0 },
      previousGpuIds: 'AMPERE_24',
    })
    expect(await mcp.call('get-endpoint', { id })).toMatchObject({ gpu: { pools: ['ADA_24'], count: 2 } })
    expect(await mcp.call('list-endpoint-workers', { id })).toMatchObject({ workers: [], summary: { total: 0 }, endpointVersion: 2 })
    expect(await mcp.call('list-endpoint-releases', { id })).toMatchObject({ releases: [{ version: 2 }, { version: 1 }] })
    expect(await mcp.call('list-endpoint-builds', { id })).toMatchObject({ builds: [] })
    await mcp.call('delete-endpoint', { id })
    expect(await isGone('get-endpoint', id)).toBe(true)
  })
})

test('[CLIENT-22] run jobs and follow them to their ends', async () => {
  const body = { name: 'jobs', image: 'builtin/probe', gpu: { pools: POOLS, count: 1 }, workers: { max: 1, idleTimeout: 300 } }
  const { id: endpointId } = await mcp.call<Named>('create-endpoint', { body })
  const run = (input: object) => mcp.call<Named>('run-endpoint', { endpointId, input })
  expect(await mcp.call('runsync-endpoint', { endpointId, input: { n: 1 }, wait: WAIT })).toMatchObject({
    status: 'COMPLETED',
    output: { ok: true, input: { n: 1 } },
  })
  const { id: failing } = await run({ fail: 'as it should' })
  const failed = { id: failing, status: 'FAILED', error: 'as it should' }
  expect(await mcp.call('get-job-status', { endpointId, jobId: failing, wait: WAIT })).toMatchObject(failed)
  expect(await mcp.call('retry-job', { endpointId, jobId: failing })).toEqual({ id: failing, status: 'IN_QUEUE' })
  const { id: streaming } = await run({ chunks: 2 })
  expect(await mcp.call('get-job-status', { endpointId, jobId: streaming, wait: WAIT })).toMatchObject({ status: 'COMPLETED' })
  expect(await mcp.call('stream-job', { endpointId, jobId: streaming })).toMatchObject({
    status: 'COMPLETED',
    stream: [{ output: { chunk: 0 } }, { output: { chunk: 1 } }],
  })
  const { id: sleeping } = await run({ sleepMs: 600_000 })
  await run({})
  expect(await mcp.call('purge-endpoint-queue', { endpointId })).toEqual({ removed: 1, status: 'completed' })
  expect(await mcp.call('cancel-job', { endpointId, jobId: sleeping })).toMatchObject({ id: sleeping, status: 'CANCELLED' })
  expect(await mcp.call('endpoint-health', { endpointId })).toMatchObject({ jobs: { completed: 2, failed: 2 } })
  const { workers } = await mcp.call<{ workers: Named[] }>('list-endpoint-workers', { id: endpointId })
  expect(await firstLine('stream-worker-logs', { endpointId, workerId: workers[0]?.id })).toMatchObject({
    source: 'system',
    line: 'creating from image builtin/probe',
  })
  await mcp.call('delete-endpoint', { id: endpointId })
})

test('[CLIENT-21] list and read what the plane offers, and the available capacity', async () => {
  const asked = { include: ['AVAILABILITY'], product: ['POD', 'SERVERLESS'] }
  const { gpus } = await mcp.call<{ gpus: Named[] }>('list-gpu-types', asked)
  const gpu = gpus.find(({ id }) => id === GPU)
  expect(gpu).toMatchObject({ availability: expect.any(String), dataCenters: expect.any(Array) })
  expect(await mcp.call('get-gpu-type', { id: GPU, ...asked })).toEqual(gpu)
  const { cpus } = await mcp.call<{ cpus: Named[] }>('list-cpu-types')
  expect(cpus).toContainEqual(await mcp.call('get-cpu-type', { id: 'cpu3c' }))
  const { dataCenters } = await mcp.call<{ dataCenters: Named[] }>('list-data-centers')
  expect(dataCenters).toContainEqual(await mcp.call('get-data-center', { id: DATA_CENTER }))
  const { templates } = await mcp.call<{ templates: Named[] }>('list-public-templates')
  expect(templates).toBeInstanceOf(Array)
})

test('[CLIENT-21] ask GraphQL for capacity, the hub and public endpoints', async () => {
  expect(JSON.stringify(await mcp.call('get-capacity'))).toContain(GPU)
  expect(JSON.stringify(await mcp.call('list-hub-repos'))).toContain('[]')
  expect(JSON.stringify(await mcp.call('list-public-endpoints'))).toContain('[]')
})

test('[CLIENT-21] list charges', async () => {
  const asked = { bucketSize: 'hour', lastN: 1 }
  for (const tool of BILLS) {
    const { records, metadata } = await mcp.call<Bill>(tool, asked)
    expect(metadata, tool).toMatchObject({ query: { bucketSize: 'hour' }, recordCount: records.length })
  }
})

describe('[CLIENT-23] tools of the MCP server without a function here', () => {
  test.for(Object.entries(REFUSED))('%s', async ([tool, { args, status }]) => {
    expect(await mcp.try(tool, args)).toMatchObject({ ok: false, status })
  })

  test('all tools outside the table above were called', async () => {
    const tools = await mcp.tools()
    expect(tools).toHaveLength(TOOLS)
    expect(tools.filter((tool) => !mcp.called.has(tool))).toEqual([])
  })

  test('[CLIENT-24] connects to its plane alone', () => {
    expect(mcp.connections()).toEqual([`127.0.0.1:${plane.port}`])
  })
})
