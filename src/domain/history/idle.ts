/** Below this a workload without GPUs does nothing, percent of the CPUs that it was given. */
const IDLE_CPU_PERCENT = 5
/** Who waits for a CPU for longer would do something, percent of the time (HIS-11). */
const WAITING_PERCENT = 10
/** Who was not seen for longer may have worked meanwhile. */
export const UNSEEN_MS = 60_000

/** What tells whether a workload does anything. */
export interface Activity {
  cpu?: number | undefined
  /** Of the time it was ready to run and did not; absent: an agent or a machine that does not say. */
  cpuWaiting?: number | undefined
  gpus?: readonly { util: number }[] | undefined
  /** Real GPUs that it was given; absent: an agent that does not say. */
  gpuCount?: number | undefined
}

/** HIS-8, HIS-11: a pod that waits for a CPU is not idle. Else 0 % on all its GPUs, or CPU below 5 % where it has none. Null: a figure is missing. */
export function judgeIdle({ cpu, cpuWaiting = 0, gpus = [], gpuCount = gpus.length }: Activity): boolean | null {
  if (cpuWaiting >= WAITING_PERCENT) return false
  if (gpuCount > 0) return gpus.length < gpuCount ? null : gpus.every(({ util }) => util === 0)
  return cpu === undefined ? null : cpu < IDLE_CPU_PERCENT
}

/** Since when something was idle when it was last seen; null: it was not. */
export interface Idleness {
  sinceMs: number | null
  seenMs: number
}

/** Since when it is idle, after a sample; null when it is not, or when that cannot be told. Time that nobody saw does not count. */
export function idleSince(former: Idleness | null, isIdle: boolean | null, nowMs: number): number | null {
  if (isIdle !== true) return null
  if (former === null || former.sinceMs === null) return nowMs
  const isConnected = nowMs - former.seenMs <= UNSEEN_MS && former.sinceMs <= nowMs
  return isConnected ? former.sinceMs : nowMs
}
