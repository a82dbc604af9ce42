import { openDatabase, openRecords, type Statement } from '../../db/client.ts'
import { type ClusterRefusal, type ClusterRow, insertCluster, isSeatRefusal } from '../../db/clusters/insert-cluster.ts'
import { listPodHosts } from '../../db/hosts/placement-hosts.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { type Gang, placeGang } from '../../domain/cluster/gang.ts'
import type { PlacementHost, UnfitHost } from '../../domain/host/placement.ts'
import { findMissingVolumes, type MissingVolumes, podDiskGb } from '../../domain/pod/place/placement.ts'
import { runningNanos } from '../../domain/pod/rates.ts'
import type { PodSpec } from '../../domain/pod/record.ts'
import { type Env, readSettings } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { clusterStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { logEvent, tryLogged } from '../../platform/log.ts'
import { spendDemand } from '../billing/spend.ts'
import { regionOf } from '../catalog.ts'
import { reconcileSoon } from '../notify-cluster.ts'
import { grantedBy, type PodDraft } from '../pods/place-pod.ts'
import { type PodHost, podHost } from '../pods/with-pod-intents.ts'

/** Placement attempts per create: callers that race for the same hosts rank the remaining ones again. */
const MAX_TRIES = 5

/** Hosts for the members of a cluster, and the facts that explain why there are none. */
export interface RankedGang {
  /** All hosts that were considered. */
  hosts: PlacementHost[]
  gang: Gang
  missingVolumes: MissingVolumes | null
}

/** `reason`: why the account may have this cluster nowhere; null when the hosts do not take it, as the ranking says. */
export type ClusterPlacement =
  | { ok: true; cluster: ClusterRow; members: PodRow[] }
  | ({ ok: false; reason: ClusterRefusal | null } & RankedGang)

/** A new cluster without the parts that placement decides; `memberOf` makes the member of a rank. */
export interface ClusterDraft {
  cluster: Omit<ClusterRow, 'dataCenterId'>
  spec: PodSpec
  memberOf(rank: number): PodDraft
}

/** Returns where a cluster would be placed at present (`?dryRun=true`). `busy`: hosts to leave out. */
export async function rankGang(
  env: Env,
  { teamId, spec, podCount }: { teamId: string; spec: PodSpec; podCount: number },
  busy: ReadonlySet<string> = new Set(),
): Promise<RankedGang> {
  const hosts = (await listPodHosts(openDatabase(env.DB), teamId)).filter(({ id }) => !busy.has(id))
  const gang = placeGang(teamId, spec, podCount, hosts, readSettings(env).placementStrategy)
  return { hosts, gang, missingVolumes: findMissingVolumes(spec, hosts) }
}

/**
 * Records a cluster with all members and their capacity in one batch, and has the hosts prepare the members (CLU-8). `together` returns
 * further statements for that batch. When callers race for the same places, one gets them and the others try other places; a refusal that
 * does not depend on the hosts ends the search.
 */
export async function placeCluster(
  env: Env,
  draft: ClusterDraft,
  together: (cluster: ClusterRow, members: readonly PodRow[]) => readonly Statement[],
): Promise<ClusterPlacement> {
  const { teamId, podCount } = draft.cluster
  const busy = new Set<string>()
  let ranked = await rankGang(env, { teamId, podCount, spec: draft.spec })
  for (let tries = 0; tries < MAX_TRIES && ranked.gang.ok; tries += 1) {
    const { dataCenterId, seats, shape } = ranked.gang
    const cluster = { ...draft.cluster, dataCenterId }
    const members = seats.map((seat, rank) => ({ ...draft.memberOf(rank), ...grantedBy({ ...seat, shape }) }))
    const outcome = await createOn(env, cluster, members, { ...shape, diskGb: podDiskGb(draft.spec) }, together(cluster, members))
    if (outcome === 'done') return { ok: true, cluster, members }
    if (typeof outcome === 'string') return { ok: false, reason: outcome, ...ranked }
    for (const hostId of outcome) busy.add(hostId)
    ranked = await rankGang(env, { teamId, podCount, spec: draft.spec }, busy)
  }
  return { ok: false, reason: null, ...ranked }
}

/** Returns 'done', the hosts that accept no more workloads (none: others were faster), or why the batch was refused for all hosts. */
async function createOn(
  env: Env,
  cluster: ClusterRow,
  members: readonly PodRow[],
  each: Parameters<typeof insertCluster>[3]['each'],
  together: readonly Statement[],
): Promise<'done' | ClusterRefusal | string[]> {
  const object = clusterStub(env, asPlane('cluster', cluster.id, 'places a workload'), regionOf([cluster.dataCenterId]))
  await object.expect(cluster.id)
  const seats = members.map((member) => ({ member, host: podHost(env, member.hostId) }))
  const accepted = await mapAtOnce(seats, ({ member, host }) => recordIntentOn(host, member.id))
  const busy = seats.flatMap(({ member }, index) => (accepted[index] ? [] : [member.hostId]))
  if (busy.length > 0) {
    await eachSeat(seats, (host, podId) => host.clearIntent(podId))
    return [...new Set(busy)]
  }
  const nanos = members.reduce((sum, member) => sum + runningNanos(member), 0)
  let isThere = true
  try {
    const outcome = await insertCluster(openRecords(env), cluster, members, { each, spend: spendDemand(env, nanos), together })
    isThere = outcome === 'done'
    return outcome !== 'done' && isSeatRefusal(outcome) ? [] : outcome
  } finally {
    // A batch that threw may or may not have been written, so the hosts read the rows.
    await eachSeat(seats, (host, podId) => (isThere ? host.sync(podId) : host.clearIntent(podId)))
    await reconcileSoon(object, cluster.id)
  }
}

async function recordIntentOn(host: PodHost, podId: string): Promise<boolean> {
  try {
    return (await host.recordIntent(podId)).takesMore
  } catch (error) {
    logEvent('warn', 'a host could not be asked to take a member', { hostId: host.hostId, podId, error })
    return false
  }
}

/** A host that cannot be notified about a member reads its row by itself (adr/0012). */
async function eachSeat(
  seats: readonly { member: PodRow; host: PodHost }[],
  notify: (host: PodHost, podId: string) => Promise<void>,
): Promise<void> {
  await mapAtOnce(seats, ({ member, host }) =>
    tryLogged('warn', 'a host could not be notified of a member', { podId: member.id }, () => notify(host, member.id)),
  )
}

/** Returns how many members each host would get, or what each refused host lacks. */
export function hostsOfGang(gang: Gang): { hostId: string; members: number; failed: UnfitHost['failed'] }[] {
  if (!gang.ok) return gang.refusals.map(({ hostId, failed }) => ({ hostId, members: 0, failed }))
  const byHost = Map.groupBy(gang.seats, ({ hostId }) => hostId)
  return [...byHost].map(([hostId, seats]) => ({ hostId, members: seats.length, failed: [] }))
}
