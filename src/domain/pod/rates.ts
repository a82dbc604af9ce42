import { diskNanosPerHour, type StoragePrices } from '../catalog/storage.ts'
import { NO_RATES, nanosOfUsd, type Rates } from '../money.ts'
import type { PodSpec } from './record.ts'

/**
 * The columns of a pod's row that its rates are read from. They are set when the pod is created; later changes of the catalog do not apply.
 */
export interface ChargedPod {
  spec: Pick<PodSpec, 'compute'>
  pricePerHour: number
  diskNanosPerHour: number
  stoppedDiskNanosPerHour: number
}

/** The rates of a pod's disks, to be stored with it: while it runs, and while it is stopped (BIL-8). */
export function podDiskRates(prices: StoragePrices, { container, mounts }: PodSpec) {
  const sizes = { containerGb: container.diskGb, persistentGb: mounts.persistent?.sizeGb ?? 0 }
  const { running, stopped } = diskNanosPerHour(prices, sizes)
  return { diskNanosPerHour: running, stoppedDiskNanosPerHour: stopped }
}

/** The rates of a running pod (POD-19, BIL-8). */
export function runningRates({ spec, pricePerHour, diskNanosPerHour }: ChargedPod): Rates {
  const nanos = nanosOfUsd(pricePerHour)
  const [gpuNanosPerHour, cpuNanosPerHour] = spec.compute.kind === 'gpu' ? [nanos, 0] : [0, nanos]
  return { gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour }
}

/** The rates of a stopped pod: only its disks are charged (BIL-8). */
export function stoppedRates({ stoppedDiskNanosPerHour }: ChargedPod): Rates {
  return { ...NO_RATES, diskNanosPerHour: stoppedDiskNanosPerHour }
}

type PodPrice = Omit<ChargedPod, 'spec'>

/** The total rate of a running pod, in billionths of a USD per hour. */
export function runningNanos({ pricePerHour, diskNanosPerHour }: PodPrice): number {
  return nanosOfUsd(pricePerHour) + diskNanosPerHour
}

/**
 * The rate that a change of disks adds to a pod that runs or is stopped (`runs`), in billionths of a USD per hour; negative when it saves.
 */
export function growthNanos(before: PodPrice, after: PodPrice, runs: boolean): number {
  return runs ? after.diskNanosPerHour - before.diskNanosPerHour : after.stoppedDiskNanosPerHour - before.stoppedDiskNanosPerHour
}

/** The rate that starting a stopped pod adds, in billionths of a USD per hour. */
export function startNanos(pod: PodPrice): number {
  return runningNanos(pod) - pod.stoppedDiskNanosPerHour
}
