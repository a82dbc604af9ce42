import type { PodStatus } from '../../contract/enums.ts'
import { isWaitOver } from '../../domain/pod/wait.ts'
import { hostOf, type OwnPod, own } from '../../objects/ownership/own.ts'
import { hostStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { showPod, type TaggedPod } from './pods.ts'

/** Maximum time that a request waits, in milliseconds. */
const MAX_WAIT_MS = 25_000
/** Maximum interval between two reads of the row, which finds changes without a notification. */
const RETRY_AFTER_MS = 2_000

/**
 * Returns a pod once it has the status, cannot reach it without an action, or 25 s have passed (POD-44). Throws the errors of `getPod`,
 * also when the pod is terminated meanwhile. `signal`: aborted when the caller disconnects.
 */
export async function waitForPod(ctx: VerbContext, id: string, wanted: PodStatus, signal: AbortSignal): Promise<TaggedPod> {
  requireScope(ctx.principal, 'pods:read', id)
  // The clock is read after each wait: the deadline counts from the instant of the request.
  const untilMs = ctx.nowMs + MAX_WAIT_MS
  let pod = await own(ctx.env, ctx.principal, 'pod', id)
  for (let leftMs = MAX_WAIT_MS; !isWaitOver(pod.row, wanted) && leftMs > 0 && !signal.aborted; leftMs = untilMs - Date.now()) {
    // Subscribes before the row is read, so that no change falls between the two.
    const change = nextChange(ctx, pod, Math.min(RETRY_AFTER_MS, leftMs), signal)
    pod = await own(ctx.env, ctx.principal, 'pod', id)
    if (!isWaitOver(pod.row, wanted)) await change
  }
  // The answer is of the instant after the wait.
  return showPod({ env: ctx.env, nowMs: Date.now() }, pod)
}

function nextChange({ env }: VerbContext, pod: OwnPod, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, timeoutMs)
    signal.addEventListener('abort', done, { once: true })
    // A host object that cannot be reached must not turn this into a busy loop, so the timer decides then.
    hostStub(env, hostOf(pod))
      .waitForPodChange(pod.id, timeoutMs)
      .then(done, () => undefined)
  })
}
