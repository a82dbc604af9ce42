import type { PodStatus } from '../../contract/enums.ts'
import type { PodState } from './pod.ts'

/** Statuses that a pod can reach from a status without an action: by its host's reports, or by its container's end (POD-2, POD-23). */
const LATER: Readonly<Record<PodStatus, readonly PodStatus[]>> = {
  PROVISIONING: ['STARTING', 'RUNNING', 'EXITED', 'ERROR'],
  STARTING: ['RUNNING', 'EXITED', 'ERROR'],
  RUNNING: ['EXITED', 'ERROR'],
  EXITED: [],
  ERROR: [],
  TERMINATED: [],
}

/**
 * Whether waiting for a status is over: the pod has it, or cannot reach it without an action (POD-44). A pod of a lost host may recover.
 */
export function isWaitOver(pod: Pick<PodState, 'status' | 'hostLost'>, wanted: PodStatus): boolean {
  if (pod.status === wanted) return true
  const later = pod.hostLost ? LATER.PROVISIONING : LATER[pod.status]
  return !later.includes(wanted)
}
