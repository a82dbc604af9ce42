import { openDatabase } from '../../../src/db/client.ts'
import { isLiveEndpoint } from '../../../src/db/endpoints/endpoint-config.ts'
import type { Env } from '../../../src/env.ts'
import type { SqlState } from '../store/sql-state.ts'

/** Delay before an object without a live endpoint deletes its storage. */
export const DELETE_AFTER_MS = 60_000

/** END-33: whether nothing is in progress for an endpoint that has no configuration any more. */
export function hasNothing({ jobs, workers, meta, outbox }: SqlState): boolean {
  // The endpoint's row in the list of capacity waiters must be removed first.
  if (meta.waitsForCapacity() || (meta.suspended() && !meta.deleted())) return false
  return jobs.queuedNormal + jobs.queuedLow + jobs.inProgress === 0 && workers.all().length === 0 && outbox.size === 0
}

/** Whether D1 has the endpoint as live: while it does, only the object's rows record that a deletion has begun. */
export async function isKnown(env: Env, { meta }: SqlState): Promise<boolean> {
  const endpointId = meta.endpointId()
  return endpointId !== null && (await isLiveEndpoint(openDatabase(env.DB), endpointId))
}
