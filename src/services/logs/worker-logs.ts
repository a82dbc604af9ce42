import { ownWorker } from '../../objects/ownership/own-worker.ts'
import type { VerbContext } from '../context.ts'
import { readEndpoint } from '../endpoints/endpoints.ts'
import { followLog, type LogReading } from './follow-log.ts'

/**
 * The log of a worker as a stream that stays open (SCALE-8): of one that the endpoint has now, or had and whose log is still kept. Throws
 * 403, 404 for an endpoint or worker that is unknown or another account's (LOG-6), and 429 when too many read this log.
 */
export async function followWorkerLog(
  ctx: VerbContext,
  endpointId: string,
  workerId: string,
  reading: LogReading,
): Promise<ReadableStream> {
  const endpoint = await readEndpoint(ctx, endpointId)
  const { worker, isKnown } = await ownWorker(ctx.env, endpoint, workerId)
  return followLog(ctx.env, { log: worker, ownerId: endpoint.id, isKnown }, reading)
}
