import type { PodSpec } from '../../src/contract/pod-spec.ts'
import { openDatabase } from '../../src/db/client.ts'
import { findPodForHost, type PodRow } from '../../src/db/pods.ts'
import { decideAction, type PodAction } from '../../src/domain/pod.ts'
import { type PodDraft, placePod } from '../../src/services/pod-placement.ts'
import { type Transition, transitPod } from '../../src/services/pod-transitions.ts'
import type { FakeHost } from './fake-host.ts'
import { type Account, createAccount, env, expect, teamOf } from './harness.ts'

// Pods below the REST API: placed, acted on and read as its verbs do.

export const GPU = 'NVIDIA L4'

/** One GPU of a type. */
export function compute(typeId: string): PodSpec['compute'] {
  return { kind: 'gpu', typeId, count: 1, allowedCudaVersions: [], minCudaVersion: null, minRamGbPerGpu: null, minVcpuPerGpu: null }
}

/** A pod as a request would have it placed. */
export function draftPod(teamId: string, id: string, change: Partial<PodSpec> = {}): PodDraft {
  const spec: PodSpec = {
    container: { image: 'builtin/idle', args: '', diskGb: 10, env: {}, ports: [], registry: null },
    compute: compute(GPU),
    cloud: 'SECURE',
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss: 'WAIT',
    ...change,
  }
  const nowMs = Date.now()
  const links = { templateId: null, networkVolumeId: null, globalVolumeId: null, registryId: null, clusterId: null }
  const state = { status: 'PROVISIONING', version: 1, generation: 1, keepsDisk: false, diskStale: false, hostLost: false } as const
  const live = { statusReason: null, locked: false, ports: [], startedAtMs: null, changedAtMs: nowMs, createdAtMs: nowMs }
  return { id, teamId, name: 'p', spec, ...state, ...live, ...links, sshSuffix: '0a1b2c3d', pricePerHour: 0.44 }
}

let made = 0
/** A pod on a host that is the only one with room; of an account of its own unless told. */
export async function placePodOn(host: FakeHost, account?: Account, change: Partial<PodSpec> = {}): Promise<string> {
  const team = await teamOf(account ?? (await createAccount()))
  const result = await placePod(env, draftPod(team, `pod${Date.now()}${made++}`, change), () => [])
  if (!result.ok) throw new Error(JSON.stringify(result.refusals))
  expect(result.pod.hostId).toBe(host.id)
  return result.pod.id
}

/** A pod's row. */
export async function readPod(id: string): Promise<PodRow> {
  const pod = await findPodForHost(openDatabase(env.DB), id)
  if (!pod) throw new Error('no such pod')
  return pod
}

/** What the action route does, without its HTTP. */
export async function actOnPod(id: string, action: PodAction): Promise<Transition> {
  const pod = await readPod(id)
  const outcome = decideAction(pod, action, Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  return transitPod(env, pod, outcome.change)
}

export async function freeGpus(hostId: string): Promise<number> {
  const row = await env.DB.prepare('SELECT free FROM host_gpus WHERE host_id = ?').bind(hostId).first<{ free: number }>()
  return row?.free ?? -1
}

/** Inventory of a host that has but these GPUs. */
export const gpus = (count = 1, typeId = GPU) => ({
  gpus: [{ typeId, count, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
})
