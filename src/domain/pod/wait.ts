import type { PodStatus } from '../../contract/enums.ts'
import type { PodState } from './pod.ts'

/** Where a pod can get from a status without any action: by its host, or by its container's end (POD-2, POD-23). */
const LATER: Readonly<Record<PodStatus, readonly PodStatus[]>> = {
  PROVISIONING: ['STARTING', 'RUNNING', 'EXITED', 'ERROR'],
  STARTING: ['RUNNING', 'EXITED', 'ERROR'],
  RUNNING: ['EXITED', 'ERROR'],
  EXITED: [],
  ERROR: [],
  TERMINATED: [],
}

/** Whether waiting for a status is over: it is reached, or it cannot be reached without an action (PP-90). A lost host may return. */
export function isWaitOver(pod: Pick<PodState, 'status' | 'hostLost'>, wanted: PodStatus): boolean {
  if (pod.status === wanted) return true
  const later = pod.hostLost ? LATER.PROVISIONING : LATER[pod.status]
  return !later.includes(wanted)
}
