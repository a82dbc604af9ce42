import type { Cloud } from '../../contract/enums.ts'
import type { RuntimeName } from '../../host-protocol/messages.ts'
import { compareVersions } from '../text/versions.ts'
import { type DiskUse, diskRoom } from './disk-share.ts'
import { compareRoom, roomOf } from './room.ts'

/** Chooses the host of a workload: filters by every constraint, then scores. Pure. */

/** A host as placement sees it, with its free capacity. */
export interface PlacementHost {
  id: string
  /** It is linked and sends heartbeats; nothing is placed on another. */
  online: boolean
  /** It takes no new workloads, because of the operator or of the health of its GPUs. */
  cordoned: boolean
  /** Its agent cannot write to its own disk, and starts nothing (HOST-172). Absent: it can write. */
  diskFull?: boolean
  dataCenterId: string
  /** The address at which its ports are reached from outside; null if there is none. */
  publicIp: string | null
  cloud: Cloud
  runtimes: readonly string[]
  /** The kinds of shared volumes that are set up there; null if its agent does not report them. */
  sharedVolumes: readonly string[] | null
  /** The runtime class of its containers. */
  runtimeClass: string
  /** The runtime classes that the operator requires for the containers of some accounts, by account. */
  requiredClasses: ReadonlyMap<string, string>
  /**
   * The accounts with workloads there, if the host does not isolate their containers: it is then for one account at a time. Null: it takes
   * any number of accounts.
   */
  heldBy: readonly string[] | null
  /** The private networks that its agent supports: none, between workloads of this host, or between hosts too (CLU-15). Absent: none. */
  overlay?: 'none' | 'local' | 'routed'
  vcpuTotal: number
  vcpuFree: number
  memoryMbTotal: number
  memoryMbFree: number
  diskGbFree: number
  /** Disk use as seen by the person who needs a place for a pod (SHR-41). Absent: no share applies. */
  diskUse?: DiskUse
  gpus: readonly { typeId: string; total: number; free: number; cudaVersion: string | null }[]
}

/** Kinds of volumes that hosts share. */
export type SharedVolumeKind = 'network' | 'global'

/** The preferred host among those that fit: the fullest, or the emptiest. */
export type PlacementStrategy = 'pack' | 'spread'

/** The needs of a workload beside its compute. */
export interface PlacementNeeds {
  /** The account that owns the workload. */
  teamId: string
  runtime: RuntimeName
  /** Empty: any. */
  dataCenterIds: readonly string[]
  cloud: Cloud | 'ALL'
  diskGb: number
  allowedCudaVersions: readonly string[]
  minCudaVersion: string | null
}

/** A workload that needs a host. */
export interface PlacementRequest extends PlacementNeeds {
  /** Alternatives in order of preference; the first that fits somewhere wins. */
  shapes: readonly ComputeShape[]
  /** Kinds of shared volumes that it mounts. */
  sharedVolumes?: readonly SharedVolumeKind[]
}

/** The compute of one workload. */
export interface ComputeShape {
  /** The CPU flavor, if it has a price of its own. */
  flavorId?: string
  gpu: { typeId: string; count: number } | null
  vcpus: number
  memoryMb: number
}

/** A host on which one of the requested shapes fits. */
export interface Candidate {
  hostId: string
  dataCenterId: string
  shape: ComputeShape
}

/** A host that a workload does not fit on, and the reasons. */
export interface UnfitHost {
  hostId: string
  /** `<constraint>: <wanted> > <available>` for the shape that fails the fewest constraints (HLT-6). */
  failed: string[]
}

/** The failure of an endpoint whose types the operator does not offer (CAT-10). */
const NOTHING_OFFERED = ['compute: offered > none']

/** All pairs of host and shape that fit, best first, and the failed constraints of hosts on which no shape fits. */
export function rankHosts(request: PlacementRequest, hosts: readonly PlacementHost[]): { candidates: Candidate[]; refusals: UnfitHost[] } {
  const candidates: (Candidate & { order: number; room: ReturnType<typeof roomOf> })[] = []
  const refusals: UnfitHost[] = []
  for (const host of hosts) {
    const missing = missingVolumes(request.sharedVolumes ?? [], host)
    const failures = request.shapes.map((shape) => [...failedConstraints(request, shape, host), ...missing])
    for (const [order, failed] of failures.entries()) {
      const shape = request.shapes[order]
      if (failed.length === 0 && shape)
        candidates.push({ hostId: host.id, dataCenterId: host.dataCenterId, shape, order, room: roomOf(host) })
    }
    if (failures.every((failed) => failed.length > 0)) {
      refusals.push({
        hostId: host.id,
        failed: failures.reduce((best, next) => (next.length < best.length ? next : best), failures[0] ?? NOTHING_OFFERED),
      })
    }
  }
  // Bin-packing: the preferred shape first, then the fuller host.
  candidates.sort((a, b) => a.order - b.order || compareRoom('pack', a.room, b.room))
  return { candidates: candidates.map(({ hostId, dataCenterId, shape }) => ({ hostId, dataCenterId, shape })), refusals }
}

/** All hosts with their failed constraints, fewest first; a host that fits has none. At most `limit`. */
export function judgeHosts(request: PlacementRequest, hosts: readonly PlacementHost[], limit: number): UnfitHost[] {
  const { refusals } = rankHosts(request, hosts)
  const refused = new Map(refusals.map(({ hostId, failed }) => [hostId, failed]))
  const decisions = hosts.map(({ id }) => ({ hostId: id, failed: refused.get(id) ?? [] }))
  return decisions.sort((a, b) => a.failed.length - b.failed.length || (a.hostId < b.hostId ? -1 : 1)).slice(0, limit)
}

/** The constraints that a host fails for this shape, as `<constraint>: <wanted> > <available>`; empty if it fits. */
export function failedConstraints(request: PlacementNeeds, shape: ComputeShape, host: PlacementHost): string[] {
  const failed: string[] = []
  if (!host.online) failed.push('status: ONLINE > OFFLINE')
  if (host.cordoned) failed.push('schedulable: yes > cordoned')
  if (host.diskFull) failed.push('disk: writable > full')
  if (!host.runtimes.includes(request.runtime)) failed.push(`runtime: ${request.runtime} > ${host.runtimes.join('+') || 'none'}`)
  failed.push(...failedClass(request, host))
  if (host.heldBy?.some((account) => account !== request.teamId)) failed.push('isolation: accounts isolated > none')
  if (request.dataCenterIds.length > 0 && !request.dataCenterIds.includes(host.dataCenterId)) {
    failed.push(`dataCenter: ${request.dataCenterIds.join('|')} > ${host.dataCenterId}`)
  }
  if (request.cloud !== 'ALL' && request.cloud !== host.cloud) failed.push(`cloud: ${request.cloud} > ${host.cloud}`)
  if (shape.gpu) failed.push(...failedGpu(request, shape.gpu, host))
  if (shape.vcpus > host.vcpuFree) failed.push(`vcpu: ${shape.vcpus} > ${host.vcpuFree}`)
  if (shape.memoryMb > host.memoryMbFree) failed.push(`memoryMb: ${shape.memoryMb} > ${host.memoryMbFree}`)
  if (request.diskGb > host.diskGbFree) failed.push(`diskGb: ${request.diskGb} > ${host.diskGbFree}`)
  const share = host.diskUse ? diskRoom(host.diskUse) : Number.POSITIVE_INFINITY
  if (request.diskGb > share) failed.push(`diskShare: ${request.diskGb} > ${share}`)
  return failed
}

/**
 * Whether a kind of shared volumes is set up on a host (HOST-54). A host whose agent does not report its kinds is tried: it refuses by
 * itself.
 */
export function offersVolumes({ sharedVolumes }: PlacementHost, kind: SharedVolumeKind): boolean {
  return sharedVolumes === null || sharedVolumes.includes(kind)
}

/** The failed constraints of a host that lacks kinds of volumes that a workload mounts. */
export function missingVolumes(kinds: readonly SharedVolumeKind[], host: PlacementHost): string[] {
  return kinds.filter((kind) => !offersVolumes(host, kind)).map((kind) => `${kind}Volumes: yes > none`)
}

// CLASS-1. Built-in images run without a container.
function failedClass({ teamId, runtime }: PlacementNeeds, host: PlacementHost): string[] {
  const wanted = host.requiredClasses.get(teamId)
  const found = runtime === 'docker' ? host.runtimeClass : 'none'
  return wanted === undefined || wanted === found ? [] : [`runtimeClass: ${wanted} > ${found}`]
}

function failedGpu(request: PlacementNeeds, wanted: { typeId: string; count: number }, host: PlacementHost): string[] {
  const gpu = host.gpus.find((g) => g.typeId === wanted.typeId)
  const free = gpu?.free ?? 0
  const failed: string[] = []
  if (wanted.count > free) failed.push(`gpu ${wanted.typeId}: ${wanted.count} > ${free}`)
  const cuda = gpu?.cudaVersion ?? null
  const unmet = unmetCuda(request, cuda)
  if (unmet !== null) failed.push(`cuda: ${unmet} > ${cuda ?? 'unknown'}`)
  return failed
}

// The allowed versions and the minimum are one constraint: as two, a host that fails both would seem further from fitting than it is.
function unmetCuda({ allowedCudaVersions, minCudaVersion }: PlacementNeeds, cuda: string | null): string | null {
  const isAboveFloor = (version: string) => minCudaVersion === null || compareVersions(version, minCudaVersion) >= 0
  if (allowedCudaVersions.length === 0) return minCudaVersion === null || (cuda !== null && isAboveFloor(cuda)) ? null : minCudaVersion
  const accepted = allowedCudaVersions.filter(isAboveFloor)
  return cuda !== null && accepted.includes(cuda) ? null : accepted.join('|') || 'none'
}
