import type { BillingInterval } from '../../contract/billing/bills.ts'
import { type Part, totalMicros } from '../../domain/billing/bill.ts'
import { usdOfMicros, usdOfNanos } from '../../domain/money.ts'

/** Returns a part of an interval in the format of a bill (BIL-16). */
export function showPart(part: Part): BillingInterval {
  const { interval } = part
  return {
    kind: interval.kind,
    resourceId: interval.resourceId,
    workloadId: interval.workloadId,
    startTime: formatMs(interval.startedAtMs),
    endTime: interval.endedAtMs === null ? null : formatMs(interval.endedAtMs),
    gpuTypeId: interval.gpuTypeId,
    gpuCount: interval.gpuCount,
    vcpuCount: interval.vcpus,
    diskGb: interval.diskGb,
    volumeType: interval.volumeType,
    gpuPerHour: usdOfNanos(interval.gpuNanosPerHour),
    cpuPerHour: usdOfNanos(interval.cpuNanosPerHour),
    diskPerHour: usdOfNanos(interval.diskNanosPerHour),
    gpuAmount: usdOfMicros(part.gpuMicros),
    cpuAmount: usdOfMicros(part.cpuMicros),
    diskAmount: usdOfMicros(part.diskMicros + part.fastMicros),
    totalAmount: usdOfMicros(totalMicros(part)),
  }
}

function formatMs(ms: number): string {
  return new Date(ms).toISOString()
}
