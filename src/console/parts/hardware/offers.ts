import type { CpuType, GpuType, Level } from '../../../contract/catalog/catalog.ts'

/** Something that can be chosen to run on. */
export interface Offer {
  id: string
  name: string
  memoryGb: number
  /** USD, as many as were asked for. */
  perHour: number
  level: Level
}

const LEVELS: readonly Level[] = ['NONE', 'LOW', 'MEDIUM', 'HIGH']

/** Types of GPUs, which pods ask for. */
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

/** Pools, which workers ask for: types that are as good as each other. The dearest of them tells the price. */
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

export function cpuOffers(cpus: readonly CpuType[], product: 'POD' | 'SERVERLESS', vcpuCount: number): Offer[] {
  return cpus.map(({ id, name, ramGbPerVcpu, price, availability = 'NONE' }) => ({
    id,
    name,
    memoryGb: ramGbPerVcpu * vcpuCount,
    perHour: (product === 'POD' ? price.securePerVcpu : price.serverlessPerVcpu) * vcpuCount,
    level: availability,
  }))
}
