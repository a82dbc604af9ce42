import { classesIn, type OpeningClass } from '../../host/openings.ts'
import {
  type Candidate,
  type ComputeShape,
  failedConstraints,
  missingVolumes,
  offersVolumes,
  type PlacementHost,
  type PlacementStrategy,
  type SharedVolumeKind,
  type UnfitHost,
} from '../../host/placement.ts'
import { compareRoom, roomOf } from '../../host/room.ts'
import { runtimeOfImage } from '../../worker/shape.ts'
import type { PodGpu, PodSpec } from '../record.ts'

/** A host that a pod fits on, with the shape that it would be allocated there. */
export interface PodCandidate extends Candidate {
  cudaVersion: string | null
  publicIp: string | null
}

/** A GPU comes with its share of the host's CPU and memory. A host with less than this part of the share left does not fit (POD-33). */
const LEAST_SHARE = 0.5
const MB_PER_GB = 1024
const SHARED_KINDS = ['network', 'global'] as const

/**
 * Hosts that a pod fits on, best first: by the requested order of data centers, then by the strategy (POD-3). For each other host, the
 * constraints that failed. A pod is never spread over hosts, and no other GPU type is tried (POD-10).
 */
export function rankHostsForPod(
  teamId: string,
  spec: PodSpec,
  hosts: readonly PlacementHost[],
  strategy: PlacementStrategy,
): { candidates: PodCandidate[]; refusals: UnfitHost[] } {
  const judged = hosts.map((host) => ({ host, ...judge(teamId, spec, host) }))
  const fitting = judged.flatMap(({ host, shape, failed }) => (failed.length === 0 ? [{ host, shape, room: roomOf(host) }] : []))
  const order = (id: string) => spec.dataCenterIds.indexOf(id)
  fitting.sort((a, b) => order(a.host.dataCenterId) - order(b.host.dataCenterId) || compareRoom(strategy, a.room, b.room))
  return {
    candidates: fitting.map(({ host, shape }) => ({
      hostId: host.id,
      dataCenterId: host.dataCenterId,
      shape,
      publicIp: host.publicIp,
      cudaVersion: host.gpus.find(({ typeId }) => typeId === shape.gpu?.typeId)?.cudaVersion ?? null,
    })),
    refusals: judged.flatMap(({ host, failed }) => (failed.length > 0 ? [{ hostId: host.id, failed }] : [])),
  }
}

/**
 * The classes of the hosts that a pod may fit on; the rank is the place of the data center in the request. The share of CPU and memory that
 * comes with a GPU depends on the host, so only the requested minimum is asked for.
 */
export function classesOfPod(teamId: string, spec: PodSpec): OpeningClass[] {
  const { compute, cloud, dataCenterIds } = spec
  const places = dataCenterIds.length > 0 ? [...new Set(dataCenterIds)] : [null]
  const needs = compute.kind === 'gpu' ? leastOfGpus(compute) : cpuShape(compute.vcpuCount, compute.memoryGb).shape
  const { gpu, vcpus, memoryMb } = needs
  return places.flatMap((place, rank) => classesIn(teamId, cloud, place, { rank, gpu, vcpus, memoryMb, diskGb: podDiskGb(spec) }))
}

// Rounded down: a host whose whole share is less than the rounded minimum grants that share.
function leastOfGpus({ typeId, count, minVcpuPerGpu, minRamGbPerGpu }: PodGpu): ComputeShape {
  const least = (perGpu: number | null, unit: number) => Math.max(1, Math.floor((perGpu ?? 0) * unit * count))
  return { gpu: { typeId, count }, vcpus: least(minVcpuPerGpu, 1), memoryMb: least(minRamGbPerGpu, MB_PER_GB) }
}

/** Disk space that a pod takes on its host, GB: container disk and persistent volume. */
export function podDiskGb({ container, mounts }: PodSpec): number {
  return container.diskGb + (mounts.persistent?.sizeGb ?? 0)
}

function judge(teamId: string, spec: PodSpec, host: PlacementHost): { shape: ComputeShape; failed: string[] } {
  const { compute, container } = spec
  const { shape, missing } = compute.kind === 'gpu' ? gpuShape(compute, host) : cpuShape(compute.vcpuCount, compute.memoryGb)
  const request = {
    teamId,
    runtime: runtimeOfImage(container.image),
    dataCenterIds: spec.dataCenterIds,
    cloud: spec.cloud,
    diskGb: podDiskGb(spec),
    allowedCudaVersions: compute.kind === 'gpu' ? compute.allowedCudaVersions : [],
    minCudaVersion: compute.kind === 'gpu' ? compute.minCudaVersion : null,
  }
  const failed = failedConstraints(request, shape, host)
  // NET-48: global networking needs a routed overlay.
  const apart = spec.globalNetworking && host.overlay !== 'routed' ? ['overlay: yes > none'] : []
  return { shape, failed: [...failed, ...missing, ...missingVolumes(sharedKinds(spec), host), ...apart] }
}

function sharedKinds({ mounts }: PodSpec): SharedVolumeKind[] {
  return SHARED_KINDS.filter((kind) => mounts[kind])
}

/** A kind of volume that none of the considered hosts has. */
export interface MissingVolumes {
  kind: SharedVolumeKind
  /** Data centers that were searched; empty: all. */
  dataCenterIds: readonly string[]
}

/**
 * Kind of volume that the pod requests and that no host of its data centers offers, whatever their free capacity (POD-36). Null when all
 * kinds are offered, or when there is no host at all, because that is then the reason.
 */
export function findMissingVolumes({ mounts, dataCenterIds }: PodSpec, hosts: readonly PlacementHost[]): MissingVolumes | null {
  const near = hosts.filter((host) => dataCenterIds.length === 0 || dataCenterIds.includes(host.dataCenterId))
  if (near.length === 0) return null
  const kind = SHARED_KINDS.find((wanted) => mounts[wanted] && !near.some((host) => offersVolumes(host, wanted)))
  return kind ? { kind, dataCenterIds } : null
}

function cpuShape(vcpus: number, memoryGb: number): { shape: ComputeShape; missing: string[] } {
  return { shape: { gpu: null, vcpus, memoryMb: memoryGb * MB_PER_GB }, missing: [] }
}

/**
 * Resources that a GPU pod is allocated: the share of its GPUs as far as it is free, and at least the requested minimum (POD-7, POD-33).
 */
function gpuShape(compute: PodGpu, host: PlacementHost): { shape: ComputeShape; missing: string[] } {
  const { typeId, count } = compute
  const gpus = Math.max(
    1,
    host.gpus.reduce((sum, gpu) => sum + gpu.total, 0),
  )
  const vcpus = grant(host.vcpuTotal / gpus, compute.minVcpuPerGpu, count, host.vcpuFree)
  const memoryMin = compute.minRamGbPerGpu === null ? null : compute.minRamGbPerGpu * MB_PER_GB
  const memory = grant(host.memoryMbTotal / gpus, memoryMin, count, host.memoryMbFree)
  const missing = [
    ...(vcpus.perGpu < (compute.minVcpuPerGpu ?? 0) ? [`vcpuPerGpu: ${compute.minVcpuPerGpu} > ${Math.floor(vcpus.perGpu)}`] : []),
    ...(memory.perGpu < (memoryMin ?? 0) ? [`memoryMbPerGpu: ${memoryMin} > ${Math.floor(memory.perGpu)}`] : []),
  ]
  return { shape: { gpu: { typeId, count }, vcpus: vcpus.granted, memoryMb: memory.granted }, missing }
}

// With too little free, the minimum is requested, so that the refusal names it.
function grant(share: number, asked: number | null, count: number, free: number): { granted: number; perGpu: number } {
  const whole = Math.max(1, Math.floor(share * count))
  const least = Math.max(1, Math.ceil((asked ?? share * LEAST_SHARE) * count))
  return { granted: Math.min(whole, Math.max(Math.floor(free), least)), perGpu: share }
}
