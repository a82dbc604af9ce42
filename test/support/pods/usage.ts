import type { ChargedInterval } from '../../../src/domain/billing/bill.ts'
import { partAmounts } from '../../../src/domain/money.ts'
import { env } from '../harness.ts'

export const HOUR_MS = 3_600_000

/** A closed interval of a pod, by default without a charge. */
export function closed(change: Partial<ChargedInterval> & { startedAtMs: number; endedAtMs: number }): ChargedInterval {
  return {
    kind: 'POD',
    resourceId: 'pod',
    workloadId: 'pod',
    gpuTypeId: null,
    gpuCount: 0,
    vcpus: 0,
    diskGb: 0,
    volumeType: null,
    gpuNanosPerHour: 0,
    cpuNanosPerHour: 0,
    diskNanosPerHour: 0,
    ...change,
  }
}

let sequence = 0
/** Writes closed intervals of a team as the code that ends them does. */
export async function writeUsage(teamId: string, intervals: readonly ChargedInterval[]): Promise<void> {
  const places = Array(19).fill('?').join(', ')
  const insert = env.DB.prepare(`INSERT INTO usage VALUES (${places})`)
  const statements = intervals.map((one) => {
    const endedAtMs = one.endedAtMs ?? one.startedAtMs
    const amounts = partAmounts(one, one.startedAtMs, { fromMs: one.startedAtMs, toMs: endedAtMs })
    const who = [one.workloadId, sequence++, one.kind, one.resourceId, teamId]
    const what = [one.startedAtMs, endedAtMs, 'SECURE', one.gpuTypeId, one.gpuCount, one.vcpus, one.diskGb, one.volumeType]
    const rates = [one.gpuNanosPerHour, one.cpuNanosPerHour, one.diskNanosPerHour]
    return insert.bind(...who, ...what, ...rates, amounts.gpuMicros, amounts.cpuMicros, amounts.diskMicros)
  })
  if (statements.length > 0) await env.DB.batch(statements)
}
