import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { isToRun } from '../pod/pod.ts'
import { effect, rateEffect } from './effect.ts'
import { nanosOf, type PlannedPod, podResource } from './pod.ts'

/** Deleting a cluster: effects on its members, their disks and their cost (DRY-8). Pure. */
export function planClusterDeletion(resource: ChangedResource, members: readonly PlannedPod[]): ChangeEffect[] {
  const stopped = members.filter(isToRun).map((member) => effect(podResource(member), 'STOPS', 'WARNING', 'the member is stopped'))
  const disks = members.length === 1 ? 'the container disk of its member' : `the container disks of its ${members.length} members`
  const keepsVolume = members.some(({ spec }) => spec.mounts.network !== undefined || spec.mounts.global !== undefined)
  return [
    ...stopped,
    effect(resource, 'DELETES', 'LOSS', members.length === 0 ? 'it is gone' : `it is gone with ${disks}`),
    ...(keepsVolume ? [effect(resource, 'STAYS', 'INFO', 'volumes that its members mount keep their data')] : []),
    ...rateEffect(
      resource,
      members.reduce((sum, member) => sum + nanosOf(member), 0),
      0,
    ),
  ]
}
