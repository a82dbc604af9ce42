import type { LogLinesQuery, LogLinesResponse } from '../../contract/logs/lines.ts'
import { ownWorker } from '../../objects/ownership/own-worker.ts'
import type { VerbContext } from '../context.ts'
import { readEndpoint } from '../endpoints/endpoints.ts'
import { followLog, type LogReading, type ReadableLog } from './follow-log.ts'
import { readLogLines } from './log-lines.ts'

/**
 * Returns the log of a worker as a stream that stays open (SCALE-8), also of one that has left while its log is retained. Throws 403, 404
 * for an endpoint or worker that is unknown or another account's (LOG-6), and 429 when the log has too many readers.
 */
export async function followWorkerLog(
  ctx: VerbContext,
  endpointId: string,
  workerId: string,
  reading: LogReading,
): Promise<ReadableStream> {
  return followLog(ctx.env, await workerLog(ctx, endpointId, workerId), reading)
}

/**
 * Returns a page of the log of a worker (LOG-30). Throws the errors of `followWorkerLog`, and 503 while the log's bucket cannot be reached.
 */
export async function readWorkerLines(
  ctx: VerbContext,
  endpointId: string,
  workerId: string,
  query: LogLinesQuery,
): Promise<LogLinesResponse> {
  return readLogLines(ctx.env, await workerLog(ctx, endpointId, workerId), query)
}

async function workerLog(ctx: VerbContext, endpointId: string, workerId: string): Promise<ReadableLog> {
  const endpoint = await readEndpoint(ctx, endpointId)
  const { worker, isKnown } = await ownWorker(ctx.env, endpoint, workerId)
  return { log: worker, ownerId: endpoint.id, isKnown }
}
