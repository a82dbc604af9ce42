import type { BillingInterval } from '../../contract/billing/bills.ts'

/** Fields of one interval of a v2 record that a v1 bill uses. */
type Interval = Pick<BillingInterval, 'workloadId' | 'startTime' | 'endTime' | 'gpuTypeId' | 'diskGb' | 'totalAmount'>

/** Charges of one resource in one bucket. */
export interface BillRecord {
  startTime: string
  endTime: string
  intervals?: readonly Interval[] | undefined
}

/** Field by which v1 rows are summed; null: by bucket alone. */
export type Grouping = 'podId' | 'endpointId' | 'gpuTypeId' | null

/** A row of v1 (LEG-10). */
export interface V1BillRow {
  time: string
  /** USD. */
  amount: number
  timeBilledMs: number
  diskSpaceBilledGb: number
  [group: string]: string | number
}

const MICROS = 1_000_000

/**
 * Rows of v1 from v2 records with their intervals, one for each bucket and group, oldest first. `ownerOf` names the resource of a record.
 * An open interval counts up to `nowMs`. With a `gpuTypeId`, only intervals on that type count.
 */
export function v1Bills<Shown extends BillRecord>(
  records: readonly Shown[],
  grouping: Grouping,
  ownerOf: (record: Shown) => string,
  nowMs: number,
  gpuTypeId?: string,
): V1BillRow[] {
  const isWanted = (interval: Interval) => gpuTypeId === undefined || interval.gpuTypeId === gpuTypeId
  const parts = records.flatMap((record) => {
    const wanted = (record.intervals ?? []).filter(isWanted)
    return wanted.map((interval) => ({ record, interval, group: groupOf(grouping, ownerOf(record), interval) }))
  })
  const groups = Map.groupBy(parts, ({ record, group }) => `${record.startTime} ${group}`)
  return [...groups.values()].flatMap((members) => {
    const [first] = members
    if (!first) return []
    const amount = members.reduce((micros, { interval }) => micros + Math.round(interval.totalAmount * MICROS), 0) / MICROS
    const timeBilledMs = members.reduce((ms, { record, interval }) => ms + sharedMs(record, interval, nowMs), 0)
    const diskOf = Map.groupBy(members, ({ interval }) => interval.workloadId)
    const diskSpaceBilledGb = [...diskOf.values()].reduce((gb, of) => gb + Math.max(...of.map(({ interval }) => interval.diskGb)), 0)
    const row = { time: first.record.startTime, amount, timeBilledMs, diskSpaceBilledGb }
    return [grouping === null ? row : { ...row, [grouping]: first.group }]
  })
}

function groupOf(grouping: Grouping, owner: string, { gpuTypeId, workloadId }: Interval): string {
  if (grouping === 'gpuTypeId') return gpuTypeId ?? ''
  return grouping === 'podId' ? workloadId : grouping === 'endpointId' ? owner : ''
}

/** Part of an interval within the bucket of its record, milliseconds. */
function sharedMs(record: BillRecord, { startTime, endTime }: Interval, nowMs: number): number {
  const from = Math.max(Date.parse(startTime), Date.parse(record.startTime))
  const to = Math.min(endTime === null ? nowMs : Date.parse(endTime), Date.parse(record.endTime))
  return Math.max(0, to - from)
}
