import type { Cloud } from '../../contract/enums.ts'
import { compareVersions } from '../text/versions.ts'
import { type DiskUse, diskRoom } from './disk-share.ts'

/** Which host runs a workload: filter by every constraint, then score. Pure. */

export interface PlacementHost {
  id: string
  /** Linked and beating; nothing is placed on one that is not. */
  online: boolean
  /** Takes no new work: the operator, or the health of its GPUs, keeps it off. */
  cordoned: boolean
  /** Its agent cannot write to its own disk, and starts nothing (HOST-172). Absent: it can. */
  diskFull?: boolean
  dataCenterId: string
  /** Where its ports are reached from outside, if anywhere. */
  publicIp: string | null
  cloud: Cloud
  runtimes: readonly string[]
  /** Kinds of shared volumes that are set up there; null when its agent does not say. */
  sharedVolumes: readonly string[] | null
  /** What runs containers there. */
  runtimeClass: string
  /** What the operator wants the containers of some accounts to run in, by account. */
  requiredClasses: ReadonlyMap<string, string>
  /**
   * The accounts that hold anything there, where their containers are not kept apart: such a host is for one account at a time. Null: it takes
   * any number of accounts.
   */
  heldBy: readonly string[] | null
  /**
   * What its agent builds for private networks: none, between workloads of this host, or between hosts too (CLU-15). Absent: none.
   */
  overlay?: 'none' | 'local' | 'routed'
  vcpuTotal: number
  vcpuFree: number
  memoryMbTotal: number
  memoryMbFree: number
  diskGbFree: number
  /** Of the person who asks for a place for a pod (SHR-41). Absent: no share applies. */
  diskUse?: DiskUse
  gpus: readonly { typeId: string; total: number; free: number; cudaVersion: string | null }[]
}

/** Kinds of volumes that hosts share. */
export type SharedVolumeKind = 'network' | 'global'

/** Which host is best of those that fit: the one that is fullest afterwards, or the one that is emptiest. */
export type PlacementStrategy = 'pack' | 'spread'

/** What a workload needs of a host besides compute. */
export interface PlacementNeeds {
  /** The account that it is for. */
  teamId: string
  runtime: 'docker' | 'process'
  /** Empty: any. */
  dataCenterIds: readonly string[]
  cloud: Cloud | 'ALL'
  diskGb: number
  allowedCudaVersions: readonly string[]
  minCudaVersion: string | null
}

export interface PlacementRequest extends PlacementNeeds {
  /** Alternatives in order of preference; the first that fits somewhere wins. */
  shapes: readonly ComputeShape[]
  /** Kinds of shared volumes that it mounts. */
  sharedVolumes?: readonly SharedVolumeKind[]
}

export interface ComputeShape {
  /** Which CPU machine it is, where it has a price of its own. */
  flavorId?: string
  gpu: { typeId: string; count: number } | null
  vcpus: number
  memoryMb: number
}

export interface Candidate {
  hostId: string
  dataCenterId: string
  shape: ComputeShape
}

/** A host that something does not fit on, and why. */
export interface UnfitHost {
  hostId: string
  /** `<constraint>: <wanted> > <available>` for the host's nearest miss (HLT-6). */
  failed: string[]
}

/** Of an endpoint for which the operator offers nothing any more (CAT-10). */
const NOTHING_OFFERED = ['compute: offered > none']

/** Every host × shape that fits, best first, and for hosts where nothing fits what failed. */
export function rankHosts(request: PlacementRequest, hosts: readonly PlacementHost[]): { candidates: Candidate[]; refusals: UnfitHost[] } {
  const candidates: (Candidate & { order: number; left: number })[] = []
  const refusals: UnfitHost[] = []
  for (const host of hosts) {
    const missing = missingVolumes(request.sharedVolumes ?? [], host)
    const failures = request.shapes.map((shape) => [...failedConstraints(request, shape, host), ...missing])
    for (const [order, failed] of failures.entries()) {
      const shape = request.shapes[order]
      if (failed.length === 0 && shape)
        candidates.push({ hostId: host.id, dataCenterId: host.dataCenterId, shape, order, left: leftOver(shape, host) })
    }
    if (failures.every((failed) => failed.length > 0)) {
      refusals.push({
        hostId: host.id,
        failed: failures.reduce((best, next) => (next.length < best.length ? next : best), failures[0] ?? NOTHING_OFFERED),
      })
    }
  }
  // Bin-packing: the preferred shape first, then the host that is fuller afterwards; the id makes the order total.
  candidates.sort((a, b) => a.order - b.order || a.left - b.left || (a.hostId < b.hostId ? -1 : 1))
  return { candidates: candidates.map(({ hostId, dataCenterId, shape }) => ({ hostId, dataCenterId, shape })), refusals }
}

/** Every host with what it lacks, nearest miss first: rooms that fit lack nothing. At most `limit`. */
export function judgeHosts(request: PlacementRequest, hosts: readonly PlacementHost[], limit: number): UnfitHost[] {
  const { refusals } = rankHosts(request, hosts)
  const refused = new Map(refusals.map(({ hostId, failed }) => [hostId, failed]))
  const verdicts = hosts.map(({ id }) => ({ hostId: id, failed: refused.get(id) ?? [] }))
  return verdicts.sort((a, b) => a.failed.length - b.failed.length || (a.hostId < b.hostId ? -1 : 1)).slice(0, limit)
}

/** How much of a host is left when this runs there, GPUs first. */
export function leftOver(shape: ComputeShape, host: PlacementHost): number {
  const gpus = host.gpus.reduce((sum, gpu) => sum + gpu.free, 0) - (shape.gpu?.count ?? 0)
  return gpus * 1_000 + (host.vcpuFree - shape.vcpus)
}

/** What a host lacks for this shape, as `<constraint>: <wanted> > <available>`; nothing when it fits. */
export function failedConstraints(request: PlacementNeeds, shape: ComputeShape, host: PlacementHost): string[] {
  const failed: string[] = []
  if (!host.online) failed.push('status: ONLINE > OFFLINE')
  if (host.cordoned) failed.push('schedulable: yes > cordoned')
  if (host.diskFull) failed.push('disk: writable > full')
  if (!host.runtimes.includes(request.runtime)) failed.push(`runtime: ${request.runtime} > ${host.runtimes.join('+') || 'none'}`)
  failed.push(...failedClass(request, host))
  if (host.heldBy?.some((account) => account !== request.teamId)) failed.push('isolation: accounts kept apart > none')
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

/** Whether a kind of shared volumes is set up on a host (HOST-54). One whose agent does not say what it has is tried: it refuses by itself. */
export function offersVolumes({ sharedVolumes }: PlacementHost, kind: SharedVolumeKind): boolean {
  return sharedVolumes === null || sharedVolumes.includes(kind)
}

/** What a host lacks of the volumes that a workload mounts. */
export function missingVolumes(kinds: readonly SharedVolumeKind[], host: PlacementHost): string[] {
  return kinds.filter((kind) => !offersVolumes(host, kind)).map((kind) => `${kind}Volumes: yes > none`)
}

// PP-219. Built-in images run in nothing at all.
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

// The set and the floor are one constraint: named twice, a host that misses both would seem further off than it is.
function unmetCuda({ allowedCudaVersions, minCudaVersion }: PlacementNeeds, cuda: string | null): string | null {
  const isAboveFloor = (version: string) => minCudaVersion === null || compareVersions(version, minCudaVersion) >= 0
  if (allowedCudaVersions.length === 0) return minCudaVersion === null || (cuda !== null && isAboveFloor(cuda)) ? null : minCudaVersion
  const accepted = allowedCudaVersions.filter(isAboveFloor)
  return cuda !== null && accepted.includes(cuda) ? null : accepted.join('|') || 'none'
}
