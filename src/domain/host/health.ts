import type { HostHealth } from '../../contract/enums.ts'
import type { GpuProblem } from '../../host-protocol/messages.ts'

/** What one look at a machine says to its operator (HOST-33). */

export interface HealthFacts {
  online: boolean
  /** Beats are missing. */
  suspect: boolean
  lost: boolean
  gpuProblems: number
  /** It cannot be told what it is to run (HOST-69). */
  oversize: boolean
  /** Its agent cannot write to its own disk (HOST-172). */
  diskFull: boolean
  /** Another agent process took its link lately (HOST-77). */
  replaced: boolean
}

/** The worst that is known: a machine that is not heard of may have healthy GPUs, but nobody can know. */
export function healthOf({ online, suspect, lost, gpuProblems, oversize, diskFull, replaced }: HealthFacts): HostHealth {
  if (lost) return 'LOST'
  if (!online || suspect) return 'SUSPECT'
  return gpuProblems > 0 || oversize || diskFull || replaced ? 'UNHEALTHY' : 'HEALTHY'
}

/** A reason shows this many problems; the host lists all of them. */
const MAX_NAMED = 3

/**
 * HOST-42: why a host is to be cordoned now, or null. Only a problem that was not known before counts, so that what the operator has
 * lifted stays lifted; one that went away and came back is new.
 */
export function cordonReason(known: readonly GpuProblem[], reported: readonly GpuProblem[]): string | null {
  const keys = new Set(known.map(keyOf))
  const fresh = reported.filter((problem) => !keys.has(keyOf(problem)))
  if (fresh.length === 0) return null
  const named = fresh.slice(0, MAX_NAMED).map(({ index, problem }) => `${index === null ? 'gpus' : `gpu ${index}`}: ${problem}`)
  const more = fresh.length > MAX_NAMED ? [`${fresh.length - MAX_NAMED} more`] : []
  return [...named, ...more].join('; ')
}

/** Whether two lists say the same, in whatever order. */
export function sameProblems(a: readonly GpuProblem[], b: readonly GpuProblem[]): boolean {
  const keys = new Set(a.map(keyOf))
  return keys.size === new Set(b.map(keyOf)).size && b.every((problem) => keys.has(keyOf(problem)))
}

function keyOf({ index, uuid, problem }: GpuProblem): string {
  return `${uuid ?? index ?? ''}\n${problem}`
}
