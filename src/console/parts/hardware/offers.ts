import type { CpuType, GpuType, Level } from '../../../contract/catalog/catalog.ts'

/** Hardware that the user can choose. */
export interface Offer {
  id: string
  name: string
  memoryGb: number
  /** USD per hour for the requested number. */
  perHour: number
  level: Level
}

const LEVELS: readonly Level[] = ['NONE', 'LOW', 'MEDIUM', 'HIGH']

/** GPU types, which pods request. */
export function podGpus(gpus: readonly GpuType[], cloud: 'secure' | 'community', count: number): Offer[] {
  return gpus
    .filter((gpu) => gpu[cloud])
    .map(({ id, name, memory, price, availability = 'NONE' }) => ({
      id,
      name,
      memoryGb: memory,
      perHour: price[cloud] * count,
      level: availability,
    }))
}

/** GPU pools (interchangeable types), which workers request. The price of a pool is that of its most expensive type. */
export function workerGpus(gpus: readonly GpuType[], count: number): Offer[] {
  const pools = Map.groupBy(
    gpus.filter(({ pool, price }) => pool !== null && price.serverless !== undefined),
    ({ pool }) => pool ?? '',
  )
  return [...pools].map(([id, members]) => ({
    id,
    name: members.map(({ name }) => name).join(' or '),
    memoryGb: Math.min(...members.map(({ memory }) => memory)),
    perHour: Math.max(...members.map(({ price }) => price.serverless ?? 0)) * count,
    level: LEVELS[Math.max(...members.map(({ availability = 'NONE' }) => LEVELS.indexOf(availability)))] ?? 'NONE',
  }))
}

/** Returns CPU types with the memory in GB and the price in USD per hour of the requested number of vCPUs. */
export function cpuOffers(cpus: readonly CpuType[], product: 'POD' | 'SERVERLESS', vcpuCount: number): Offer[] {
  return cpus.map(({ id, name, ramGbPerVcpu, price, availability = 'NONE' }) => ({
    id,
    name,
    memoryGb: ramGbPerVcpu * vcpuCount,
    perHour: (product === 'POD' ? price.securePerVcpu : price.serverlessPerVcpu) * vcpuCount,
    level: availability,
  }))
}
