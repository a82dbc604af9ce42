import { Problem } from '../../contract/problems.ts'
import { endpointStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { getEndpoint } from '../endpoints/endpoints.ts'
import { followLog, type LogReading } from './follow-log.ts'

/** Anything else was never the id of a worker, and must not become the name of an object. */
const WORKER_ID = /^[A-Za-z0-9_-]{1,64}$/

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
  await getEndpoint(ctx, endpointId)
  if (!WORKER_ID.test(workerId)) throw new Problem('notFound')
  const isKnown = await endpointStub(ctx.env, endpointId).knowsWorker(workerId)
  return followLog(ctx.env, { kind: 'worker', id: workerId, ownerId: endpointId, isKnown }, reading)
}
