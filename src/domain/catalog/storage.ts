import type { VolumeType } from '../../contract/enums.ts'

/** What storage costs, USD for one GB and month (SEED-4). */
export interface StoragePrices {
  /** The container's own disk; a pod that is stopped pays for it too where `stopped` says so. */
  containerDisk: { running: number; stopped: number }
  persistentDisk: { running: number; stopped: number }
  /** By type: `first` for the first TB of a volume, `further` for each GB beyond it. */
  networkVolume: Readonly<Record<VolumeType, { first: number; further: number }>>
}

/** Hours that a price for a month stands for, whatever month it is. */
export const HOURS_PER_MONTH = 730
/** GB of a network volume at the price of the first TB. */
export const FIRST_TIER_GB = 1_000
const NANOS_PER_USD = 1_000_000_000

/** The list prices of the public list; what it does not quote is a choice of this project. */
export const SEED_STORAGE: StoragePrices = {
  containerDisk: { running: 0.1, stopped: 0 },
  persistentDisk: { running: 0.1, stopped: 0.2 },
  networkVolume: { STANDARD: { first: 0.07, further: 0.05 }, HIGH_PERFORMANCE: { first: 0.14, further: 0.1 } },
}

/** A price of an hour in billionths of a USD, the nearest whole number: what bills are made of. */
export function nanosPerHour(usdPerHour: number): number {
  return Math.round(usdPerHour * NANOS_PER_USD)
}

/** A price of a month in billionths of a USD for each hour, the nearest whole number. */
export function monthlyNanosPerHour(usdPerMonth: number): number {
  return nanosPerHour(usdPerMonth / HOURS_PER_MONTH)
}

/** What the disks of a workload cost, in billionths of a USD for each hour, while it runs and while it is stopped. */
export function diskNanosPerHour(
  { containerDisk, persistentDisk }: StoragePrices,
  { containerGb, persistentGb }: { containerGb: number; persistentGb: number },
): { running: number; stopped: number } {
  const cost = (state: 'running' | 'stopped') =>
    monthlyNanosPerHour(containerDisk[state] * containerGb) + monthlyNanosPerHour(persistentDisk[state] * persistentGb)
  return { running: cost('running'), stopped: cost('stopped') }
}

/** What a network volume costs, in billionths of a USD for each hour. */
export function networkVolumeNanosPerHour({ networkVolume }: StoragePrices, type: VolumeType, sizeGb: number): number {
  const { first, further } = networkVolume[type]
  const firstGb = Math.min(sizeGb, FIRST_TIER_GB)
  return monthlyNanosPerHour(first * firstGb + further * (sizeGb - firstGb))
}
