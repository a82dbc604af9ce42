import type { VolumeType } from '../../contract/enums.ts'

/** Prices of storage, in USD per GB and month (SEED-4). */
export interface StoragePrices {
  /** The container's own disk; `stopped` is the price while the pod is stopped. */
  containerDisk: { running: number; stopped: number }
  persistentDisk: { running: number; stopped: number }
  /** By type: `first` for each GB of a volume's first TB, `further` for each GB beyond it. */
  networkVolume: Readonly<Record<VolumeType, { first: number; further: number }>>
}

/** The number of hours that a monthly price covers, in every month. */
export const HOURS_PER_MONTH = 730
/** The GB of a network volume that have the price of the first TB. */
export const FIRST_TIER_GB = 1_000
const NANOS_PER_USD = 1_000_000_000

/** Prices of the public list; this project chose those that the list does not quote. */
export const SEED_STORAGE: StoragePrices = {
  containerDisk: { running: 0.1, stopped: 0 },
  persistentDisk: { running: 0.1, stopped: 0.2 },
  networkVolume: { STANDARD: { first: 0.07, further: 0.05 }, HIGH_PERFORMANCE: { first: 0.14, further: 0.1 } },
}

/** Converts USD per hour to billionths of a USD per hour, rounded: the unit of bills. */
export function nanosPerHour(usdPerHour: number): number {
  return Math.round(usdPerHour * NANOS_PER_USD)
}

/** Converts USD per month to billionths of a USD per hour, rounded. */
export function monthlyNanosPerHour(usdPerMonth: number): number {
  return nanosPerHour(usdPerMonth / HOURS_PER_MONTH)
}

/** The cost of a workload's disks, in billionths of a USD per hour, while it runs and while it is stopped. */
export function diskNanosPerHour(
  { containerDisk, persistentDisk }: StoragePrices,
  { containerGb, persistentGb }: { containerGb: number; persistentGb: number },
): { running: number; stopped: number } {
  const cost = (state: 'running' | 'stopped') =>
    monthlyNanosPerHour(containerDisk[state] * containerGb) + monthlyNanosPerHour(persistentDisk[state] * persistentGb)
  return { running: cost('running'), stopped: cost('stopped') }
}

/** The cost of a network volume, in billionths of a USD per hour. */
export function networkVolumeNanosPerHour({ networkVolume }: StoragePrices, type: VolumeType, sizeGb: number): number {
  const { first, further } = networkVolume[type]
  const firstGb = Math.min(sizeGb, FIRST_TIER_GB)
  return monthlyNanosPerHour(first * firstGb + further * (sizeGb - firstGb))
}
