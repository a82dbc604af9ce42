import type { PodRow } from '../../db/pods/pods.ts'
import { envOf } from '../../domain/pod/request/container.ts'
import { type DesiredContainer, workloadIdOf } from '../../domain/pod/workloads.ts'
import { decodeArgs, withoutPlatformNames } from '../../domain/resources/container.ts'
import type { Env } from '../../env.ts'
import { PUBLIC_IP_PLACEHOLDER, type Workload, type WorkloadMount } from '../../host-protocol/messages.ts'
import { GLOBAL_INTERFACE } from '../../host-protocol/overlays.ts'
import { grantLog } from '../log-access.ts'
import { payerOf } from '../payer.ts'
import { pullWith } from '../registry-login.ts'
import { fillEnv } from '../secret-env.ts'
import { memberParts } from './member-spec.ts'
import { issuePodKey } from './pod-key.ts'

/** Time between SIGTERM and SIGKILL for a pod's container. */
const STOP_GRACE_MS = 10_000

/** A workload with the names in its env that match no secret, or the reason why it cannot be made. */
export type MadeWorkload = { ok: true; workload: Workload; unknownSecrets: string[]; hasSecrets: boolean } | { ok: false; reason: string }

/**
 * Returns the workload for one container of a pod (ENV-1), with the present secrets (ACC-6). It is made once per generation and changes
 * only in its desired state.
 */
export async function podWorkload(env: Env, pod: PodRow, desired: DesiredContainer): Promise<MadeWorkload> {
  const id = workloadIdOf(pod.id, desired.generation)
  const { container } = pod.spec
  const filled = await fillEnv(env, pod.teamId, container)
  if (!filled.ok) return filled
  const pull = await pullWith(env, pod.teamId, container)
  if (!pull.ok) return pull
  const member = await memberParts(env, pod)
  // No request: a host's object makes workloads. The cache of payers counts by the clock of the isolate.
  const payer = await payerOf(env, pod.teamId, Date.now())
  const log = await grantLog(env, pod.hostId, { kind: 'pod', ownerId: pod.id, workloadId: id })
  const workload = applyDesired(
    {
      id,
      kind: 'pod',
      desired: desired.desired,
      stopGraceMs: STOP_GRACE_MS,
      account: pod.teamId,
      ...(payer !== pod.teamId && { payer }),
      image: container.image,
      ...decodeArgs(container.args),
      env: { ...member.defaultEnv, ...withoutPlatformNames(envOf({ ...pod.spec, container: { ...container, env: filled.env } })) },
      platformEnv: { ...podEnv(pod), ...member.platformEnv, RUNPOD_API_KEY: await issuePodKey(env, pod.id) },
      ports: container.ports,
      resources: { vcpus: pod.vcpus, memoryMb: pod.memoryMb, diskGb: container.diskGb, gpu: gpuOf(pod) },
      log,
      mounts: mountsOf(pod),
      ...(pull.login && { registryAuth: pull.login }),
      ...(pod.globalIp !== null && { overlays: [{ id: pod.teamId, address: pod.globalIp, interface: GLOBAL_INTERFACE }] }),
      ...member.workload,
    },
    pod.id,
    desired,
  )
  return { ok: true, workload, unknownSecrets: filled.unknown, hasSecrets: filled.hasSecrets }
}

/** Returns a workload with its present desired state. */
export function applyDesired(workload: Workload, podId: string, desired: DesiredContainer): Workload {
  const { replaces: _replaces, keepDisk: _keepDisk, wipe: _wipe, prepare: _prepare, ...rest } = workload
  return {
    ...rest,
    desired: desired.desired,
    ...(desired.replaces.length > 0 && { replaces: desired.replaces.map((generation) => workloadIdOf(podId, generation)) }),
    ...(desired.keepDisk && { keepDisk: true }),
    ...(desired.wipe && { wipe: true }),
    ...(desired.prepare && { prepare: true }),
  }
}

/** Returns the GPUs that a pod requests; null for a CPU pod. */
export function gpuOf({ spec: { compute } }: Pick<PodRow, 'spec'>): { typeId: string; count: number } | null {
  return compute.kind === 'gpu' ? { typeId: compute.typeId, count: compute.count } : null
}

function podEnv(pod: PodRow): Record<string, string> {
  const gpu = gpuOf(pod)
  const volume = pod.spec.mounts.network?.volumeId
  return {
    RUNPOD_POD_ID: pod.id,
    RUNPOD_DC_ID: pod.dataCenterId,
    RUNPOD_POD_HOSTNAME: `${pod.id}-${pod.sshSuffix}`,
    RUNPOD_GPU_COUNT: String(gpu?.count ?? 0),
    RUNPOD_GPU_NAME: gpu?.typeId ?? '',
    RUNPOD_CPU_COUNT: String(pod.vcpus),
    RUNPOD_MEM_GB: String(Math.floor(pod.memoryMb / 1024)),
    RUNPOD_PUBLIC_IP: PUBLIC_IP_PLACEHOLDER,
    ...(volume !== undefined && { RUNPOD_VOLUME_ID: volume }),
  }
}

function mountsOf({ id, spec: { mounts } }: PodRow): WorkloadMount[] {
  const { persistent, network, global } = mounts
  return [
    ...(persistent ? [{ kind: 'persistent' as const, id, path: persistent.path, sizeGb: persistent.sizeGb }] : []),
    ...(network ? [{ kind: 'network' as const, id: network.volumeId, path: network.path }] : []),
    ...(global ? [{ kind: 'global' as const, id: global.volumeId, path: global.path }] : []),
  ]
}
