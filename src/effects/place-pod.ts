import { listPlacementHosts } from '../db/capacity.ts'
import type { Statement } from '../db/client.ts'
import { openDatabase } from '../db/client.ts'
import { insertPod, type PodResources, type PodRow } from '../db/pods.ts'
import type { Refusal } from '../domain/host/placement.ts'
import { findMissingVolumes, type MissingVolumes, type PodCandidate, podDiskGb, rankHostsForPod } from '../domain/pod/placement.ts'
import type { PodSpec } from '../domain/pod/record.ts'
import { type Env, readSettings } from '../env.ts'
import { hostStub } from '../objects/stubs.ts'
import { logEvent } from '../platform/log.ts'
import { putInForce } from './pod-transitions.ts'

/** Hosts tried for one create; each try costs a batch. */
const MAX_TRIES = 8

/** A new pod but for what placement decides. */
export type PodDraft = Omit<PodRow, keyof Granted>
type Granted = Pick<PodRow, 'hostId' | 'dataCenterId' | 'cudaVersion' | 'publicIp' | 'vcpus' | 'memoryMb'>

export type PodPlacement = { ok: true; pod: PodRow } | { ok: false; refusals: Refusal[]; missingVolumes: MissingVolumes | null }

interface PodRanking {
  candidates: PodCandidate[]
  refusals: Refusal[]
  missingVolumes: MissingVolumes | null
}

/** Where a pod would go now, best first, and what every other host lacks (`?dryRun=true`). */
export async function rankPod(env: Env, spec: PodSpec): Promise<PodRanking> {
  const hosts = await listPlacementHosts(openDatabase(env.DB))
  return { ...rankHostsForPod(spec, hosts, readSettings(env).placementStrategy), missingVolumes: findMissingVolumes(spec, hosts) }
}

/**
 * Records a new pod on the best host that has room, capacity and record in one batch, and has the host start it (POD-9, POD-10). `together`
 * makes what else belongs into that batch. Of callers that race for the last place one gets it; the others go on to the next host.
 */
export async function placePod(env: Env, draft: PodDraft, together: (pod: PodRow) => readonly Statement[]): Promise<PodPlacement> {
  const { candidates, refusals, missingVolumes } = await rankPod(env, draft.spec)
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    const pod = { ...draft, ...grantedBy(candidate) }
    if (await createOn(env, pod, candidate, together(pod))) return { ok: true, pod }
    refusals.push({ hostId: candidate.hostId, failed: ['capacity: taken by another request, or its host does not answer'] })
  }
  return { ok: false, refusals, missingVolumes }
}

// Marked first: if this request dies after the batch, the host object finds the pod by itself.
async function createOn(env: Env, pod: PodRow, { hostId, shape }: PodCandidate, together: readonly Statement[]): Promise<boolean> {
  const host = hostStub(env, hostId)
  const resources: PodResources = { ...shape, diskGb: podDiskGb(pod.spec) }
  const takesMore = await host.markPod(hostId, pod.id).then(
    (mark) => mark.takesMore,
    (error: unknown) => skipped(hostId, pod.id, error),
  )
  let isRefused = !takesMore
  try {
    if (takesMore) isRefused = !(await insertPod(openDatabase(env.DB), pod, resources, together))
  } finally {
    // After a failure of another kind nobody knows whether the row is there, so the host looks.
    await (isRefused ? host.unmarkPod(pod.id).catch((error: unknown) => skipped(hostId, pod.id, error)) : putInForce(env, hostId, pod.id))
  }
  return !isRefused
}

// One host whose object cannot be asked is no reason to refuse what others have room for; a mark that stays is forgotten by itself.
function skipped(hostId: string, podId: string, error: unknown): false {
  logEvent('warn', 'a host could not be asked to take a pod', { hostId, podId, error })
  return false
}

/** What a pod gets of the host that it is placed on. */
export function grantedBy({ hostId, dataCenterId, cudaVersion, publicIp, shape }: PodCandidate): Granted {
  return { hostId, dataCenterId, cudaVersion, publicIp, vcpus: shape.vcpus, memoryMb: shape.memoryMb }
}
