import { openDatabase, openRecords, type Statement } from '../../db/client.ts'
import { listPlacementHosts, listPodHosts } from '../../db/hosts/placement-hosts.ts'
import { type HostRefusal, insertPod, isHostRefusal, type PodRefusal, type PodRow } from '../../db/pods/pods.ts'
import type { PlacementHost, UnfitHost } from '../../domain/host/placement.ts'
import type { Resources } from '../../domain/host/resources.ts'
import {
  classesOfPod,
  findMissingVolumes,
  type MissingVolumes,
  type PodCandidate,
  podDiskGb,
  rankHostsForPod,
} from '../../domain/pod/place/placement.ts'
import { runningNanos } from '../../domain/pod/rates.ts'
import type { PodSpec } from '../../domain/pod/record.ts'
import { type Env, readSettings } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import type { PodIntent } from '../../rpc/host.ts'
import { spendDemand } from '../billing/spend.ts'
import { fleetReader, loadPodFleet, rankFleet } from '../placement/fleet.ts'
import { searchHosts } from '../placement/search.ts'
import { podHost, withPodIntents } from './with-pod-intents.ts'

/** Hosts that a create looks for and tries first. */
const FIRST_TRIES = 5
/** Hosts tried per create; each try costs one batch. */
const MAX_TRIES = 8

/** A new pod without the parts that placement decides. */
export type PodDraft = Omit<PodRow, keyof Granted>
type Granted = Pick<PodRow, 'hostId' | 'dataCenterId' | 'cudaVersion' | 'publicIp' | 'vcpus' | 'memoryMb'>

/** `reason`: why the account may have this pod on no host; null when no host takes it, as `refusals` and `missingVolumes` say. */
export type PodPlacement =
  | { ok: true; pod: PodRow }
  | { ok: false; reason: PodRefusal | 'specBytesPerHost' | null; refusals: UnfitHost[]; missingVolumes: MissingVolumes | null }

interface PodRanking {
  /** All hosts that were considered. */
  hosts: readonly PlacementHost[]
  candidates: PodCandidate[]
  refusals: UnfitHost[]
  missingVolumes: MissingVolumes | null
}

/** Returns where a new pod would be placed at present, best host first, and what every other host lacks (`?dryRun=true`). */
export async function rankPod(env: Env, teamId: string, spec: PodSpec): Promise<PodRanking> {
  return rankOn(env, teamId, spec, await listPodHosts(openDatabase(env.DB), teamId))
}

/** Restricts the hosts of a pod that moves. */
export interface MoveRules {
  accepts(host: PlacementHost): boolean
  /** Whether the shape that a host grants is enough. */
  suits(candidate: PodCandidate): boolean
}

/**
 * Returns where an existing pod could continue, best host first: at least `wanted` places, or all that there are. The account's disk share
 * does not apply to moves: it must not keep a pod on a lost host (SHR-41).
 */
export function findMoves(env: Env, teamId: string, spec: PodSpec, { accepts, suits }: MoveRules, wanted: number): Promise<PodCandidate[]> {
  const judge = (hosts: readonly PlacementHost[]) => rankFor(env, teamId, spec, hosts.filter(accepts)).candidates.filter(suits)
  return search(env, { teamId, sharesDisk: false }, spec, judge, wanted)
}

function findCandidates(env: Env, teamId: string, spec: PodSpec, wanted: number): Promise<PodCandidate[]> {
  return search(env, { teamId, sharesDisk: true }, spec, (hosts) => rankFor(env, teamId, spec, hosts).candidates, wanted)
}

/** Candidates in the order in which a create tries them. The later ones are looked for only after the first have failed. */
async function* inTurn(env: Env, { teamId, spec }: PodDraft, first: readonly PodCandidate[]): AsyncGenerator<PodCandidate> {
  yield* first.slice(0, FIRST_TRIES)
  if (first.length < FIRST_TRIES) return
  const tried = new Set(first.slice(0, FIRST_TRIES).map(({ hostId }) => hostId))
  const more = await findCandidates(env, teamId, spec, MAX_TRIES)
  yield* more.filter(({ hostId }) => !tried.has(hostId)).slice(0, MAX_TRIES - FIRST_TRIES)
}

async function search(
  env: Env,
  whose: { teamId: string; sharesDisk: boolean },
  spec: PodSpec,
  judge: (hosts: readonly PlacementHost[]) => PodCandidate[],
  wanted: number,
): Promise<PodCandidate[]> {
  const strategy = readSettings(env).placementStrategy
  const reader = fleetReader(openDatabase(env.DB), strategy, whose)
  const classes = classesOfPod(whose.teamId, spec)
  const found = await searchHosts(reader, { classes, strategy, judge: (_rank, hosts) => judge(hosts) }, wanted)
  if (found !== null) return found
  return judge(await (whose.sharesDisk ? listPodHosts(openDatabase(env.DB), whose.teamId) : listPlacementHosts(openDatabase(env.DB))))
}

function rankFor(env: Env, teamId: string, spec: PodSpec, hosts: readonly PlacementHost[]) {
  return rankHostsForPod(teamId, spec, hosts, readSettings(env).placementStrategy)
}

function rankOn(env: Env, teamId: string, spec: PodSpec, hosts: readonly PlacementHost[]): PodRanking {
  return {
    hosts,
    ...rankFor(env, teamId, spec, hosts),
    missingVolumes: findMissingVolumes(spec, hosts),
  }
}

/**
 * Records a new pod and its capacity on the best host that has room, in one batch, and has the host start it (POD-9, POD-10). `together`
 * returns further statements for that batch. When callers race for the last place, one gets it and the others try the next host; a refusal
 * that does not depend on the host ends the search.
 */
export async function placePod(env: Env, draft: PodDraft, together: (pod: PodRow) => readonly Statement[]): Promise<PodPlacement> {
  const { teamId, spec } = draft
  const load = () => loadPodFleet(env, draft.createdAtMs, teamId)
  const found = await findCandidates(env, teamId, spec, FIRST_TRIES)
  const fleet = found.length > 0 ? null : await rankFleet(load, (hosts) => rankOn(env, teamId, spec, hosts))
  const tried: UnfitHost[] = []
  let isTooLarge = false
  for await (const candidate of inTurn(env, draft, fleet?.candidates ?? found)) {
    const pod = { ...draft, ...grantedBy(candidate) }
    const outcome = await createOn(env, pod, candidate, together(pod))
    if (outcome === 'done') return { ok: true, pod }
    if (outcome !== 'silent' && !isHostRefusal(outcome)) return { ok: false, reason: outcome, refusals: tried, missingVolumes: null }
    isTooLarge ||= outcome === 'specBytesPerHost'
    tried.push({ hostId: candidate.hostId, failed: ['capacity: taken by another request, or its host does not respond'] })
  }
  const { refusals, missingVolumes } = fleet ?? rankOn(env, teamId, spec, await load())
  const reason = isTooLarge ? 'specBytesPerHost' : null
  const triedIds = new Set(tried.map(({ hostId }) => hostId))
  return { ok: false, reason, refusals: [...refusals.filter(({ hostId }) => !triedIds.has(hostId)), ...tried], missingVolumes }
}

/** Outcome of a create on one host. 'silent': the host cannot be reached or takes no more work. */
type Creation = 'done' | 'silent' | HostRefusal | PodRefusal

function createOn(env: Env, pod: PodRow, { hostId, shape }: PodCandidate, together: readonly Statement[]): Promise<Creation> {
  const host = podHost(env, hostId)
  const resources: Resources = { ...shape, diskGb: podDiskGb(pod.spec) }
  // A host whose object cannot be reached does not fail the create while other hosts have room.
  const recordIntent = (podId: string) => host.recordIntent(podId).catch((error: unknown) => notHeard(hostId, podId, error))
  const insert = async ([intent]: readonly PodIntent[]): Promise<Creation> =>
    intent?.takesMore ? insertPod(openRecords(env), pod, resources, together, spendDemand(env, runningNanos(pod))) : 'silent'
  return withPodIntents([{ ...host, recordIntent }], pod.id, insert, { isUntouched: (outcome) => outcome !== 'done' })
}

function notHeard(hostId: string, podId: string, error: unknown): PodIntent {
  logEvent('warn', 'a host could not be asked to take a pod', { hostId, podId, error })
  return { takesMore: false, silentSinceMs: null }
}

/** Returns the fields of a pod that follow from its host. */
export function grantedBy({ hostId, dataCenterId, cudaVersion, publicIp, shape }: PodCandidate): Granted {
  return { hostId, dataCenterId, cudaVersion, publicIp, vcpus: shape.vcpus, memoryMb: shape.memoryMb }
}
