import { openRecords } from '../../db/client.ts'
import { type PlaceRefusal, type PodRow, updatePod, updatePodResizing, updatePodTakingCompute } from '../../db/pods/pods.ts'
import { noteOfTransition } from '../../domain/pod/note.ts'
import { podDiskGb } from '../../domain/pod/place/placement.ts'
import { cutAtSilence, isToRun, type PodChange } from '../../domain/pod/pod.ts'
import { growthNanos, startNanos } from '../../domain/pod/rates.ts'
import type { Env } from '../../env.ts'
import { type PodAudit, podStatement } from '../audit.ts'
import { spendDemand } from '../billing/spend.ts'
import { notePod } from './pod-notes.ts'
import { gpuOf } from './pod-spec.ts'
import { podHost, withPodIntents } from './with-pod-intents.ts'

/** 'lost': another transition came first. Otherwise why the pod's host does not have what it needs (POD-17). */
export type Transition = 'done' | 'lost' | PlaceRefusal

/**
 * Writes a transition that was decided on `before` and has the pod's host act on it. A pod that is to run again reserves its compute in the
 * same transaction; `audit` names the cause. After a crash in between, the host object finishes it.
 */
export function transitPod(env: Env, before: PodRow, change: PodChange<PodRow>, audit: PodAudit): Promise<Transition> {
  return withPodIntents(
    [podHost(env, before.hostId)],
    before.id,
    ([intent]) => writeTransition(env, before, { ...change, usage: cutAtSilence(change.usage, intent?.silentSinceMs ?? null) }, audit),
    { beside: (outcome) => notePod(env, change.pod, outcome === 'done' ? noteOfTransition(before, change.pod) : null) },
  )
}

async function writeTransition(env: Env, before: PodRow, { pod, usage }: PodChange<PodRow>, audit: PodAudit): Promise<Transition> {
  const db = openRecords(env)
  const note = podStatement(env, audit, before, pod)
  if (isToRun(pod) && !isToRun(before)) {
    return updatePodTakingCompute(db, before, pod, resourcesOf(pod), note, spendDemand(env, startNanos(pod)))
  }
  const diskGb = podDiskGb(pod.spec)
  // A smaller disk of a stopped pod is released at the next start: until then the previous container still exists.
  const isResized = isToRun(pod) ? diskGb !== podDiskGb(before.spec) : diskGb > podDiskGb(before.spec)
  // A disk of the same size may cost more: a larger part is persistent, or prices have changed.
  const growth = growthNanos(before, pod, isToRun(pod))
  if (isResized || growth > 0) {
    const spend = spendDemand(env, growth)
    return updatePodResizing(db, before, pod, { usage, note, spend }, { diskGb, growsOnly: !isToRun(pod) })
  }
  return (await updatePod(db, before, pod, usage, note)) ? 'done' : 'lost'
}

function resourcesOf(pod: PodRow) {
  return { gpu: gpuOf(pod), vcpus: pod.vcpus, memoryMb: pod.memoryMb, diskGb: podDiskGb(pod.spec) }
}
