import type { ListReleasesResponse, Release } from '../../contract/endpoints/releases.ts'
import type { ListScalingResponse } from '../../contract/endpoints/scaling.ts'
import type { EndpointWorker, ListWorkersResponse, WorkerSummary } from '../../contract/endpoints/workers.ts'
import { type Pagination, WHOLE_PAGE } from '../../contract/pagination.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listReleases as listReleaseRows, type ReleaseRow } from '../../db/endpoints/endpoints.ts'
import { findWorkerEndpoint } from '../../db/hosts/holders.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { hideVariables } from '../../domain/endpoint/release-diff.ts'
import { rolloutOf } from '../../domain/worker/rollout.ts'
import type { ActiveWorker } from '../../domain/worker/worker.ts'
import { type OwnEndpoint, ownEndpoints } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import type { VerbContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import { requireScope } from '../require-scope.ts'
import { digestOf, readEndpoint } from './endpoints.ts'

// Operations on an endpoint's queue object. Each reads the endpoint first, which checks the scope and the owner.

/** Returns the active workers of an endpoint and their counts, from one snapshot (END-13, SCALE-7). Throws 403 and 404. */
export async function listWorkers(ctx: VerbContext, id: string): Promise<ListWorkersResponse> {
  const endpoint = await readEndpoint(ctx, id)
  const { version } = endpoint.row
  const workers = (await endpointStub(ctx.env, endpoint).workers()).map((active) => toWorker(active, version, ctx.nowMs))
  return { workers, summary: summarise(workers), endpointVersion: version }
}

/** Returns an active worker of the account with its endpoint, by the worker's id (GQL-76); null for any other id. Throws 403. */
export async function findWorker(ctx: VerbContext, workerId: string): Promise<{ worker: EndpointWorker; endpoint: EndpointConfig } | null> {
  requireScope(ctx.principal, 'serverless:read')
  const endpointId = await findWorkerEndpoint(openDatabase(ctx.env.DB), ctx.principal.teamId, workerId)
  if (endpointId === undefined) return null
  const endpoint = await readEndpoint(ctx, endpointId)
  const active = (await endpointStub(ctx.env, endpoint).workers()).find(({ worker }) => worker.id === workerId)
  return active ? { worker: toWorker(active, endpoint.row.version, ctx.nowMs), endpoint: endpoint.row } : null
}

/**
 * Returns the active workers of several endpoints of the account, by endpoint: one query, and one call per endpoint (GQL-30). Throws 403.
 */
export async function listWorkersOf(ctx: VerbContext, ids: readonly string[]): Promise<Map<string, EndpointWorker[]>> {
  requireScope(ctx.principal, 'serverless:read')
  const endpoints = await ownEndpoints(ctx.env, ctx.principal, ids)
  const read = async (endpoint: OwnEndpoint) => {
    const active = await endpointStub(ctx.env, endpoint).workers()
    return [endpoint.id, active.map((one) => toWorker(one, endpoint.row.version, ctx.nowMs))] as const
  }
  return new Map(await mapAtOnce(endpoints, read))
}

/**
 * Returns a page of releases, newest first, with the progress of the newest rollout (END-14). Throws 403, 404, and 422 for a cursor of
 * another list.
 */
export async function listReleases(
  ctx: VerbContext,
  id: string,
  page: { limit: number; cursor?: string | undefined },
): Promise<ListReleasesResponse> {
  const endpoint = await readEndpoint(ctx, id)
  const { version } = endpoint.row
  const binding = `listReleases ${id}`
  const after = decodeCursor(binding, page.cursor)
  const [rows, workers] = await Promise.all([
    listReleaseRows(openDatabase(ctx.env.DB), id, after?.id ?? null, page.limit + 1),
    endpointStub(ctx.env, endpoint).workers(),
  ])
  const digest = digestOf(ctx.env, id)
  const versions = workers.map(({ worker }) => worker.version)
  const { shown, pagination } = pageOf(rows, page.limit, binding, (row) => row)
  return {
    endpointVersion: version,
    rollout: rolloutOf(versions, version),
    releases: shown.map((row) => toRelease(row, versions, digest)),
    pagination,
  }
}

/**
 * Returns an empty page, because this plane builds nothing (END-15). Throws 403, 404, and 422 for any cursor that this list never issued.
 */
export async function listBuilds(
  ctx: VerbContext,
  id: string,
  page: { cursor?: string | undefined },
): Promise<{ builds: never[]; pagination: Pagination }> {
  await readEndpoint(ctx, id)
  decodeCursor('listBuilds', page.cursor)
  return { builds: [], pagination: WHOLE_PAGE }
}

/** Returns the scaler's decisions that changed something, newest first (SCALE-16). Throws 403 and 404. */
export async function listScalingDecisions(ctx: VerbContext, id: string): Promise<ListScalingResponse> {
  const endpoint = await readEndpoint(ctx, id)
  const records = await endpointStub(ctx.env, endpoint).decisions()
  return {
    scaling: endpoint.row.scaling,
    decisions: records.map(({ atMs, ...decision }) => ({ ...decision, decidedAt: formatTime(atMs) })),
  }
}

function toWorker({ worker, status }: ActiveWorker, endpointVersion: number, nowMs: number): EndpointWorker {
  const { startedAtMs } = worker
  return {
    id: worker.id,
    status,
    isStale: worker.version !== endpointVersion,
    version: worker.version,
    gpuCount: worker.gpuCount,
    image: worker.image,
    uptimeSeconds: startedAtMs === null ? null : Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
    gpuTypeId: worker.gpuTypeId,
    dataCenterId: worker.dataCenterId,
    startedAt: startedAtMs === null ? null : formatTime(startedAtMs),
    reason: worker.reason,
  }
}

function summarise(workers: readonly EndpointWorker[]): WorkerSummary {
  const summary = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: workers.length }
  for (const { status } of workers) summary[status.toLowerCase() as Lowercase<typeof status>]++
  return summary
}

function toRelease(row: ReleaseRow, versions: readonly number[], digest: ReturnType<typeof digestOf>): Release {
  return {
    id: row.id,
    version: row.version,
    source: 'MANUAL',
    buildId: null,
    createdByUserId: row.createdByUserId,
    workerCount: versions.filter((version) => version === row.version).length,
    createdAt: formatTime(row.createdAt),
    // Rows of older releases may hold values in plain text.
    diff: hideVariables(row.diff, digest),
  }
}
