import { ownByLogGrant } from '../../effects/log-access.ts'
import type { Env } from '../../env.ts'
import type { LogBatch, LogsResponse } from '../../host-protocol/logs.ts'
import type { Owned } from '../../objects/owned.ts'
import { podLogStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { logEvent } from '../../platform/log.ts'

type Result = LogsResponse['results'][number]

/**
 * Appends lines of a host's workloads to their logs. A log that cannot be written does not block the others: its batch is left out of the
 * answer, so the host sends it again. A batch for a workload that was not assigned to the host is refused for good (HOST-10).
 */
export async function takeLogs(env: Env, host: Owned<'host'>, batches: readonly LogBatch[]): Promise<LogsResponse> {
  const results = await mapAtOnce(batches, (batch) => takeBatch(env, host, batch))
  return { results: results.filter((result) => result !== null) }
}

async function takeBatch(env: Env, host: Owned<'host'>, { workloadId, access, lines }: LogBatch): Promise<Result | null> {
  const { kind, ownerId } = access
  const refused = { workloadId, refused: 'this workload is not assigned to this host' }
  const log = await ownByLogGrant(env, host, workloadId, access)
  if (!log) return refused
  try {
    const takenSeq = await podLogStub(env, log).append({ kind, ownerId, workloadId }, lines)
    return takenSeq === null ? refused : { workloadId, takenSeq }
  } catch (error) {
    logEvent('warn', 'lines could not be taken', { hostId: host.id, workloadId, error })
    return null
  }
}
