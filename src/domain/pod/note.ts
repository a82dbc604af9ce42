import type { PodState } from './pod.ts'

/** What a note is made from. */
export type NotedPod = Pick<PodState, 'status' | 'generation' | 'hostLost' | 'statusReason'> & { hostId: string; spec: unknown }

/**
 * What a transition that the plane decided adds to the pod's log (LOG-5, PP-110): only what the plane alone knows, because the agent tells
 * itself what it does with containers. Null: nothing. Machines are not named: they are the operator's.
 */
export function noteOfTransition(before: NotedPod, after: NotedPod): string | null {
  if (after.status === 'TERMINATED') return 'terminate: asked for'
  if (after.generation > before.generation) return noteOfNextContainer(before, after)
  if (after.hostLost && !before.hostLost) return `host lost: ${after.statusReason}`
  return after.status === 'EXITED' && before.status !== 'EXITED' ? 'stop: asked for' : null
}

/** What a host's report adds beside what the agent writes itself. Null: nothing. */
export function noteOfReport(before: NotedPod, after: NotedPod): string | null {
  return before.hostLost && after.status === 'RUNNING' ? 'host is back: the container goes on' : null
}

function noteOfNextContainer(before: NotedPod, after: NotedPod): string {
  if (after.hostId !== before.hostId) return `${after.statusReason ?? 'moved to another host'}; it starts with an empty container disk`
  if (JSON.stringify(before.spec) !== JSON.stringify(after.spec)) return 'restart: its configuration was changed'
  return before.status === 'EXITED' || before.status === 'ERROR' ? 'start: asked for' : 'restart: asked for'
}
