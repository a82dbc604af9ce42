import type { Cloud } from '../../contract/enums.ts'
import type { DataCenter } from './data-centers.ts'
import type { StoragePrices } from './storage.ts'

/** The offers and prices of the plane: the seed with the operator's changes. An immutable value. */
export interface Catalog {
  gpuTypes: readonly GpuType[]
  cpuFlavors: readonly CpuFlavor[]
  dataCenters: readonly DataCenter[]
  storage: StoragePrices
}

/** The manufacturers of GPUs. */
export const GPU_MANUFACTURERS = ['NVIDIA', 'AMD', 'UNKNOWN'] as const
export type GpuManufacturer = (typeof GPU_MANUFACTURERS)[number]

/** A GPU type that the plane knows (SEED-1, SEED-2). Prices are USD per GPU and hour; null: not sold there. */
export interface GpuType {
  id: string
  name: string
  manufacturer: GpuManufacturer
  memoryGb: number
  pool: string | null
  securePrice: number | null
  communityPrice: number | null
  serverlessPrice: number | null
  /** Upper bound of GPUs in one pod or worker (POD-9, REST-32). */
  maxCount: number
  /** False: the operator accepts no new workloads on it; running ones go on. */
  offered: boolean
}

/** A CPU flavor, one kind of CPU machine (SEED-3). Prices are USD per vCPU and hour. */
export interface CpuFlavor {
  id: string
  name: string
  group: string
  minVcpu: number
  maxVcpu: number
  ramGbPerVcpu: number
  securePricePerVcpu: number
  serverlessPricePerVcpu: number
  /** False: the operator accepts no new workloads on it; running ones go on. */
  offered: boolean
}

/** Container disk that one vCPU of a CPU machine may carry, GB (SEED-3, POD-8). */
export const CPU_DISK_GB_PER_VCPU = 10

/** The GPU type of that id, or undefined. */
export function findGpuType({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, id: string): GpuType | undefined {
  return gpuTypes.find((type) => type.id === id)
}

/**
 * USD per GPU and hour of a pod in a cloud; null if the type is not sold there. A type without any price is for operators who own such
 * machines: it is free (CAT-30).
 */
export function podGpuPrice(type: GpuType, cloud: Cloud): number | null {
  if (!type.offered) return null
  if (type.securePrice === null && type.communityPrice === null) return 0
  return cloud === 'SECURE' ? type.securePrice : type.communityPrice
}

/** USD per vCPU and hour of a CPU pod in a cloud; null if the flavor is not sold there. */
export function podCpuPrice(flavor: CpuFlavor, cloud: Cloud): number | null {
  return flavor.offered && cloud === 'SECURE' ? flavor.securePricePerVcpu : null
}

/** Whether a pool of that id exists. */
export function isGpuPool({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, pool: string): boolean {
  return gpuTypes.some((type) => type.pool === pool)
}

/**
 * The type ids that a worker of these pools may run on, in the order of the pools and of the catalog, without the excluded ones. Unknown
 * pools add nothing, and neither do types that are not offered.
 */
export function gpuTypesOfPools({ gpuTypes }: Pick<Catalog, 'gpuTypes'>, pools: readonly string[], excluded: readonly string[]): string[] {
  const types = pools.flatMap((pool) => gpuTypes.filter((type) => type.pool === pool && type.offered))
  return [...new Set(types.map(({ id }) => id))].filter((id) => !excluded.includes(id))
}

/** The flavor of that id, or undefined. */
export function findCpuFlavor({ cpuFlavors }: Pick<Catalog, 'cpuFlavors'>, id: string): CpuFlavor | undefined {
  return cpuFlavors.find((flavor) => flavor.id === id)
}

/** Whether a flavor is sold at that size: a power of two within its range (POD-8). */
export function isValidVcpuCount(flavor: CpuFlavor, vcpuCount: number): boolean {
  const powerOfTwo = Number.isInteger(Math.log2(vcpuCount))
  return powerOfTwo && vcpuCount >= flavor.minVcpu && vcpuCount <= flavor.maxVcpu
}

/** The sizes that a flavor is sold at, in vCPUs, the smallest first. */
export function vcpuCountsOf(flavor: CpuFlavor): number[] {
  const sizes: number[] = []
  for (let size = 1; size <= flavor.maxVcpu; size *= 2) if (isValidVcpuCount(flavor, size)) sizes.push(size)
  return sizes
}

/** A data center that the catalog lists, or undefined. The plane knows others from the hosts that joined in them (RES-2). */
export function findListedDataCenter({ dataCenters }: Pick<Catalog, 'dataCenters'>, id: string): DataCenter | undefined {
  return dataCenters.find((dataCenter) => dataCenter.id === id)
}
