import type { MetricsQuery, MetricsResponse } from '../../contract/metrics.ts'
import { Problem } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { findHost } from '../../db/hosts/host-views.ts'
import { HOST_TRACK } from '../../domain/history/metrics.ts'
import { asOperator } from '../../objects/ownership/as-plane.ts'
import type { OperatorContext } from '../context.ts'
import { readFrom, readWindow, toMetrics } from '../history/metrics.ts'

/** Returns the usage of a whole host (HIS-7). Throws 404, also for a removed one, and 422. */
export async function getHostMetrics({ env, nowMs }: OperatorContext, id: string, query: MetricsQuery): Promise<MetricsResponse> {
  const window = readWindow(query, nowMs)
  if (!(await findHost(openDatabase(env.DB), id))) throw new Problem('notFound')
  return toMetrics(window, await readFrom(env, [asOperator(id)], HOST_TRACK, window))
}
