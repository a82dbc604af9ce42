import { checkLogAccess } from '../../effects/log-access.ts'
import type { Env } from '../../env.ts'
import type { LogBatch, LogsResponse } from '../../host-protocol/logs.ts'
import { podLogStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'

type Result = LogsResponse['results'][number]

/**
 * Brings lines of a host's workloads to their logs. One log that cannot be written must not hold up the others, so its batch is left out of
 * the answer and comes again; one that is not the host's to write is refused for good (HOST-10).
 */
export async function takeLogs(env: Env, hostId: string, batches: readonly LogBatch[]): Promise<LogsResponse> {
  const results = await Promise.all(batches.map((batch) => takeBatch(env, hostId, batch)))
  return { results: results.filter((result) => result !== null) }
}

async function takeBatch(env: Env, hostId: string, { workloadId, access, lines }: LogBatch): Promise<Result | null> {
  const { kind, ownerId } = access
  const refused = { workloadId, refused: 'this host was not given this workload' }
  if (!(await checkLogAccess(env, hostId, workloadId, access))) return refused
  try {
    const log = podLogStub(env, kind, kind === 'pod' ? ownerId : workloadId)
    const takenSeq = await log.append({ kind, ownerId, workloadId }, lines)
    return takenSeq === null ? refused : { workloadId, takenSeq }
  } catch (error) {
    logEvent('warn', 'lines could not be taken', { hostId, workloadId, error })
    return null
  }
}
