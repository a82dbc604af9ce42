import type { MetricsQuery } from '../contract/metrics.ts'
import { Problem } from '../contract/problems.ts'
import type { WindowQuery } from '../domain/history/series.ts'

/** Returns what `periodOf` makes of the times and the step of a query. Throws 422 where that is null: the period ends before it begins. */
export function readPeriod<Period>(
  { from, to, step }: MetricsQuery,
  nowMs: number,
  periodOf: (query: WindowQuery, nowMs: number) => Period | null,
): Period {
  const requested = {
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
    stepMs: step === undefined ? null : step * 1000,
  }
  const period = periodOf(requested, nowMs)
  if (period === null) throw new Problem('validationFailed', { errors: ['$.from: want an instant before `to`'] })
  return period
}
