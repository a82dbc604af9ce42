import { Problem } from '../../../contract/problems.ts'
import { openDatabase } from '../../../db/client.ts'
import { findPodIngress, type PodIngress } from '../../../db/pods/pod-ingress.ts'
import { workloadIdOf } from '../../../domain/pod/workloads.ts'
import { payerOf } from '../../../effects/payer.ts'
import type { Env } from '../../../env.ts'
import type { WantedTarget } from '../../../host-protocol/tunnel/frames.ts'
import { failureOf, sendToWorkload } from '../../../objects/tunnel/host-tunnel-calls.ts'
import type { TunnelFailure } from '../../../rpc/host-tunnel.ts'
import type { OperatorContext } from '../../context.ts'

const RETRY_SECONDS = '5'
/** A command is silent until it exists, but its host answers at once. */
const CHANNEL_TIMEOUT_MS = 30_000

type Whereabouts = Pick<PodIngress, 'id' | 'teamId' | 'generation' | 'hostId'>
type WithoutHost<Target> = Target extends unknown ? Omit<Target, 'workloadId'> : never
/** A target within a pod. */
export type PodTarget = WithoutHost<WantedTarget>
/** A target that uses the channel protocol. */
export type ChannelTarget = Exclude<PodTarget, { kind: 'http' | 'websocket' }>

/** Throws 409 with the status of a pod that does not run (NET-8). */
export function requireRunning({ status }: Pick<PodIngress, 'status'>): void {
  if (status !== 'RUNNING') throw new Problem('conflict', { detail: `the pod is ${status}: it can be accessed only while it is RUNNING` })
}

/**
 * Opens a stream to a command in a pod or to one of its ports and returns the WebSocket, which uses the channel protocol. Throws the reason
 * of a failure.
 */
export async function openChannels(
  { env, nowMs }: Pick<OperatorContext, 'env' | 'nowMs'>,
  pod: Whereabouts,
  target: ChannelTarget,
  signal: AbortSignal,
): Promise<WebSocket> {
  const answer = await sendToWorkload(env, pod.hostId, {
    target: within(pod, target),
    account: await payerOf(env, pod.teamId, nowMs),
    slot: null,
    needs: 'channels',
    beside: null,
    timeoutMs: CHANNEL_TIMEOUT_MS,
    isOwnOrigin: true,
    body: null,
    signal,
  })
  const failure = failureOf(answer)
  if (failure !== null) throw podProblem(failure)
  if (!answer.webSocket) throw new Problem('badGateway', { detail: 'the host of the pod sent an unexpected response' })
  return answer.webSocket
}

/** Returns the target in the pod's present container. */
export function within({ id, generation }: Pick<Whereabouts, 'id' | 'generation'>, target: PodTarget): WantedTarget {
  return { ...target, workloadId: workloadIdOf(id, generation) }
}

/** Returns the error for a pod that did not answer. */
export function podProblem({ code, detail }: TunnelFailure): Problem {
  switch (code) {
    case 'unreachable':
      return new Problem('unavailable', { detail: `the pod could not be reached: ${detail}`, headers: { 'Retry-After': RETRY_SECONDS } })
    case 'outdated':
      return new Problem('unavailable', { detail })
    case 'broken':
      return new Problem('badGateway', { detail: `the pod did not finish its response: ${detail}` })
    case 'late':
      return new Problem('silentServer', { detail: `the pod was reached, but ${detail}` })
    case 'too large':
      return new Problem('payloadTooLarge', { detail })
    default:
      return code satisfies never
  }
}

/** Whether a pod still runs the container that the connection was opened to (NET-9). */
export async function isStillRunning(env: Env, { id, generation }: Pick<PodIngress, 'id' | 'generation'>): Promise<boolean> {
  const ingress = await findPodIngress(openDatabase(env.DB), id)
  return ingress !== null && ingress.status === 'RUNNING' && ingress.generation === generation && !ingress.isBlocked
}
