import type { Env } from '../env.ts'
import type { LogKind } from '../host-protocol/logs.ts'
import type { LogRequest } from '../rpc/pod-log.ts'
import type { Owned } from './owned.ts'
import { podLogStub } from './stubs.ts'

/** Status with which the object reports too many readers; any other failure means that there is no such log. */
export const TOO_MANY_READERS = 429

/** The stream of a log, or the reason why there is none: no such log, or too many readers. */
export type LogReadingResult = { ok: true; stream: ReadableStream } | { ok: false; reason: 'unknown' | 'full' }

/** Follows the log of a worker or pod; the reader disconnects by aborting `signal`. */
export async function readLog(
  env: Env,
  log: Owned<LogKind>,
  request: Omit<LogRequest, 'kind'>,
  signal: AbortSignal,
): Promise<LogReadingResult> {
  // The host name is never resolved.
  const call = new Request('http://log/', { method: 'POST', body: JSON.stringify({ ...request, kind: log.kind }), signal })
  const reply = await podLogStub(env, log).fetch(call)
  if (reply.ok && reply.body) return { ok: true, stream: reply.body }
  return { ok: false, reason: reply.status === TOO_MANY_READERS ? 'full' : 'unknown' }
}

/** Reads the request that `readLog` made. */
export async function logRequestOf(request: Request): Promise<LogRequest> {
  return request.json()
}
