/** A workload without GPUs is idle below this, in percent of the CPUs allocated to it. */
const IDLE_CPU_PERCENT = 5
/** A workload that waits for a CPU for this share of the time or more is not idle, in percent (HIS-11). */
const WAITING_PERCENT = 10
/** A workload without samples for longer is not shown as idle. */
export const UNSEEN_MS = 60_000
/**
 * After a longer time without samples idle time starts again: the workload may have worked meanwhile. A restart of the host's object loses up
 * to a minute of samples (HIS-3), which must not.
 */
const GAP_MS = 2 * UNSEEN_MS

/** The facts that decide whether a workload is idle. */
export interface Activity {
  cpu?: number | undefined
  /** Percent of the time in which it was ready to run but did not run; absent: the agent or the machine does not report it. */
  cpuWaiting?: number | undefined
  gpus?: readonly { util: number }[] | undefined
  /** The number of real GPUs allocated to it; absent: the agent does not report it. */
  gpuCount?: number | undefined
}

/**
 * HIS-8, HIS-11: a workload that waits for a CPU is not idle. Otherwise idle means 0 % on all of its GPUs, or CPU below 5 % where it has
 * none. Null: a figure is missing.
 */
export function judgeIdle({ cpu, cpuWaiting = 0, gpus = [], gpuCount = gpus.length }: Activity): boolean | null {
  if (cpuWaiting >= WAITING_PERCENT) return false
  if (gpuCount > 0) return gpus.length < gpuCount ? null : gpus.every(({ util }) => util === 0)
  return cpu === undefined ? null : cpu < IDLE_CPU_PERCENT
}

/** Since when a workload was idle at its last sample; null: it was busy. */
export interface Idleness {
  sinceMs: number | null
  seenMs: number
}

/** Since when a workload is idle, after a sample; null if it is busy, or if this is unknown. Time without samples does not count. */
export function idleSince(previous: Idleness | null, isIdle: boolean | null, nowMs: number): number | null {
  if (isIdle !== true) return null
  if (previous === null || previous.sinceMs === null) return nowMs
  const isConnected = nowMs - previous.seenMs <= GAP_MS && previous.sinceMs <= nowMs
  return isConnected ? previous.sinceMs : nowMs
}
