import { endpointStub, podLogStub } from '../../durable-objects/stubs.ts'
import type { LogQuery } from '../contract/logs.ts'
import { Problem } from '../contract/problems.ts'
import { startOf } from '../domain/log-stream.ts'
import { getEndpoint, type VerbContext } from './endpoints.ts'

/** When a reader of a log that has too many may come again: nobody knows, so not at once. */
const RETRY_SECONDS = '10'

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
  query: LogQuery,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream> {
  await getEndpoint(ctx, endpointId)
  if (!WORKER_ID.test(workerId)) throw new Problem('notFound')
  const isKnown = await endpointStub(ctx.env, endpointId).knowsWorker(workerId)
  const request = { kind: 'worker', ownerId: endpointId, isKnown, start: startOf(query, lastEventId), source: query.source }
  const reply = await podLogStub(ctx.env, 'worker', workerId).fetch(
    // The name is never resolved; the signal tells the object that the reader has left.
    new Request('http://log/', { method: 'POST', body: JSON.stringify(request), signal }),
  )
  if (reply.status === 429) {
    throw new Problem('rateLimited', { detail: 'too many readers follow this log; close one', headers: { 'Retry-After': RETRY_SECONDS } })
  }
  if (!reply.ok || !reply.body) throw new Problem('notFound')
  return reply.body
}
