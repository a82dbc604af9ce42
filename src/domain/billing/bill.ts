import type { VolumeType } from '../../contract/enums.ts'
import { type Amounts, partAmounts, type Rates } from '../money.ts'
import type { Bucket } from './buckets.ts'
import type { UsageKind } from './usage.ts'

/** What bills are made of: intervals are cut at the borders of buckets, and what belongs together is summed (BIL-3 to BIL-6). Pure. */

/** An interval in which something was charged. Half-open; `endedAtMs` is null while it lasts. */
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

/** Sums of one kind and resource in one bucket, in millionths of a USD. `fastMicros`: of what is stored as HIGH_PERFORMANCE. */
export interface Sums extends Amounts {
  fastMicros: number
}

/** What one resource was charged in one bucket. */
export interface Charge extends Sums {
  kind: UsageKind
  resourceId: string
  bucketStartMs: number
}

/** A part of an interval: that which lies in one bucket. */
export interface Part extends Charge {
  interval: ChargedInterval
}

export const NOTHING: Sums = { gpuMicros: 0, cpuMicros: 0, diskMicros: 0, fastMicros: 0 }

/** Cuts an interval at the borders of buckets; what lies outside of them is left out. One that lasts counts up to now (BIL-13). */
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

/** The number of the first bucket that ends after a moment, found by halving: buckets follow one another. */
export function firstEndingAfter(buckets: readonly Bucket[], ms: number): number {
  let [low, high] = [0, buckets.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((buckets[middle] as Bucket).endMs > ms) high = middle
    else low = middle + 1
  }
  return low
}

/** What a daily sum, or part of one, adds to: the bucket that its day lies in (BIL-40). */
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

  /** By bucket and then by resource; charges of nothing are left out (BIL-5). */
  sorted(): Charge[] {
    const kept = [...this.sums.values()].filter((charge) => totalMicros(charge) > 0)
    return kept.sort((a, b) => a.bucketStartMs - b.bucketStartMs || compareText(a.resourceId, b.resourceId))
  }
}

/** What was charged, by bucket and then by resource; charges of nothing are left out (BIL-5). */
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

/** Everything together. */
export function totalMicros({ gpuMicros, cpuMicros, diskMicros, fastMicros }: Sums): number {
  return gpuMicros + cpuMicros + diskMicros + fastMicros
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
