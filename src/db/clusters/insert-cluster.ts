import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Resources } from '../../domain/host/resources.ts'
import { OVERLAY_POOLS } from '../../domain/overlay/addresses.ts'
import { boundOf, specBytesOn, withinBudget } from '../accounts/budgets.ts'
import { isActive } from '../accounts/suspension.ts'
import { type SpendDemand, withinSpend } from '../billing/spend.ts'
import type { Records, Statement } from '../client.ts'
import { recomputeHosts } from '../hosts/capacity.ts'
import { withinDiskShare } from '../hosts/disk-share.ts'
import { podAllocation } from '../hosts/pod-capacity.ts'
import { takesAccount } from '../hosts/tenancy.ts'
import { REFERENCE_REFUSALS } from '../pods/pod-references.ts'
import type { PodRow } from '../pods/pods.ts'
import { outcomeOf, refuse, required } from '../refusals.ts'
import { allocations, clusters, overlays, pods } from '../schema.ts'
import { sealPodSpec } from '../sealed-pod.ts'
import { selectOf } from '../select-of.ts'

export type ClusterRow = typeof clusters.$inferSelect

/** A parameter of D1 holds at most 2 MB. */
const CHUNK_CHARS = 1_000_000
const POOL = OVERLAY_POOLS.cluster

/** Refusals of `insertCluster` by the chosen hosts; others may take the cluster. `host`: offline, cordoned, or kept for other accounts. */
const SEAT_REFUSALS = ['capacity', 'host', 'diskShare'] as const
/** Refusals of `insertCluster` wherever it would be placed. `network`: no private network is free. */
const CLUSTER_REFUSALS = ['inactive', 'clusters', 'pods', 'gpus', 'specBytesPerHost', 'spend', 'network', ...REFERENCE_REFUSALS] as const
type SeatRefusal = (typeof SEAT_REFUSALS)[number]
export type ClusterRefusal = (typeof CLUSTER_REFUSALS)[number]

/** Whether the refusal depends on the chosen hosts, so that others may accept the cluster. */
export function isSeatRefusal(refusal: SeatRefusal | ClusterRefusal): refusal is SeatRefusal {
  return SEAT_REFUSALS.some((name) => name === refusal)
}

/**
 * Reserves the resources of all members and stores the cluster with them and its private network, in one batch that fails as a whole
 * (CLU-8): 'done', or why nothing was written. The number of statements hardly grows with the members, which are passed as one parameter.
 */
export async function insertCluster(
  db: Records,
  cluster: ClusterRow,
  members: readonly PodRow[],
  { each, spend, together }: { each: Resources; spend: SpendDemand; together: readonly Statement[] },
): Promise<'done' | SeatRefusal | ClusterRefusal> {
  const kept = members.map((member) => ({ ...member, spec: sealPodSpec(db.vault, member, member.spec) }))
  const seats = JSON.stringify(members.map(({ id, hostId }) => ({ id, hostId })))
  const hostIds = JSON.stringify([...new Set(members.map(({ hostId }) => hostId))])
  const batch = db.batch([
    insertRow(db, cluster, members, { each, spend }),
    insertOverlay(db, cluster),
    allocate(db, cluster, seats, each),
    ...recomputeHosts(db, sql`(SELECT value FROM json_each(${hostIds}))`),
    ...chunksOf(kept.map(encode)).map((chunk) => insertMembers(db, cluster.id, chunk)),
    ...together,
  ])
  return outcomeOf(batch, [...SEAT_REFUSALS, ...CLUSTER_REFUSALS])
}

function insertRow(db: Records, cluster: ClusterRow, members: readonly PodRow[], { each, spend }: { each: Resources; spend: SpendDemand }) {
  const { id, teamId } = cluster
  const gpus = (each.gpu?.count ?? 0) * members.length
  const may = required({
    inactive: isActive(teamId),
    clusters: withinBudget(teamId, 'clusters', 1),
    pods: withinBudget(teamId, 'pods', members.length),
    gpus: withinBudget(teamId, 'gpus', gpus),
    spend: withinSpend(teamId, spend),
    specBytesPerHost: withinBytes(teamId, members),
    diskShare: withinShares(teamId, members, each),
  } satisfies { [Name in SeatRefusal | ClusterRefusal]?: SQL })
  return db.insert(clusters).values({ ...cluster, id: sql<string>`(SELECT CASE WHEN ${may} THEN ${id} END)` })
}

// Size of the members' specs on each host plus that of the team's other pods there.
function withinBytes(teamId: string, members: readonly PodRow[]): SQL {
  const bytesOf = (onHost: readonly PodRow[]) =>
    onHost.reduce((sum, { spec }) => sum + new TextEncoder().encode(JSON.stringify(spec)).length, 0)
  const added = [...Map.groupBy(members, ({ hostId }) => hostId)].map(([hostId, onHost]) => ({ hostId, bytes: bytesOf(onHost) }))
  const used = specBytesOn(teamId, sql`json_extract(added.value, '$.hostId')`)
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(added)}) added
    WHERE ${used} + json_extract(added.value, '$.bytes') > ${boundOf(teamId, 'specBytesPerHost')})`
}

// The disk share on each host, for all members that it takes.
function withinShares(teamId: string, members: readonly PodRow[], { diskGb }: Resources): SQL {
  const seats = [...Map.groupBy(members, ({ hostId }) => hostId)].map(([hostId, { length }]) => ({ hostId, length }))
  const [hostId, length] = [sql`json_extract(seat.value, '$.hostId')`, sql`json_extract(seat.value, '$.length')`]
  const demand = { id: '', diskGb: sql`(${diskGb} * ${length})` }
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(seats)}) seat WHERE NOT ${withinDiskShare(teamId, hostId, demand)})`
}

// The smallest free slot of a network. The network starts with check number 1.
function insertOverlay(db: Records, { id, teamId, createdAtMs }: ClusterRow) {
  const taken = sql`(SELECT slot FROM overlays WHERE kind = 'cluster')`
  const free = sql`(SELECT MIN(candidate) FROM (SELECT 0 AS candidate UNION ALL SELECT slot + 1 FROM overlays WHERE kind = 'cluster')
    WHERE candidate NOT IN ${taken} AND candidate < ${POOL.slots})`
  const slot = sql<number>`COALESCE(${free}, ${refuse('network')})`
  return db.insert(overlays).values({ id, teamId, kind: 'cluster', ownerId: id, slot, checkNumber: 1, createdAtMs })
}

function allocate(db: Records, { teamId, createdAtMs }: ClusterRow, seats: string, each: Resources) {
  const id = sql`json_extract(seat.value, '$.id')`
  const hostId = sql`json_extract(seat.value, '$.hostId')`
  const takes = sql`EXISTS (SELECT 1 FROM hosts WHERE id = ${hostId} AND status = 'ONLINE' AND cordoned_at IS NULL AND ${takesAccount(hostId, teamId)})`
  // The check of the accounts on a host precedes the first member's allocation.
  const values = podAllocation({ id, teamId, hostId, createdAtMs }, each)
  return db.insert(allocations).select(selectOf(allocations, values, sql`FROM json_each(${seats}) seat WHERE ${required({ host: takes })}`))
}

function insertMembers(db: Records, clusterId: string, chunk: string) {
  const columns = Object.values(getTableColumns(pods)).map(({ name }) => {
    const value = sql`json_extract(member.value, ${`$.${name}`})`
    return name === 'cluster_ip' ? addressOf(clusterId, sql`json_extract(member.value, '$.cluster_rank')`) : value
  })
  return db.insert(pods).select(sql`SELECT ${sql.join(columns, sql`, `)} FROM json_each(${chunk}) member`)
}

/** The address of a rank in the range of a slot, as `memberAddress` computes it. */
function addressOf(clusterId: string, rank: SQL): SQL {
  const size = 2 ** (32 - POOL.prefix)
  const number = sql`(SELECT ${POOL.first} + slot * ${size} + 2 + ${rank} FROM overlays WHERE id = ${clusterId})`
  return sql`(SELECT printf('%d.%d.%d.%d', n >> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255) FROM (SELECT ${number} AS n))`
}

/** A row with the driver values of its columns, by column name. */
function encode(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getTableColumns(pods)).map(([key, column]) => {
      const value = row[key] ?? null
      return [column.name, value === null ? null : column.mapToDriverValue(value)]
    }),
  )
}

function chunksOf(rows: readonly object[]): string[] {
  const chunks: string[][] = []
  let chars = Number.POSITIVE_INFINITY
  for (const text of rows.map((row) => JSON.stringify(row))) {
    if (chars + text.length > CHUNK_CHARS) {
      chunks.push([])
      chars = 0
    }
    chunks.at(-1)?.push(text)
    chars += text.length
  }
  return chunks.map((texts) => `[${texts.join(',')}]`)
}
