import type { Cloud } from '../../contract/enums.ts'
import type { DataCenter } from './data-centers.ts'
import type { StoragePrices } from './storage.ts'

/** What the plane offers and for how much: the seed with what the operator says in its place. A value; nothing here changes it. */
export interface Catalog {
  gpuTypes: readonly GpuType[]
  cpuFlavors: readonly CpuFlavor[]
  dataCenters: readonly DataCenter[]
  storage: StoragePrices
}

/** Who makes a GPU. */
export const GPU_MANUFACTURERS = ['NVIDIA', 'AMD', 'UNKNOWN'] as const
export type GpuManufacturer = (typeof GPU_MANUFACTURERS)[number]

/** One kind of GPU that the plane knows (SEED-1, SEED-2). Prices are USD for one GPU and hour; null: not sold there. */
export interface GpuType {
  id: string
  name: string
  manufacturer: GpuManufacturer
  memoryGb: number
  pool: string | null
  securePrice: number | null
  communityPrice: number | null
  serverlessPrice: number | null
  /** Most of them in one pod or worker (POD-9, PP-126). */
  maxCount: number
  /** False: the operator takes no new work for it; what runs goes on. */
  offered: boolean
}

/** One kind of CPU machine (SEED-3). Prices are USD for one vCPU and hour. */
export interface CpuFlavor {
  id: string
  name: string
  group: string
  minVcpu: number
  maxVcpu: number
  ramGbPerVcpu: number
  securePricePerVcpu: number
  serverlessPricePerVcpu: number
  /** False: the operator takes no new work for it; what runs goes on. */
  offered: boolean
}

/** Container disk that one vCPU of a CPU machine may carry, GB (SEED-3, POD-8). */
export const CPU_DISK_GB_PER_VCPU = 10

/** The GPU type of that id, or undefined. */
export function findGpuType({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, id: string): GpuType | undefined {
  return gpuTypes.find((type) => type.id === id)
}

/**
 * USD for one GPU and hour of a pod in a cloud; null when the type is not sold there. A type that nobody quotes a price for is there for
 * operators who have such machines: it costs nothing (PP-85).
 */
export function podGpuPrice(type: GpuType, cloud: Cloud): number | null {
  if (!type.offered) return null
  if (type.securePrice === null && type.communityPrice === null) return 0
  return cloud === 'SECURE' ? type.securePrice : type.communityPrice
}

/** USD for one vCPU and hour of a CPU pod in a cloud; null when the flavor is not sold there. */
export function podCpuPrice(flavor: CpuFlavor, cloud: Cloud): number | null {
  return flavor.offered && cloud === 'SECURE' ? flavor.securePricePerVcpu : null
}

/** Says whether a pool of that id exists. */
export function isGpuPool({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, pool: string): boolean {
  return gpuTypes.some((type) => type.pool === pool)
}

/**
 * Type ids that a worker of these pools may run on, in order of the pools and of the catalog, without the excluded ones. Unknown pools add
 * nothing, and neither do types that are not offered.
 */
export function gpuTypesOfPools({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, pools: readonly string[], excluded: readonly string[]): string[] {
  const types = pools.flatMap((pool) => gpuTypes.filter((type) => type.pool === pool && type.offered))
  return [...new Set(types.map(({ id }) => id))].filter((id) => !excluded.includes(id))
}

/** The flavor of that id, or undefined. */
export function findCpuFlavor({ cpuFlavors }: Pick<Catalog, 'cpuFlavors'>, id: string): CpuFlavor | undefined {
  return cpuFlavors.find((flavor) => flavor.id === id)
}

/** Says whether a flavor is sold at that size: a power of two within its range (POD-8). */
export function isValidVcpuCount(flavor: CpuFlavor, vcpuCount: number): boolean {
  const powerOfTwo = Number.isInteger(Math.log2(vcpuCount))
  return powerOfTwo && vcpuCount >= flavor.minVcpu && vcpuCount <= flavor.maxVcpu
}

/** The sizes that a flavor is sold at, the smallest first. */
export function vcpuCountsOf(flavor: CpuFlavor): number[] {
  const sizes: number[] = []
  for (let size = 1; size <= flavor.maxVcpu; size *= 2) if (isValidVcpuCount(flavor, size)) sizes.push(size)
  return sizes
}

/** A data center that the catalog names, or undefined. Others are known by the machines that joined in them (RES-2). */
export function findListedDataCenter({ dataCenters }: Pick<Catalog, 'dataCenters'>, id: string): DataCenter | undefined {
  return dataCenters.find((dataCenter) => dataCenter.id === id)
}
