import type { PodStatus } from '../../contract/enums.ts'
import { isWaitOver } from '../../domain/pod/wait.ts'
import { hostOf, type OwnPod, own } from '../../objects/ownership/own.ts'
import { hostStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { showPod, type TaggedPod } from './pods.ts'

/** How long an answer is held at most. */
const MAX_WAIT_MS = 25_000
/** The row is read again at least this often: a change that nobody told of is seen then. */
const LOOK_AGAIN_MS = 2_000

/**
 * One pod, once it has the status, cannot get it without an action, or 25 s have passed (PP-90). Throws as `getPod`, also when the pod is
 * terminated meanwhile. `signal`: the caller has gone.
 */
export async function waitForPod(ctx: VerbContext, id: string, wanted: PodStatus, signal: AbortSignal): Promise<TaggedPod> {
  requireScope(ctx.principal, 'pods:read', id)
  const untilMs = ctx.nowMs + MAX_WAIT_MS
  let pod = await own(ctx.env, ctx.principal, 'pod', id)
  for (let leftMs = MAX_WAIT_MS; !isWaitOver(pod.row, wanted) && leftMs > 0 && !signal.aborted; leftMs = untilMs - Date.now()) {
    // Asked for before the row is read, so that no change falls between the two.
    const change = nextChange(ctx, pod, Math.min(LOOK_AGAIN_MS, leftMs), signal)
    pod = await own(ctx.env, ctx.principal, 'pod', id)
    if (!isWaitOver(pod.row, wanted)) await change
  }
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
    // A host object that cannot be asked must not make this a busy loop: the timer decides then.
    hostStub(env, hostOf(pod))
      .podChanged(pod.id, timeoutMs)
      .then(done, () => undefined)
  })
}
