import type { PodState } from './pod.ts'

/** Fields of a pod from which a log note is made. */
export type NotedPod = Pick<PodState, 'status' | 'generation' | 'hostLost' | 'statusReason'> & { hostId: string; spec: unknown }

/**
 * Line that a transition decided by the plane adds to the pod's log (LOG-5, LOG-17); null: none. It covers only facts that the plane alone
 * has, because the agent logs its own actions on containers. It names no host, because hosts belong to the operator.
 */
export function noteOfTransition(before: NotedPod, after: NotedPod): string | null {
  if (after.status === 'TERMINATED') return 'terminate: asked for'
  if (after.generation > before.generation) return noteOfNextContainer(before, after)
  if (after.hostLost && !before.hostLost) return `host lost: ${after.statusReason}`
  return after.status === 'EXITED' && before.status !== 'EXITED' ? 'stop: asked for' : null
}

/** Line that a host's report adds to the pod's log beside the agent's own lines; null: none. */
export function noteOfReport(before: NotedPod, after: NotedPod): string | null {
  return before.hostLost && after.status === 'RUNNING' ? 'host is back: the container still runs' : null
}

function noteOfNextContainer(before: NotedPod, after: NotedPod): string {
  if (after.hostId !== before.hostId) return `${after.statusReason ?? 'moved to another host'}; it starts with an empty container disk`
  if (JSON.stringify(before.spec) !== JSON.stringify(after.spec)) return 'restart: its configuration was changed'
  return before.status === 'EXITED' || before.status === 'ERROR' ? 'start: asked for' : 'restart: asked for'
}
