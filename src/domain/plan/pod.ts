import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { UpdatePodRequest } from '../../contract/pods/pods.ts'
import { isToRun, type PodState } from '../pod/pod.ts'
import { runningNanos } from '../pod/rates.ts'
import type { PatchedPod } from '../pod/request/patch.ts'
import { sameValue } from '../same-value.ts'
import { effect, rateEffect } from './effect.ts'

// Plans for transitions of a pod. Pure: computed from the stored row and the row that the transition would write.

/** Fields of a pod's row that a plan reads. */
export interface PlannedPod extends PodState, Pick<PatchedPod, 'name' | 'spec' | 'stopAfterMs' | 'terminateAfterMs' | 'labels'> {
  id: string
  pricePerHour: number
}

/** `entrypoint`, `cmd` and `templateId` are other ways to set the fields of the container. */
type PlannedField = Exclude<keyof UpdatePodRequest, 'entrypoint' | 'cmd' | 'templateId'>

/** A pod as plans name it. */
export function podResource({ id, name }: Pick<PlannedPod, 'id' | 'name'>): ChangedResource {
  return { kind: 'pod', id, name }
}

/** Effects on a pod when its row becomes `after` (DRY-2). */
export function planPodChange(before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  const resource = podResource(before)
  return [
    ...settingsEffects(resource, before, after),
    ...containerEffects(resource, before, after),
    ...dataEffects(resource, before, after),
    ...rateOf(resource, before, after),
  ]
}

/** Fields of a pod that a PATCH may change, by their names in the API. A plan names a changed variable set but does not show its values. */
function fieldsOf({ name, locked, spec, stopAfterMs, terminateAfterMs, labels }: PlannedPod): Record<PlannedField, unknown> {
  const { container, mounts, globalNetworking, onHostLoss, idleStop } = spec
  const { image, args, env, ports, diskGb, registry } = container
  return {
    ...{ name, locked, image, args, env, ports, disk: diskGb, registry, mounts, globalNetworking, onHostLoss },
    ...{ stopAfter: stopAfterMs, terminateAfter: terminateAfterMs, idleStop: idleStop?.afterSeconds ?? null, labels },
  }
}

function settingsEffects(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  // The end of a pod is described by the effects on its container and disks.
  if (after.status === 'TERMINATED') return []
  const previous = fieldsOf(before)
  const changed = Object.entries(fieldsOf(after))
    .filter(([field, value]) => !sameValue(previous[field as PlannedField], value))
    .map(([field]) => field)
  if (changed.length === 0) return []
  const isRestarted = after.generation !== before.generation
  const when =
    isRestarted || !(isToRun(before) || after.diskStale)
      ? ''
      : isToRun(before)
        ? '; the running container is not affected'
        : '; from its next start on'
  return [effect(resource, 'CHANGES', 'INFO', `changes ${changed.join(', ')}${when}`)]
}

function containerEffects(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  if (isToRun(before) && !isToRun(after)) return [effect(resource, 'STOPS', 'WARNING', 'its container is stopped, and its ports close')]
  if (isToRun(before) && after.generation !== before.generation)
    return [effect(resource, 'RESTARTS', 'WARNING', 'its container is stopped and another is started; ports may change')]
  if (!isToRun(before) && isToRun(after))
    return [effect(resource, 'STARTS', 'INFO', 'its container is started on the host that has its disks')]
  return []
}

function dataEffects(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  const { mounts } = before.spec
  const isGone = after.status === 'TERMINATED'
  const isWiped = isGone || (after.diskStale && !before.diskStale)
  const kept = [
    !isGone && mounts.persistent && 'persistent volume',
    mounts.network && 'network volume',
    mounts.global && 'global volume',
  ].filter((name) => typeof name === 'string')
  return [
    ...(isWiped ? [effect(resource, 'DELETES', 'LOSS', 'data on the container disk is lost')] : []),
    ...(isGone && mounts.persistent
      ? [effect(resource, 'DELETES', 'LOSS', `its persistent volume of ${mounts.persistent.sizeGb} GB is deleted`)]
      : []),
    ...(isWiped ? kept.map((name) => effect(resource, 'STAYS', 'INFO', `its ${name} keeps its data`)) : []),
  ]
}

function rateOf(resource: ChangedResource, before: PlannedPod, after: PlannedPod): ChangeEffect[] {
  return rateEffect(resource, nanosOf(before), nanosOf(after))
}

/** Current cost of a pod per hour, in nano-USD. */
export function nanosOf(pod: PlannedPod): number {
  if (pod.status === 'TERMINATED') return 0
  return isToRun(pod) ? runningNanos(pod) : pod.stoppedDiskNanosPerHour
}
