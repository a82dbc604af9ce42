import { openRecords } from '../../db/client.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { cutAtSilence, type PodChange } from '../../domain/pod/pod.ts'
import type { Env } from '../../env.ts'
import { BY_PLATFORM } from '../../rpc/cause.ts'
import { podStatement } from '../audit.ts'
import { notePod } from './pod-notes.ts'
import { changePodRow } from './pod-reports.ts'
import { type PodHost, withPodIntents } from './with-pod-intents.ts'

/**
 * Applies the plane's own decision to a pod's present row and has its host act on it; the pod's log and the audit log record it. `decide`
 * returns null when there is nothing to change; it is not called for a pod that has left this host.
 */
export async function changePodByPlatform(
  env: Env,
  host: PodHost,
  podId: string,
  decide: (pod: PodRow) => PodChange<PodRow> | null,
): Promise<void> {
  await withPodIntents([host], podId, ([intent]) =>
    changePodRow(
      openRecords(env),
      podId,
      (pod) => {
        const change = pod.hostId === host.hostId ? decide(pod) : null
        return change && { ...change, usage: cutAtSilence(change.usage, intent?.silentSinceMs ?? null) }
      },
      (before, after) => podStatement(env, { cause: BY_PLATFORM, action: actionOf(before, after) }, before, after),
      (before, after) => notePod(env, after, after.status === before.status ? null : after.statusReason),
    ),
  )
}

function actionOf(before: PodRow, after: PodRow): string {
  if (after.status === before.status) return 'pods.update'
  return after.status === 'TERMINATED' ? 'pods.terminate' : 'pods.stop'
}
