import type { HostHealth } from '../../contract/enums.ts'
import type { GpuProblem } from '../../host-protocol/messages.ts'

/** The health of a host as its operator sees it (HOST-33). */

/** The facts from which the health of a host is judged. */
export interface HealthFacts {
  online: boolean
  /** Heartbeats are missing. */
  suspect: boolean
  lost: boolean
  gpuProblems: number
  /** Its desired state is too large to be sent to its agent (HOST-69). */
  oversize: boolean
  /** Its agent cannot write to its own disk (HOST-172). */
  diskFull: boolean
  /** Another agent process took over its link recently (HOST-77). */
  replaced: boolean
}

/** The worst condition that is known. A silent host is SUSPECT whatever its last report: its GPUs may be healthy, but this is unknown. */
export function healthOf({ online, suspect, lost, gpuProblems, oversize, diskFull, replaced }: HealthFacts): HostHealth {
  if (lost) return 'LOST'
  if (!online || suspect) return 'SUSPECT'
  return gpuProblems > 0 || oversize || diskFull || replaced ? 'UNHEALTHY' : 'HEALTHY'
}

/** Upper bound of problems that a reason names; the host lists all of them. */
const MAX_NAMED = 3

/**
 * HOST-42: the reason to cordon a host, or null. Only a problem that was not known before counts, so that a cordon that the operator has
 * lifted stays lifted; a problem that disappeared and came back is new.
 */
export function cordonReason(known: readonly GpuProblem[], reported: readonly GpuProblem[]): string | null {
  const keys = new Set(known.map(keyOf))
  const fresh = reported.filter((problem) => !keys.has(keyOf(problem)))
  if (fresh.length === 0) return null
  const named = fresh.slice(0, MAX_NAMED).map(({ index, problem }) => `${index === null ? 'gpus' : `gpu ${index}`}: ${problem}`)
  const more = fresh.length > MAX_NAMED ? [`${fresh.length - MAX_NAMED} more`] : []
  return [...named, ...more].join('; ')
}

/** Whether two lists have the same problems, in any order. */
export function sameProblems(a: readonly GpuProblem[], b: readonly GpuProblem[]): boolean {
  const keys = new Set(a.map(keyOf))
  return keys.size === new Set(b.map(keyOf)).size && b.every((problem) => keys.has(keyOf(problem)))
}

function keyOf({ index, uuid, problem }: GpuProblem): string {
  return `${uuid ?? index ?? ''}\n${problem}`
}
