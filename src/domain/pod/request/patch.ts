import type { UpdatePodRequest } from '../../../contract/pods/pods.ts'
import type { Refusal } from '../../../contract/problems.ts'
import { planDeadlines } from '../deadlines.ts'
import { planIdleStop } from '../idle-stop.ts'
import { type Labels, labelsAfter } from '../labels.ts'
import type { PodSpec } from '../record.ts'
import { patchContainer, refuseSize, runsAlike } from './container.ts'
import { patchMounts, sameMountPaths } from './mounts.ts'
import { type PodReferences, refuseRegistry, refuseSpec } from './request.ts'

/** Fields of a pod that a PATCH reads and writes. */
export interface PatchedPod {
  name: string
  locked: boolean
  spec: PodSpec
  clusterId: string | null
  stopAfterMs: number | null
  terminateAfterMs: number | null
  labels: Labels
}

/** A pod after a PATCH, or the refusal. `needsNewContainer`: the change starts the next generation. */
export type PatchPlan = { ok: true; pod: PatchedPod; isChanged: boolean; needsNewContainer: boolean } | { ok: false; problem: Refusal }

/** A pod after a PATCH (POD-13, POD-15, POD-16, MNT-4), or why the PATCH is refused. */
export function planPatch(pod: PatchedPod, body: UpdatePodRequest, references: PodReferences, nowMs: number): PatchPlan {
  const next = patched(pod, body, references, nowMs)
  if (!next.ok) return next
  const isAlike = runsAlike(pod.spec, next.pod.spec) && pod.spec.globalNetworking === next.pod.spec.globalNetworking
  const needsNewContainer = !isAlike || !sameMountPaths(pod.spec.mounts, next.pod.spec.mounts)
  const problem = refuseState(pod, next.pod, needsNewContainer)
  if (problem) return { ok: false, problem }
  return { ok: true, pod: next.pod, isChanged: JSON.stringify(next.pod) !== JSON.stringify(pod), needsNewContainer }
}

function patched(
  pod: PatchedPod,
  body: UpdatePodRequest,
  references: PodReferences,
  nowMs: number,
): { ok: true; pod: PatchedPod } | { ok: false; problem: Refusal } {
  const container = patchContainer(pod.spec.container, body, references.template?.container ?? null)
  if (!container.ok) return container
  const times = planDeadlines(pod, body, nowMs)
  if (!times.ok) return times
  const mounts = patchMounts(pod.spec.mounts, body.mounts ?? {})
  if (!mounts.ok) return mounts
  const { idleStop: present, ...rest } = pod.spec
  const idleStop = planIdleStop(present, body.idleStop, nowMs)
  const spec: PodSpec = {
    ...rest,
    container: container.container,
    mounts: mounts.mounts,
    globalNetworking: body.globalNetworking ?? pod.spec.globalNetworking,
    onHostLoss: body.onHostLoss ?? pod.spec.onHostLoss,
    ...(idleStop && { idleStop }),
  }
  const tooLarge = references.template && refuseSize(body, container.container)
  const problem = refuseSpec(spec) ?? refuseRegistry(body.registry, references.hasRegistry) ?? tooLarge
  if (problem) return { ok: false, problem }
  const labels = labelsAfter(pod.labels, body.labels)
  return { ok: true, pod: { ...pod, name: body.name ?? pod.name, locked: body.locked ?? pod.locked, spec, ...times.deadlines, labels } }
}

/** A locked pod retains its container, unless the same request unlocks it (POD-43). */
function refuseState(before: PatchedPod, after: PatchedPod, needsNewContainer: boolean): Refusal | null {
  if (before.clusterId !== null) return CLUSTER_MEMBER
  return needsNewContainer && before.locked && after.locked ? { key: 'conflict', detail: 'pod is locked', code: 'LOCKED' } : null
}

/** 409 for a change of a cluster's member (POD-16). */
export const CLUSTER_MEMBER: Refusal = { key: 'conflict', detail: 'the pod is a member of a cluster; change the cluster instead' }
