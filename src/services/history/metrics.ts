import type { MetricSeries, MetricsQuery, MetricsResponse } from '../../contract/metrics.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { METRICS } from '../../domain/history/metrics.ts'
import { joinSeries, type Series, type Window, windowOf } from '../../domain/history/series.ts'
import type { Env } from '../../env.ts'
import type { Owned } from '../../objects/owned.ts'
import { hostsOf, ownPastPod } from '../../objects/ownership/own.ts'
import { hostsOfWorker, ownWorker } from '../../objects/ownership/own-worker.ts'
import { hostStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import type { VerbContext } from '../context.ts'
import { readEndpoint } from '../endpoints/endpoints.ts'
import { readPeriod } from '../read-period.ts'
import { requireScope } from '../require-scope.ts'

const SECOND_MS = 1_000
/** Step of one sample, for which the maximum equals the mean. */
const FINEST_MS = 5_000
const UNITS = new Map(METRICS.map(({ name, unit }) => [name, unit]))

/**
 * Returns the usage of a pod over all its containers and hosts (HIS-4, HIS-6); also of a terminated pod while its row is retained. Throws
 * 403, 404, and 422 for a period that ends before it begins.
 */
export async function getPodMetrics(ctx: VerbContext, id: string, query: MetricsQuery): Promise<MetricsResponse> {
  requireScope(ctx.principal, 'pods:read', id)
  const window = readWindow(query, ctx.nowMs)
  const pod = await ownPastPod(ctx.env, ctx.principal, id)
  return toMetrics(window, await readFrom(ctx.env, hostsOf(pod), id, window))
}

/**
 * Returns the usage of a worker (HIS-23), also of one that has left while its log is retained. Throws 403, 404, and 422 for a period that
 * ends before it begins.
 */
export async function getWorkerMetrics(
  ctx: VerbContext,
  endpointId: string,
  workerId: string,
  query: MetricsQuery,
): Promise<MetricsResponse> {
  const endpoint = await readEndpoint(ctx, endpointId)
  const window = readWindow(query, ctx.nowMs)
  const { worker } = await ownWorker(ctx.env, endpoint, workerId)
  return toMetrics(window, await readFrom(ctx.env, await hostsOfWorker(ctx.env, endpoint, worker), workerId, window))
}

/** Returns the window of a query. Throws 422. */
export function readWindow(query: MetricsQuery, nowMs: number): Window {
  return readPeriod(query, nowMs, windowOf)
}

/** Returns the history of one track from these hosts, joined. */
export async function readFrom(env: Env, hosts: readonly Owned<'host', null>[], track: string, window: Window): Promise<Series[]> {
  // A window without steps needs no reads.
  if (window.count === 0) return []
  return joinSeries(await mapAtOnce(hosts, (host) => hostStub(env, host).readHistory(track, window)))
}

/** Returns series in the format of the answer. */
export function toMetrics({ fromMs, stepMs }: Window, series: readonly Series[]): MetricsResponse {
  return { from: formatTime(fromMs), step: stepMs / SECOND_MS, series: series.map((one) => toSeries(one, stepMs)) }
}

function toSeries({ metric: name, gpu, points, maxima }: Series, stepMs: number): MetricSeries {
  return {
    name,
    unit: UNITS.get(name) ?? 'percent',
    ...(gpu !== null && { gpu }),
    points: points.map(rounded),
    ...(stepMs > FINEST_MS && { maxima: maxima.map(rounded) }),
  }
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100
}
