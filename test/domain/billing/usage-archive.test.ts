import {
  archiveKey,
  archiveText,
  chargesOf,
  monthEnd,
  movedBefore,
  partOf,
  readArchiveText,
  type UsageRecord,
} from '../../../src/domain/billing/usage-archive.ts'
import { describe, expect, it } from '../../support/unit.ts'

const HOUR_MS = 3_600_000
const MAY = Date.UTC(2026, 4, 1)
const JUNE = Date.UTC(2026, 5, 1)
const record: UsageRecord = {
  teamId: 'team',
  kind: 'POD',
  resourceId: 'pod',
  workloadId: 'pod',
  sequence: 7,
  startedAtMs: MAY,
  endedAtMs: MAY + HOUR_MS,
  cloud: 'SECURE',
  gpuTypeId: null,
  gpuCount: 0,
  vcpus: 0.5,
  diskGb: 20,
  volumeType: null,
  gpuNanosPerHour: 1_000_000,
  cpuNanosPerHour: 2_000_000,
  diskNanosPerHour: 3_000_000,
  gpuMicros: 1_000,
  cpuMicros: 2_000,
  diskMicros: 3_000,
}
const of = { teamId: 'team', kind: 'POD' as const, monthMs: MAY, rows: 1 }
const hours = (fromMs: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ startMs: fromMs + i * HOUR_MS, endMs: fromMs + (i + 1) * HOUR_MS }))

describe('the month of an interval', () => {
  it('[BIL-43] is that of its end', () => {
    expect(partOf({ ...record, endedAtMs: JUNE - 1 }).monthMs).toBe(MAY)
    expect(partOf({ ...record, endedAtMs: JUNE }).monthMs).toBe(JUNE)
    expect(monthEnd({ monthMs: MAY })).toBe(JUNE)
    expect(monthEnd({ monthMs: Date.UTC(2026, 11) })).toBe(Date.UTC(2027, 0))
  })

  it('[BIL-43] moves 62 days after its end', () => {
    const at = JUNE + 62 * 24 * HOUR_MS
    expect([movedBefore(at - 1), movedBefore(at)]).toEqual([MAY, JUNE])
    expect(movedBefore(0)).toBe(0)
  })
})

describe('the object of intervals', () => {
  it('[BIL-43] has a key by month and team, and gives back what was written', () => {
    expect(archiveKey({ ...of, id: 'x1' })).toBe('usage/2026-05/team/x1.ndjson.gz')
    expect(readArchiveText(archiveText([record, { ...record, sequence: 8 }]), { ...of, rows: 2 })).toEqual([
      record,
      { ...record, sequence: 8 },
    ])
  })

  it('[BIL-45] is not read as that of another team, kind, month or number', () => {
    const text = archiveText([record])
    expect(readArchiveText(text, of)).toEqual([record])
    for (const other of [{ teamId: 'other' }, { kind: 'CLUSTER' as const }, { monthMs: JUNE }, { rows: 2 }])
      expect(readArchiveText(text, { ...of, ...other })).toBeNull()
    expect(readArchiveText(archiveText([record, { ...record, teamId: 'other' }]), { ...of, rows: 2 })).toBeNull()
  })
})

describe('charges of an archived interval', () => {
  it('[BIL-44] are its stored amounts within an hour, and parts across hours', () => {
    const stored = { ...record, gpuMicros: 999 }
    const sums = { kind: 'POD', resourceId: 'pod', gpuMicros: 999, cpuMicros: 2_000, diskMicros: 3_000, fastMicros: 0 }
    expect(chargesOf(stored, hours(MAY, 2))).toEqual([{ ...sums, bucketStartMs: MAY }])
    const fast = chargesOf({ ...stored, volumeType: 'HIGH_PERFORMANCE' }, hours(MAY, 1))
    expect(fast).toEqual([{ ...sums, bucketStartMs: MAY, diskMicros: 0, fastMicros: 3_000 }])
    const longer = chargesOf({ ...stored, endedAtMs: MAY + 1.5 * HOUR_MS }, hours(MAY, 3))
    expect(longer.map(({ bucketStartMs, gpuMicros }) => [bucketStartMs, gpuMicros])).toEqual([
      [MAY, 1_000],
      [MAY + HOUR_MS, 500],
    ])
    expect(chargesOf(stored, hours(MAY + HOUR_MS, 2))).toEqual([])
  })
})
