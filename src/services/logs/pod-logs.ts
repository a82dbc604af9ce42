import type { VerbContext } from '../context.ts'
import { findPodOrThrow } from '../pods/pods.ts'
import { requireScope } from '../require-scope.ts'
import { followLog, type LogReading } from './follow-log.ts'

/**
 * The log of a pod as a stream that stays open (LOG-1): one log over all containers that the pod ever had; of cluster members too (POD-16).
 * Throws 403, 404 for a pod that is terminated, unknown or another account's (LOG-6), and 429 when too many read this log.
 */
export async function followPodLog(ctx: VerbContext, podId: string, reading: LogReading): Promise<ReadableStream> {
  requireScope(ctx.principal, 'pods:read', podId)
  await findPodOrThrow(ctx, podId)
  return followLog(ctx.env, { kind: 'pod', id: podId, ownerId: podId, isKnown: true }, reading)
}
