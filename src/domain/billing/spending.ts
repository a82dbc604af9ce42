import { partAmounts } from '../money.ts'
import type { ChargedInterval } from './bill.ts'

// The current cost of an account, resource by resource. Pure.

const HOUR_MS = 3_600_000
const NANOS_PER_MICRO = 1_000

/** The kinds of listed resources: an owner stops or deletes each of them as a whole. */
export const SPENDING_KINDS = ['POD', 'ENDPOINT', 'CLUSTER', 'NETWORK_VOLUME'] as const
export type SpendingKind = (typeof SPENDING_KINDS)[number]

/** A pod, a worker or a volume. */
export interface Spender {
  kind: SpendingKind
  /** The id of the listed resource: its own, or that of its endpoint or cluster. */
  id: string
  name: string
  workloadId: string
  /** Whether it runs, or is about to. */
  isRunning: boolean
  /** Start time; null while it has not started. */
  startedAtMs: number | null
  nanosPerHour: number
  /** The rate that remains when it is stopped. */
  stoppedNanosPerHour: number
  /** The charges since its start from intervals that have ended. */
  closedMicros: number
}

/** The charges for a resource since the beginning of a day and of a month. */
export interface Spent {
  todayMicros: number
  monthMicros: number
}

/** A resource that costs something. Rates in billionths of a USD per hour, amounts in millionths of a USD. */
export interface Spending extends Pick<Spender, 'kind' | 'id' | 'name' | 'nanosPerHour' | 'stoppedNanosPerHour'> {
  /** The number of its pods or workers that run, or are about to. */
  runningCount: number
  /** The start of its longest-running part; null where nothing runs. */
  runningSinceMs: number | null
  /** The charges for all running parts since they started. */
  soFarMicros: number
  /** Its running pods or workers. */
  parts: readonly RunningPart[]
}

/** One running pod or worker. */
export interface RunningPart {
  workloadId: string
  nanosPerHour: number
  soFarMicros: number
}

/** The idle parts of a resource. */
export interface Idling {
  count: number
  nanosPerHour: number
  /** Since when the longest-idle part is idle; null where no part is known to be idle. */
  sinceMs: number | null
  wasteMicros: number
}

/** The last heartbeat of each silent host, by the id of each workload there. */
export type Silences = ReadonlyMap<string, number>

/** The instant until which a workload is charged: the time in which its host is silent is free (BIL-30). */
export function chargedUntilMs(workloadId: string, silentSinceMs: Silences, nowMs: number): number {
  return Math.min(nowMs, silentSinceMs.get(workloadId) ?? nowMs)
}

/**
 * All resources that cost something or run, the most expensive first (SPD-1). `intervals`: the open ones. A workload on a silent host costs
 * nothing (BIL-30).
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

/**
 * The idle parts of a resource, and the charges while they were idle (SPD-4, SPD-7). `sinceMs`: start of idle time by id of idle workloads.
 */
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

// At the rate of its current run, and at most the amount that was charged.
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
