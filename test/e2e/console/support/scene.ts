import { generateKeyPairSync } from 'node:crypto'
import { type ApiClient, createApiClient } from '../../../../src/client/client.ts'
import { waitUntil } from '../../../support/time.ts'
import { hostIsOnline, type TestPlane } from '../../support/plane/plane.ts'

/** Simulated GPUs: enough for everything of the scene but one endpoint. */
export const SCENE_GPUS = 'NVIDIA L4:4,NVIDIA H100 80GB HBM3:2'
const SETTLED_MS = 60_000
const L4 = { id: 'NVIDIA L4', count: 1 }
const CPU = [{ id: 'cpu3c', vcpuCount: 2 }]

/** The resources that the pages of a team show. */
export interface Scene {
  pod: string
  endpoint: string
  waiting: string
  job: string
  worker: string
  cluster: string
  template: string
  host: string
  account: string
}

/** Creates a team's week of work on a fresh plane: resources that run, wait, failed, cost and have ended. */
export async function makeScene(plane: TestPlane): Promise<Scene> {
  const api = createApiClient(plane.url, plane.apiKey)
  const operator = createApiClient(plane.url, plane.operatorKey)
  await hostIsOnline(plane)
  const [{ hosts }, { users }] = await Promise.all([operator.listHosts(), operator.listUsers()])
  const dataCenter = hosts[0]?.dataCenterId ?? ''
  await keep(api, dataCenter)
  await team(api)
  const { pod, cluster, template } = await compute(api)
  const { endpoint, job, worker } = await queue(api)
  const waiting = await waits(api)
  await api.updateSpendLimits({ body: { perHour: 40, perMonth: 500 } })
  return { pod, endpoint, waiting, job, worker, cluster, template, host: hosts[0]?.id ?? '', account: users[0]?.id ?? '' }
}

async function keep(api: ApiClient, dataCenter: string): Promise<void> {
  await api.createNetworkVolume({ body: { name: 'checkpoints', size: 200, dataCenter } })
  await api.createNetworkVolume({ body: { name: 'datasets', size: 500, dataCenter } })
  await api.createRegistry({ body: { name: 'ghcr', host: 'ghcr.io', username: 'ada', password: 'not shown' } })
  await api.createSecret({ body: { name: 'HF_TOKEN', value: 'not shown', description: 'Reads models of the hub' } })
  const { publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]).toString('base64')
  await api.putSshKeys({ body: { keys: [`ssh-ed25519 ${blob} ada@laptop`] } })
  await api.createAccountKey({ body: { name: 'ci', permission: 'RESTRICTED', scopes: ['serverless:read', 'jobs:write'] } })
}

async function team(api: ApiClient): Promise<void> {
  const { id } = await api.createOrganization({ body: { name: 'Vision lab' } })
  await api.createInvitation({ path: { id }, body: { email: 'grace@example.com', role: 'BASIC' } })
  await api.createInvitation({ path: { id }, body: { email: 'alan@example.com', role: 'BILLING' } })
}

async function compute(api: ApiClient): Promise<Pick<Scene, 'pod' | 'cluster' | 'template'>> {
  const template = await api.createTemplate({
    body: {
      name: 'trainer',
      image: 'builtin/idle',
      env: { EPOCHS: '3', HF_TOKEN: '{{ RUNPOD_SECRET_HF_TOKEN }}' },
      ports: ['8888/http', '22/tcp'],
    },
  })
  const pod = await api.createPod({ body: { name: 'training', templateId: template.id, gpu: L4 } })
  const sandbox = await api.createPod({ body: { name: 'sandbox', image: 'builtin/idle', cpu: { id: 'cpu3c', vcpuCount: 2 } } })
  const compute = { gpuTypeId: L4.id, gpuCountPerPod: 1, podCount: 2 }
  const cluster = await api.createCluster({ body: { name: 'fine-tune', type: 'TRAINING', image: 'builtin/idle', compute } })
  for (const { id } of [pod, sandbox]) await runs(api, id)
  await api.actOnPod({ path: { id: sandbox.id }, body: { action: 'stop' } })
  return { pod: pod.id, cluster: cluster.id, template: template.id }
}

async function runs(api: ApiClient, id: string): Promise<void> {
  await waitUntil(`the pod ${id} runs`, async () => (await api.getPod({ path: { id } })).status === 'RUNNING', SETTLED_MS)
}

async function queue(api: ApiClient): Promise<Pick<Scene, 'endpoint' | 'job' | 'worker'>> {
  const body = { name: 'captions', image: 'builtin/probe', cpu: CPU, disk: 1, workers: { min: 1, max: 2 } }
  const { id } = await api.createEndpoint({ body })
  await api.updateEndpoint({ path: { id }, body: { env: { LANGUAGE: 'en' }, workers: { min: 1, max: 3 } } })
  const path = { endpointId: id }
  const webhook = 'https://hooks.example.com/captions'
  const ends = async (input: Record<string, unknown>) => {
    const job = await api.runJob({ path, body: { input, webhook } })
    await waitUntil(
      `job ${job.id} has ended`,
      async () => /COMPLETED|FAILED/.test((await api.getJobStatus({ path: { ...path, jobId: job.id } })).status),
      SETTLED_MS,
    )
    return job
  }
  const first = await ends({ prompt: 'a lighthouse at dusk', sleepMs: 900 })
  await ends({ fail: 'the picture is not a JPEG' })
  for (const prompt of ['a fox in the snow', 'two boats', 'a bridge in fog']) await ends({ prompt, sleepMs: 200 })
  await api.runJob({ path, body: { input: { prompt: 'a long one', sleepMs: 600_000 } } })
  const { workers } = await api.listEndpointWorkers({ path: { id } })
  return { endpoint: id, job: first.id, worker: workers[0]?.id ?? '' }
}

/** An endpoint whose GPU type no host has. */
async function waits(api: ApiClient): Promise<string> {
  const gpu = { pools: ['BLACKWELL_180'], count: 1 }
  const { id } = await api.createEndpoint({ body: { name: 'chat', image: 'builtin/echo', gpu, workers: { min: 0, max: 2 } } })
  await api.runJob({ path: { endpointId: id }, body: { input: { prompt: 'Hello' } } })
  await waitUntil(
    'a worker is refused',
    async () => (await api.getQueueHealth({ path: { endpointId: id } })).workers.throttled > 0,
    SETTLED_MS,
  )
  return id
}
