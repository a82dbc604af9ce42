import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { runningNanos } from '../billing/pod-rates.ts'
import { isToRun, type PodState } from '../pod/pod.ts'
import type { PodSpec } from '../pod/record.ts'
import { effect, rateEffect } from './effect.ts'

// What a transition of a pod means to whoever asks for it. Pure: told from the row as it is and as the verb would write it.

/** What of a pod's row a plan looks at. */
export interface PlannedPod extends PodState {
  id: string
  name: string
  spec: PodSpec
  pricePerHour: number
}

export function podResource({ id, name }: Pick<PlannedPod, 'id' | 'name'>): ChangedResource {
  return { kind: 'pod', id, name }
}

/** What changes for a pod when its row becomes `after` (DRY-2). */
export function planPodChange(before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  const resource = podResource(before)
  return [...containerEffects(resource, before, after), ...dataEffects(resource, before, after), ...rateOf(resource, before, after)]
}

function containerEffects(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  if (isToRun(before) && !isToRun(after)) return [effect(resource, 'STOPS', 'WARNING', 'its container is stopped, and its ports close')]
  if (isToRun(before) && after.generation !== before.generation)
    return [effect(resource, 'RESTARTS', 'WARNING', 'its container is stopped and another is started; ports may change')]
  if (after.status === before.status && after.version !== before.version) {
    return [effect(resource, 'CHANGES', 'INFO', 'its settings are changed; what runs goes on')]
  }
  return []
}

function dataEffects(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  const { mounts } = before.spec
  const isGone = after.status === 'TERMINATED'
  const isWiped = isGone || (after.diskStale && !before.diskStale)
  const kept = [mounts.network && 'network volume', mounts.global && 'global volume'].filter((name) => typeof name === 'string')
  return [
    ...(isWiped ? [effect(resource, 'DELETES', 'LOSS', 'what its container has written to the container disk is lost')] : []),
    ...(isGone && mounts.persistent
      ? [effect(resource, 'DELETES', 'LOSS', `its persistent volume of ${mounts.persistent.sizeGb} GB is deleted`)]
      : []),
    ...(isGone ? kept.map((name) => effect(resource, 'STAYS', 'INFO', `its ${name} keeps its data`)) : []),
  ]
}

function rateOf(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  return rateEffect(resource, nanosOf(before), nanosOf(after))
}

/** What a pod costs an hour as it is, in billionths of a USD. */
function nanosOf(pod: PlannedPod): number {
  if (pod.status === 'TERMINATED') return 0
  return isToRun(pod) ? runningNanos(pod) : pod.stoppedDiskNanosPerHour
}
