import { and, eq, inArray, type SQL } from 'drizzle-orm'
import type { HostStatus } from '../../contract/enums.ts'
import type { DiskUse } from '../../domain/host/disk-share.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import { selectRequirements } from '../accounts/isolation.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { hostGpus, hosts } from '../tables/hosts/hosts.ts'
import { diskUses, selectHasOthers, selectOwnDisk } from './disk-share.ts'
import { selectHolders } from './tenancy.ts'

/** Runtime class of a host whose agent reports none. */
const DEFAULT_CLASS = 'runc'

/** Reads that a caller does not need in full. */
interface Narrowed {
  /** The team whose payer's disk use by pods is read (SHR-41). */
  podsOf?: string
  /** The hosts and the team that are considered, and no others. */
  only?: { hostIds: readonly string[]; teamId: string }
}

/**
 * Hosts with the given statuses (by default online), with their free capacity. It reads the whole fleet: a placement asks the index first
 * (adr/0074).
 */
export function listPlacementHosts(db: Database, statuses: readonly HostStatus[] = ['ONLINE']): Promise<PlacementHost[]> {
  return readPlacementHosts(db, inArray(hosts.status, statuses))
}

/** Online hosts, with the disk use of this team's payer by pods (SHR-41). It reads the whole fleet. */
export function listPodHosts(db: Database, teamId: string): Promise<PlacementHost[]> {
  return readPlacementHosts(db, eq(hosts.status, 'ONLINE'), { podsOf: teamId })
}

/** One online host, read by its key, so the cost does not depend on the number of hosts; null: it is not online or does not exist. */
export async function findPlacementHost(db: Database, hostId: string): Promise<PlacementHost | null> {
  const [host] = await readPlacementHosts(db, and(eq(hosts.id, hostId), eq(hosts.status, 'ONLINE')))
  return host ?? null
}

/**
 * These hosts, whatever their status, as placement sees them for one team; with `sharesDisk` with the disk use of its payer by pods. The
 * cost does not depend on the number of hosts.
 */
export function findPlacementHosts(
  db: Database,
  hostIds: readonly string[],
  { teamId, sharesDisk }: { teamId: string; sharesDisk: boolean },
): Promise<PlacementHost[]> {
  return readPlacementHosts(db, isOneOf(hosts.id, hostIds), { only: { hostIds, teamId }, ...(sharesDisk && { podsOf: teamId }) })
}

async function readPlacementHosts(db: Database, which: SQL | undefined, { podsOf, only }: Narrowed = {}): Promise<PlacementHost[]> {
  const [rows, gpus, holders, requirements, shared = [], own = []] = await db.batch([
    db.select().from(hosts).where(which),
    only
      ? selectGpus(db).where(isOneOf(hostGpus.hostId, only.hostIds))
      : selectGpus(db).innerJoin(hosts, eq(hosts.id, hostGpus.hostId)).where(which),
    selectHolders(db, which),
    selectRequirements(db, only?.teamId),
    ...(podsOf === undefined ? [] : ([selectHasOthers(db, podsOf), selectOwnDisk(db, podsOf, only?.hostIds)] as const)),
  ])
  const requiredClasses = new Map(requirements.map(({ teamId, runtimeClass }) => [teamId, runtimeClass ?? DEFAULT_CLASS]))
  const gpusOf = Map.groupBy(gpus, ({ hostId }) => hostId)
  const diskUseOf = diskUses(shared, own, rows)
  const holdersOf = Map.groupBy(holders, ({ hostId }) => hostId)
  return rows.map((row) => ({
    id: row.id,
    online: row.status === 'ONLINE',
    cordoned: row.cordonedAt !== null,
    diskFull: row.inventory.diskProblem != null,
    cloud: row.cloud,
    dataCenterId: row.dataCenterId,
    publicIp: row.publicIp,
    runtimes: row.inventory.runtimes,
    sharedVolumes: row.inventory.sharedVolumes ?? null,
    runtimeClass: row.inventory.isolation?.runtimeClass ?? DEFAULT_CLASS,
    requiredClasses,
    heldBy: holdersOf.get(row.id)?.flatMap(({ teamId }) => teamId ?? []) ?? null,
    overlay: overlayOf(row.inventory),
    vcpuTotal: row.vcpuTotal,
    vcpuFree: row.vcpuFree,
    memoryMbTotal: row.memoryMbTotal,
    memoryMbFree: row.memoryMbFree,
    diskGbFree: row.diskGbFree,
    ...withUse(diskUseOf.get(row.id)),
    gpus: gpusOf.get(row.id) ?? [],
  }))
}

function selectGpus(db: Database) {
  const { hostId, gpuTypeId: typeId, total, free, cudaVersion } = hostGpus
  return db.select({ hostId, typeId, total, free, cudaVersion }).from(hostGpus)
}

const withUse = (diskUse: DiskUse | undefined) => (diskUse ? { diskUse } : {})

function overlayOf({ overlay }: Inventory): 'none' | 'local' | 'routed' {
  if (!overlay) return 'none'
  return overlay.address === null ? 'none' : 'routed'
}
