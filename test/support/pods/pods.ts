import type { PodAction } from '../../../src/contract/enums.ts'
import { openRecords } from '../../../src/db/client.ts'
import { findPodForHost } from '../../../src/db/pods/find-pods.ts'
import type { PodRow } from '../../../src/db/pods/pods.ts'
import { decideAction } from '../../../src/domain/pod/pod.ts'
import type { PodSpec } from '../../../src/domain/pod/record.ts'
import type { PodAudit } from '../../../src/effects/audit.ts'
import { type PodDraft, placePod } from '../../../src/effects/pods/place-pod.ts'
import { type Transition, transitPod } from '../../../src/effects/pods/pod-transitions.ts'
import type { Workload } from '../../../src/host-protocol/messages.ts'
import { BY_PLATFORM } from '../../../src/rpc/cause.ts'
import { type Account, createAccount, env, expect, runDurableObjectAlarm, runInDurableObject, teamOf } from '../harness.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { GPU, gpus } from '../hosts/gpus.ts'
import { LogReader } from '../http/log-reader.ts'
import { hostStub, podLogStub } from '../runner/stubs.ts'

// Pods below the REST API: placed, acted on and read as its verbs do.

/** One GPU of a type. */
export function compute(typeId: string): PodSpec['compute'] {
  return { kind: 'gpu', typeId, count: 1, allowedCudaVersions: [], minCudaVersion: null, minRamGbPerGpu: null, minVcpuPerGpu: null }
}

export function draftPod(teamId: string, id: string, change: Partial<PodSpec> = {}): PodDraft {
  const spec: PodSpec = {
    container: { image: 'acme/idle:1', args: '', diskGb: 10, env: {}, ports: [], registry: null },
    compute: compute(GPU),
    cloud: 'SECURE',
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss: 'WAIT',
    ...change,
  }
  const nowMs = Date.now()
  const links = {
    templateId: null,
    networkVolumeId: null,
    globalVolumeId: null,
    registryId: null,
    clusterId: null,
    clusterRank: null,
    clusterIp: null,
    readyGeneration: null,
    triedHosts: null,
    globalIp: null,
  }
  const state = { status: 'PROVISIONING', version: 1, generation: 1, keepsDisk: false, diskStale: false, hostLost: false } as const
  const live = {
    statusReason: null,
    locked: false,
    ports: [],
    startedAtMs: null,
    chargedFromMs: null,
    changedAtMs: nowMs,
    createdAtMs: nowMs,
    stopAfterMs: null,
    terminateAfterMs: null,
    diskNanosPerHour: 0,
    stoppedDiskNanosPerHour: 0,
    diskChargedFromMs: null,
    labels: {},
  }
  return { id, teamId, name: 'p', spec, ...state, ...live, ...links, sshSuffix: '0a1b2c3d', pricePerHour: 0.44 }
}

let next = 0
/** A pod placed on this host, the only one with a free GPU of the type. By default in an account of its own. */
export async function placed(host: FakeHost, change: Partial<PodSpec> = {}, account?: Account): Promise<string> {
  const team = await teamOf(account ?? (await createAccount()))
  const result = await placePod(env, draftPod(team, `pod${Date.now()}${next++}`, change), () => [])
  if (!result.ok) throw new Error(JSON.stringify(result.refusals))
  expect(result.pod.hostId).toBe(host.id)
  return result.pod.id
}

export async function readPod(id: string): Promise<PodRow> {
  const pod = await findPodForHost(openRecords(env), id)
  if (!pod) throw new Error('no such pod')
  return pod
}

/** The audit cause of changes that a test makes outside the API. */
export const BY_TEST: PodAudit = { cause: BY_PLATFORM, action: 'pods.test' }

export async function act(id: string, action: PodAction): Promise<Transition> {
  const pod = await readPod(id)
  const outcome = decideAction(pod, action, Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  return transitPod(env, pod, outcome.change, BY_TEST)
}

/**
 * A pod of an account of its own that has a host for itself; `first` is its first container, in the desired state of the host and not
 * started.
 */
export interface HostedPod {
  account: Account
  host: FakeHost
  id: string
  first: Workload
}

/** Places a pod on a fresh host. */
export async function hostedPod(change: Partial<PodSpec> = {}): Promise<HostedPod> {
  const [account, host] = [await createAccount(), await FakeHost.join(gpus(1, gpuOf(change)))]
  const id = await placed(host, change, account)
  return { account, host, id, first: await host.waitFor((workload) => workload.id === `${id}-1`) }
}

function gpuOf({ compute: wanted }: Partial<PodSpec>): string {
  return wanted?.kind === 'gpu' ? wanted.typeId : GPU
}

/** Advances the clock beyond the age of a leftover intent record of a pod, and runs the alarm of the host's object. */
export async function ringForIntents(hostId: string): Promise<void> {
  const stub = hostStub(env, hostId)
  await runInDurableObject(stub, (_, state) => void state.storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'pods'"))
  await runDurableObjectAlarm(stub)
}

/** The object that stores the log of a pod. */
export function logOf(podId: string) {
  return podLogStub(env, 'pod', podId)
}

/** A reader of the log of a pod. */
export function readLog({ account, id }: Pick<HostedPod, 'account' | 'id'>, query = '', lastEventId?: string): Promise<LogReader> {
  return LogReader.open(account.key, `/v2/pods/${id}/logs${query}`, lastEventId)
}
