import type { LogLinesQuery, LogLinesResponse } from '../../contract/logs/lines.ts'
import { own } from '../../objects/ownership/own.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { followLog, type LogReading, type ReadableLog } from './follow-log.ts'
import { readLogLines } from './log-lines.ts'

/**
 * Returns the log of a pod as a stream that stays open (LOG-1): one log over all containers that the pod ever had, also for cluster members
 * (POD-16). Throws 403, 404 for a pod that is terminated, unknown or another account's (LOG-6), and 429 when the log has too many readers.
 */
export async function followPodLog(ctx: VerbContext, podId: string, reading: LogReading): Promise<ReadableStream> {
  return followLog(ctx.env, await podLog(ctx, podId), reading)
}

/** Returns a page of the log of a pod (LOG-30). Throws the errors of `followPodLog`, and 503 while the log's bucket cannot be reached. */
export async function readPodLines(ctx: VerbContext, podId: string, query: LogLinesQuery): Promise<LogLinesResponse> {
  return readLogLines(ctx.env, await podLog(ctx, podId), query)
}

async function podLog(ctx: VerbContext, podId: string): Promise<ReadableLog> {
  requireScope(ctx.principal, 'pods:read', podId)
  const pod = await own(ctx.env, ctx.principal, 'pod', podId)
  return { log: pod, ownerId: pod.id, isKnown: true }
}
