import type { LogQuery } from '../../contract/logs/stream.ts'
import { Problem } from '../../contract/problems.ts'
import { startOf } from '../../domain/text/log-stream.ts'
import type { Env } from '../../env.ts'
import type { LogKind } from '../../host-protocol/logs.ts'
import { readLog } from '../../objects/log-reading.ts'
import type { Owned } from '../../objects/owned.ts'

/** Retry delay for a log with too many readers. The time at which a reader leaves is unknown, so the delay is not zero. */
const RETRY_SECONDS = '10'

/** A log that the caller may read. */
export interface ReadableLog {
  log: Owned<LogKind>
  /** Id of a worker's endpoint, or of the pod. */
  ownerId: string
  /** Whether the worker or pod exists at present: then a reader may wait for the first line of its log. */
  isKnown: boolean
}

/** The query of a reader (LOG-2), and the signal that the reader has disconnected. */
export interface LogReading {
  query: LogQuery
  lastEventId: string | undefined
  signal: AbortSignal
}

/**
 * Returns a log as a stream that stays open (LOG-4). Throws 404 when there is no such log (LOG-6), and 429 when it has too many readers.
 */
export async function followLog(
  env: Env,
  { log, ownerId, isKnown }: ReadableLog,
  { query, lastEventId, signal }: LogReading,
): Promise<ReadableStream> {
  const request = { ownerId, isKnown, start: startOf(query, lastEventId), source: query.source }
  const result = await readLog(env, log, request, signal)
  if (result.ok) return result.stream
  if (result.reason === 'unknown') throw new Problem('notFound')
  throw new Problem('rateLimited', {
    detail: 'too many readers follow this log; close one of them',
    headers: { 'Retry-After': RETRY_SECONDS },
  })
}
