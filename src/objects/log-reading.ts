import type { Env } from '../env.ts'
import type { LogKind } from '../host-protocol/logs.ts'
import type { Owned } from './owned.ts'
import type { LogRequest } from './pod-log.ts'
import { podLogStub } from './stubs.ts'

/** How the object says that too many follow the log; whatever else is no stream means that there is none. */
export const TOO_MANY_READERS = 429

/** The stream of a log, or why there is none: nobody has such a log, or too many follow it already. */
export type LogReadingResult = { ok: true; stream: ReadableStream } | { ok: false; reason: 'unknown' | 'full' }

/** Follows the log of a worker or pod; `signal` tells its object that the reader has left. */
export async function readLog(
  env: Env,
  log: Owned<LogKind>,
  request: Omit<LogRequest, 'kind'>,
  signal: AbortSignal,
): Promise<LogReadingResult> {
  // The name is never resolved.
  const call = new Request('http://log/', { method: 'POST', body: JSON.stringify({ ...request, kind: log.kind }), signal })
  const reply = await podLogStub(env, log).fetch(call)
  if (reply.ok && reply.body) return { ok: true, stream: reply.body }
  return { ok: false, reason: reply.status === TOO_MANY_READERS ? 'full' : 'unknown' }
}

/** What `readLog` asks for. */
export async function logRequestOf(request: Request): Promise<LogRequest> {
  return request.json()
}
