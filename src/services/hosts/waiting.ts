import type { ListWaitingQuery, ListWaitingResponse, WaitingEndpoint } from '../../contract/hosts/waiting.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listWaiting as listRows, type WaitingRow } from '../../db/hosts/capacity-waiters.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { constraintFacts } from '../../domain/explain/evidence.ts'
import { type PlacementHost, type PlacementRequest, rankHosts } from '../../domain/host/placement.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { readSnapshot } from '../../effects/explain/snapshot.ts'
import type { OperatorContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'

const BINDING = 'listWaiting'
/** Rows per page: each is tried against every host. */
const MAX_PAGE_ROWS = 200
const MB_PER_GB = 1024

/**
 * Returns the endpoints that wait for capacity, longest first (WHY-13): one indexed query, and hosts that are at most 2 s old. Throws 422.
 */
export async function listWaiting(ctx: OperatorContext, query: ListWaitingQuery): Promise<ListWaitingResponse> {
  const { env, nowMs } = ctx
  const after = decodeCursor(BINDING, query.cursor)
  const limit = Math.min(query.limit, MAX_PAGE_ROWS)
  const [rows, { hosts }, catalog] = await Promise.all([
    listRows(openDatabase(env.DB), after && { since: after.createdAt, endpointId: after.id }, limit + 1),
    readSnapshot(env, nowMs),
    loadCatalog(env),
  ])
  const { shown, pagination } = pageOf(rows, limit, BINDING, ({ since, config }) => ({ createdAt: since, id: config.id }))
  return { waiting: shown.map((row) => toWaiting(row, { catalog, hosts, nowMs })), pagination }
}

function toWaiting(
  { since, config }: WaitingRow,
  { catalog, hosts, nowMs }: { catalog: Catalog; hosts: readonly PlacementHost[]; nowMs: number },
): WaitingEndpoint {
  const request = placementRequestOf(catalog, config)
  const { refusals } = rankHosts(request, hosts)
  return {
    endpointId: config.id,
    endpointName: config.name,
    accountId: config.teamId,
    since: formatTime(since),
    sinceMs: Math.max(0, nowMs - since),
    needs: needsOf(request),
    hosts: { total: hosts.length, fit: hosts.length - refusals.length },
    missing: constraintFacts(refusals).map(({ text, count }) => ({ text, hosts: count ?? 0 })),
  }
}

function needsOf({ shapes, diskGb, dataCenterIds, cloud }: PlacementRequest): WaitingEndpoint['needs'] {
  const [first] = shapes
  return {
    gpuTypeIds: shapes.flatMap(({ gpu }) => gpu?.typeId ?? []),
    gpuCount: first?.gpu?.count ?? 0,
    vcpus: first?.vcpus ?? 0,
    memoryGb: (first?.memoryMb ?? 0) / MB_PER_GB,
    diskGb,
    dataCenterIds: [...dataCenterIds],
    cloud,
  }
}
