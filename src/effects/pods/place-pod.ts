import { openDatabase, openRecords, type Statement } from '../../db/client.ts'
import { listPlacementHosts, listPodHosts } from '../../db/hosts/capacity.ts'
import { insertPod, type PodResources, type PodRow } from '../../db/pods/pods.ts'
import type { PlacementHost, UnfitHost } from '../../domain/host/placement.ts'
import { findMissingVolumes, type MissingVolumes, type PodCandidate, podDiskGb, rankHostsForPod } from '../../domain/pod/place/placement.ts'
import { runningNanos } from '../../domain/pod/rates.ts'
import type { PodSpec } from '../../domain/pod/record.ts'
import { type Env, readSettings } from '../../env.ts'
import type { PodMark } from '../../objects/host.ts'
import { logEvent } from '../../platform/log.ts'
import { spendDemand } from '../billing/spend.ts'
import { podHost, withMarkedPod } from './marked-pod.ts'

/** Hosts tried for one create; each try costs a batch. */
const MAX_TRIES = 8

/** A new pod but for what placement decides. */
export type PodDraft = Omit<PodRow, keyof Granted>
type Granted = Pick<PodRow, 'hostId' | 'dataCenterId' | 'cudaVersion' | 'publicIp' | 'vcpus' | 'memoryMb'>

export type PodPlacement = { ok: true; pod: PodRow } | { ok: false; refusals: UnfitHost[]; missingVolumes: MissingVolumes | null }

interface PodRanking {
  /** All that were looked at. */
  hosts: PlacementHost[]
  candidates: PodCandidate[]
  refusals: UnfitHost[]
  missingVolumes: MissingVolumes | null
}

/** Where a new pod would go now, best first, and what every other host lacks (`?dryRun=true`). */
export async function rankPod(env: Env, teamId: string, spec: PodSpec): Promise<PodRanking> {
  return rankOn(env, teamId, spec, await listPodHosts(openDatabase(env.DB), teamId))
}

/** Where a pod that has a place already would go on: a share of the disk keeps none where its machine is lost (SHR-41). */
export async function rankMove(
  env: Env,
  teamId: string,
  spec: PodSpec,
  accepts: (host: PlacementHost) => boolean = () => true,
): Promise<PodRanking> {
  return rankOn(env, teamId, spec, (await listPlacementHosts(openDatabase(env.DB))).filter(accepts))
}

function rankOn(env: Env, teamId: string, spec: PodSpec, hosts: PlacementHost[]): PodRanking {
  return {
    hosts,
    ...rankHostsForPod(teamId, spec, hosts, readSettings(env).placementStrategy),
    missingVolumes: findMissingVolumes(spec, hosts),
  }
}

/**
 * Records a new pod on the best host that has room, capacity and record in one batch, and has the host start it (POD-9, POD-10). `together`
 * makes what else belongs into that batch. Of callers that race for the last place one gets it; the others go on to the next host.
 */
export async function placePod(env: Env, draft: PodDraft, together: (pod: PodRow) => readonly Statement[]): Promise<PodPlacement> {
  const { candidates, refusals, missingVolumes } = await rankPod(env, draft.teamId, draft.spec)
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    const pod = { ...draft, ...grantedBy(candidate) }
    if (await createOn(env, pod, candidate, together(pod))) return { ok: true, pod }
    refusals.push({ hostId: candidate.hostId, failed: ['capacity: taken by another request, or its host does not answer'] })
  }
  return { ok: false, refusals, missingVolumes }
}

function createOn(env: Env, pod: PodRow, { hostId, shape }: PodCandidate, together: readonly Statement[]): Promise<boolean> {
  const host = podHost(env, hostId)
  const resources: PodResources = { ...shape, diskGb: podDiskGb(pod.spec) }
  // One host whose object cannot be asked is no reason to refuse what others have room for.
  const mark = (podId: string) => host.mark(podId).catch((error: unknown) => notHeard(hostId, podId, error))
  const insert = async ([marked]: readonly PodMark[]) =>
    marked?.takesMore === true && (await insertPod(openRecords(env), pod, resources, together, spendDemand(env, runningNanos(pod))))
  return withMarkedPod([{ ...host, mark }], pod.id, insert, { isUntouched: (isThere) => !isThere })
}

function notHeard(hostId: string, podId: string, error: unknown): PodMark {
  logEvent('warn', 'a host could not be asked to take a pod', { hostId, podId, error })
  return { takesMore: false, silentSinceMs: null }
}

/** What a pod gets of the host that it is placed on. */
export function grantedBy({ hostId, dataCenterId, cudaVersion, publicIp, shape }: PodCandidate): Granted {
  return { hostId, dataCenterId, cudaVersion, publicIp, vcpus: shape.vcpus, memoryMb: shape.memoryMb }
}
