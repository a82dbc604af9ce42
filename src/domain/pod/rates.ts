import { diskNanosPerHour, type StoragePrices } from '../catalog/storage.ts'
import { NO_RATES, nanosOfUsd, type Rates } from '../money.ts'
import type { PodSpec } from './record.ts'

/** What of a pod's row its rates are read from. They were set when it was made, whatever the catalog says since. */
export interface ChargedPod {
  spec: Pick<PodSpec, 'compute'>
  pricePerHour: number
  diskNanosPerHour: number
  stoppedDiskNanosPerHour: number
}

/** What the disks of a pod cost, to be kept with it: while it runs, and while it is stopped (BIL-8). */
export function podDiskRates(prices: StoragePrices, { container, mounts }: PodSpec) {
  const sizes = { containerGb: container.diskGb, persistentGb: mounts.persistent?.sizeGb ?? 0 }
  const { running, stopped } = diskNanosPerHour(prices, sizes)
  return { diskNanosPerHour: running, stoppedDiskNanosPerHour: stopped }
}

/** What a pod is charged for an hour in which it runs (POD-19, BIL-8). */
export function runningRates({ spec, pricePerHour, diskNanosPerHour }: ChargedPod): Rates {
  const nanos = nanosOfUsd(pricePerHour)
  const [gpuNanosPerHour, cpuNanosPerHour] = spec.compute.kind === 'gpu' ? [nanos, 0] : [0, nanos]
  return { gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour }
}

/** What it is charged for an hour in which only its disks are kept (BIL-8). */
export function stoppedRates({ stoppedDiskNanosPerHour }: ChargedPod): Rates {
  return { ...NO_RATES, diskNanosPerHour: stoppedDiskNanosPerHour }
}

type PodPrice = Omit<ChargedPod, 'spec'>

/** All that a pod costs an hour while it runs, in billionths of a USD. */
export function runningNanos({ pricePerHour, diskNanosPerHour }: PodPrice): number {
  return nanosOfUsd(pricePerHour) + diskNanosPerHour
}

/** What a change of a pod's disks adds to what it costs an hour as it is; negative when it saves. */
export function growthNanos(before: PodPrice, after: PodPrice, runs: boolean): number {
  return runs ? after.diskNanosPerHour - before.diskNanosPerHour : after.stoppedDiskNanosPerHour - before.stoppedDiskNanosPerHour
}

/** What starting a stopped pod adds to that. */
export function startNanos(pod: PodPrice): number {
  return runningNanos(pod) - pod.stoppedDiskNanosPerHour
}
