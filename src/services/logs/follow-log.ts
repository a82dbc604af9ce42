import type { LogQuery } from '../../contract/pods/logs.ts'
import { Problem } from '../../contract/problems.ts'
import { startOf } from '../../domain/text/log-stream.ts'
import type { Env } from '../../env.ts'
import type { LogKind } from '../../host-protocol/logs.ts'
import { readLog } from '../../objects/log-reading.ts'
import type { Owned } from '../../objects/owned.ts'

/** When a reader of a log that has too many may come again: nobody knows, so not at once. */
const RETRY_SECONDS = '10'

/** A log that the caller may read. */
export interface ReadableLog {
  log: Owned<LogKind>
  /** Endpoint of a worker, id of a pod. */
  ownerId: string
  /** Whether the worker or pod exists now: then its log may be awaited before there is a line. */
  isKnown: boolean
}

/** What a reader asks for (LOG-2), and the signal that it has left. */
export interface LogReading {
  query: LogQuery
  lastEventId: string | undefined
  signal: AbortSignal
}

/** A log as a stream that stays open (LOG-4). Throws 404 when there is no such log (LOG-6), and 429 when too many read it. */
export async function followLog(
  env: Env,
  { log, ownerId, isKnown }: ReadableLog,
  { query, lastEventId, signal }: LogReading,
): Promise<ReadableStream> {
  const request = { ownerId, isKnown, start: startOf(query, lastEventId), source: query.source }
  const result = await readLog(env, log, request, signal)
  if (result.ok) return result.stream
  if (result.reason === 'unknown') throw new Problem('notFound')
  throw new Problem('rateLimited', { detail: 'too many readers follow this log; close one', headers: { 'Retry-After': RETRY_SECONDS } })
}
