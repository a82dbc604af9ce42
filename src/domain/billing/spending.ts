import { partAmounts } from '../money.ts'
import type { ChargedInterval } from './bill.ts'

// What costs an account something at the moment, thing by thing. Pure.

const HOUR_MS = 3_600_000
const NANOS_PER_MICRO = 1_000

/** What can be listed: what its owner would stop or delete as one. */
export const SPENDING_KINDS = ['POD', 'ENDPOINT', 'CLUSTER', 'NETWORK_VOLUME'] as const
export type SpendingKind = (typeof SPENDING_KINDS)[number]

/** A pod, a worker or a volume. */
export interface Spender {
  kind: SpendingKind
  /** Of what it belongs to: itself, its endpoint or its cluster. */
  id: string
  name: string
  workloadId: string
  /** It runs, or is about to. */
  isRunning: boolean
  /** When it started; null while it has not. */
  startedAtMs: number | null
  nanosPerHour: number
  /** What of it goes on when it is stopped. */
  stoppedNanosPerHour: number
  /** What it was charged since it started in intervals that have ended. */
  closedMicros: number
}

/** What was charged for a thing since the beginning of a day and of a month. */
export interface Spent {
  todayMicros: number
  monthMicros: number
}

/** A thing that costs something, in billionths of a USD an hour and millionths of a USD. */
export interface Spending {
  kind: SpendingKind
  id: string
  name: string
  nanosPerHour: number
  stoppedNanosPerHour: number
  /** How many pods or workers of it run, or are about to. */
  runningCount: number
  /** Since the first of what runs has started; null where nothing runs. */
  runningSinceMs: number | null
  /** What all that runs was charged since it started. */
  soFarMicros: number
  /** The pods or workers of it that run. */
  parts: readonly RunningPart[]
}

/** One pod or worker that runs. */
export interface RunningPart {
  workloadId: string
  nanosPerHour: number
  soFarMicros: number
}

/** What of a thing does nothing. */
export interface Idling {
  count: number
  nanosPerHour: number
  /** Since when the longest of it does; null where all works, or nobody knows. */
  sinceMs: number | null
  wasteMicros: number
}

/** Last sign of life of the hosts that are silent, by the id of each workload there. */
export type Silences = ReadonlyMap<string, number>

/** Until when a workload has cost something: a silence of its host is charged to nobody (BIL-30). */
export function chargedUntilMs(workloadId: string, silentSinceMs: Silences, nowMs: number): number {
  return Math.min(nowMs, silentSinceMs.get(workloadId) ?? nowMs)
}

/**
 * All that costs something or runs, the dearest first (SPD-1). `intervals`: those that last; what stands on a silent host costs nothing
 * (BIL-30).
 */
export function listSpending(
  all: readonly Spender[],
  intervals: readonly ChargedInterval[],
  silentSinceMs: Silences,
  nowMs: number,
): Spending[] {
  const spenders = all.map((one) => (silentSinceMs.has(one.workloadId) ? { ...one, nanosPerHour: 0, stoppedNanosPerHour: 0 } : one))
  const lasting = new Map(intervals.map((interval) => [interval.workloadId, interval]))
  const groups = Map.groupBy(spenders, ({ kind, id }) => `${kind} ${id}`)
  return [...groups.values()]
    .map((group) => together(group, lasting, (id) => chargedUntilMs(id, silentSinceMs, nowMs)))
    .filter(({ nanosPerHour, runningCount }) => nanosPerHour > 0 || runningCount > 0)
    .toSorted((a, b) => b.nanosPerHour - a.nanosPerHour || (a.id < b.id ? -1 : 1))
}

/** What of a thing does nothing, and what that was charged meanwhile (SPD-4, SPD-7). `sinceMs`: by workload, of those that do nothing. */
export function idlingOf({ parts }: Pick<Spending, 'parts'>, sinceMs: ReadonlyMap<string, number>, nowMs: number): Idling {
  const idle = parts.flatMap((part) => {
    const since = sinceMs.get(part.workloadId)
    return since === undefined ? [] : [{ ...part, since }]
  })
  return {
    count: idle.length,
    nanosPerHour: total(idle.map(({ nanosPerHour }) => nanosPerHour)),
    sinceMs: idle.length === 0 ? null : Math.min(...idle.map(({ since }) => since)),
    wasteMicros: total(idle.map((part) => wasteMicros(part, part.since, nowMs))),
  }
}

// At the rate of its present run, and never more than that was charged.
function wasteMicros({ nanosPerHour, soFarMicros }: RunningPart, idleSinceMs: number, nowMs: number): number {
  const micros = Math.floor((nanosPerHour * Math.max(0, nowMs - idleSinceMs)) / HOUR_MS / NANOS_PER_MICRO)
  return Math.min(micros, soFarMicros)
}

function together(
  group: readonly Spender[],
  lasting: ReadonlyMap<string, ChargedInterval>,
  untilMs: (workloadId: string) => number,
): Spending {
  const { kind, id, name } = group[0] as Spender
  const running = group.filter(({ isRunning }) => isRunning)
  const starts = running.map(({ startedAtMs }) => startedAtMs).filter((ms) => ms !== null)
  const parts = running.map(({ workloadId, nanosPerHour, closedMicros }) => {
    return { workloadId, nanosPerHour, soFarMicros: closedMicros + lastingMicros(lasting.get(workloadId), untilMs(workloadId)) }
  })
  return {
    kind,
    id,
    name,
    nanosPerHour: total(group.map(({ nanosPerHour }) => nanosPerHour)),
    stoppedNanosPerHour: total(group.map(({ stoppedNanosPerHour }) => stoppedNanosPerHour)),
    runningCount: running.length,
    runningSinceMs: starts.length === 0 ? null : Math.min(...starts),
    soFarMicros: total(parts.map(({ soFarMicros }) => soFarMicros)),
    parts,
  }
}

function lastingMicros(interval: ChargedInterval | undefined, untilMs: number): number {
  if (!interval || untilMs <= interval.startedAtMs) return 0
  const { gpuMicros, cpuMicros, diskMicros } = partAmounts(interval, interval.startedAtMs, { fromMs: interval.startedAtMs, toMs: untilMs })
  return gpuMicros + cpuMicros + diskMicros
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
