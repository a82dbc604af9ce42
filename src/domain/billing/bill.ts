import type { VolumeType } from '../../contract/enums.ts'
import { type Amounts, partAmounts, type Rates } from '../money.ts'
import type { Bucket } from './buckets.ts'
import type { UsageKind } from './usage.ts'

/**
 * Builds bills: charged intervals are cut at the borders of buckets, and the parts are summed by bucket and resource (BIL-3 to BIL-6).
 * Pure.
 */

/** A half-open interval in which a resource was charged; `endedAtMs` is null while it lasts. */
export interface ChargedInterval extends Rates {
  kind: UsageKind
  resourceId: string
  workloadId: string
  startedAtMs: number
  endedAtMs: number | null
  gpuTypeId: string | null
  gpuCount: number
  vcpus: number
  diskGb: number
  volumeType: VolumeType | null
}

/** Sums of one kind and resource in one bucket, in millionths of a USD. `fastMicros`: HIGH_PERFORMANCE storage, not in `diskMicros`. */
export interface Sums extends Amounts {
  fastMicros: number
}

/** The charge for one resource in one bucket. */
export interface Charge extends Sums {
  kind: UsageKind
  resourceId: string
  bucketStartMs: number
}

/** The part of an interval that lies in one bucket. */
export interface Part extends Charge {
  interval: ChargedInterval
}

export const NOTHING: Sums = { gpuMicros: 0, cpuMicros: 0, diskMicros: 0, fastMicros: 0 }

/** Cuts an interval at the borders of buckets; time outside of them is left out. An open interval counts up to `nowMs` (BIL-13). */
export function cutInterval(interval: ChargedInterval, buckets: readonly Bucket[], nowMs: number): Part[] {
  const { kind, resourceId, startedAtMs } = interval
  const endedAtMs = interval.endedAtMs ?? nowMs
  const parts: Part[] = []
  for (let i = firstEndingAfter(buckets, startedAtMs); i < buckets.length; i += 1) {
    const bucket = buckets[i] as Bucket
    if (bucket.startMs >= endedAtMs) break
    const part = { fromMs: Math.max(startedAtMs, bucket.startMs), toMs: Math.min(endedAtMs, bucket.endMs) }
    parts.push({ kind, resourceId, bucketStartMs: bucket.startMs, interval, ...sumsOf(interval, part) })
  }
  return parts
}

function sumsOf(interval: ChargedInterval, part: { fromMs: number; toMs: number }): Sums {
  const { diskMicros, ...compute } = partAmounts(interval, interval.startedAtMs, part)
  const isFast = interval.volumeType === 'HIGH_PERFORMANCE'
  return { ...compute, diskMicros: isFast ? 0 : diskMicros, fastMicros: isFast ? diskMicros : 0 }
}

/**
 * The index of the first bucket that ends after an instant, by binary search; `buckets.length` if there is none. Buckets are contiguous.
 */
export function firstEndingAfter(buckets: readonly Bucket[], ms: number): number {
  let [low, high] = [0, buckets.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((buckets[middle] as Bucket).endMs > ms) high = middle
    else low = middle + 1
  }
  return low
}

/** Assigns a daily sum, or a part of one, to the bucket that contains its day (BIL-40). */
export function inBucketOfDay(charge: Charge, buckets: readonly Bucket[]): Charge {
  return { ...charge, bucketStartMs: buckets[firstEndingAfter(buckets, charge.bucketStartMs)]?.startMs ?? charge.bucketStartMs }
}

/** Sums by bucket, kind and resource that grow as charges are read. */
export class ChargeSums {
  private readonly sums = new Map<string, Charge>()

  get size(): number {
    return this.sums.size
  }

  add(charges: Iterable<Charge>): void {
    for (const charge of charges) {
      const { kind, resourceId, bucketStartMs, gpuMicros, cpuMicros, diskMicros, fastMicros } = charge
      const key = `${bucketStartMs} ${kind} ${resourceId}`
      const known = this.sums.get(key)
      if (!known) this.sums.set(key, { kind, resourceId, bucketStartMs, gpuMicros, cpuMicros, diskMicros, fastMicros })
      else Object.assign(known, addSums(known, charge))
    }
  }

  /** Charges ordered by bucket and then by resource id; charges of zero are left out (BIL-5). */
  sorted(): Charge[] {
    const kept = [...this.sums.values()].filter((charge) => totalMicros(charge) > 0)
    return kept.sort((a, b) => a.bucketStartMs - b.bucketStartMs || compareText(a.resourceId, b.resourceId))
  }
}

/** Summed charges, ordered by bucket and then by resource id; charges of zero are left out (BIL-5). */
export function sumCharges(charges: Iterable<Charge>): Charge[] {
  const sums = new ChargeSums()
  sums.add(charges)
  return sums.sorted()
}

/** Adds sums member by member. */
export function addSums(a: Sums, b: Sums): Sums {
  return {
    gpuMicros: a.gpuMicros + b.gpuMicros,
    cpuMicros: a.cpuMicros + b.cpuMicros,
    diskMicros: a.diskMicros + b.diskMicros,
    fastMicros: a.fastMicros + b.fastMicros,
  }
}

/** The total of all parts, in millionths of a USD. */
export function totalMicros({ gpuMicros, cpuMicros, diskMicros, fastMicros }: Sums): number {
  return gpuMicros + cpuMicros + diskMicros + fastMicros
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
