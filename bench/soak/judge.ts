/** One measured value of a series. */
export interface Point {
  atMs: number
  value: number
}

/** The growth that a series may show. */
export interface Rule {
  /** A growth up to the larger of these two is noise: `absolute` in the unit of the series, `relative` as a part of the value at start. */
  allowed: { absolute: number; relative: number }
  /** A shorter measured time shows only the start of the program, and has no verdict. */
  minMinutes: number
  /** The size that growth beyond noise must stay within, and the rule that bounds it. */
  bound?: { limit: number; reason: string }
}

/**
 * `flat`: no growth beyond noise. `bounded`: it grew, within a stated bound. `too short`: the run cannot show it. `not measured`: too few
 * samples could be read.
 */
export type Verdict = 'flat' | 'bounded' | 'GROWS' | 'too short' | 'not measured'

export interface Judged {
  start: number
  end: number
  slopePerHour: number
  verdict: Verdict
  /** Reason of a bound, or the limit that was exceeded. */
  note: string
}

/** Counts that must be 0. */
export interface Faults {
  lost: number
  duplicated: number
  wrong: number
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const FIFTHS = 5
/** Fewer points have no median of a fifth that one disturbed sample cannot change. */
const MIN_POINTS = 15
/** Points that a slope compares in pairs; more are joined to medians first. */
const MAX_POINTS = 300
const WARM_UP_SHARE = 0.1
const WARM_UP_MAX_MS = 5 * MINUTE_MS

/** Returns the median, or NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the smallest value that this part of the values does not exceed, or NaN of nothing. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** Time at the start of a run that no verdict uses: a tenth of it, at most 5 min. */
export function warmUpMs(runMs: number): number {
  return Math.min(runMs * WARM_UP_SHARE, WARM_UP_MAX_MS)
}

/** Duration of a run that measures this time after its warm-up, in whole minutes; a sample is at most a quarter of a minute late. */
export function runMinutes(measuredMinutes: number): number {
  const wanted = measuredMinutes + 0.25
  return Math.ceil(Math.min(wanted / (1 - WARM_UP_SHARE), wanted + WARM_UP_MAX_MS / MINUTE_MS))
}

/** Slope per hour by Theil and Sen: the median of the slopes of all pairs, which a quarter of disturbed points cannot move far. */
export function slopePerHour(points: readonly Point[]): number {
  const few = thin(points, MAX_POINTS)
  const slopes: number[] = []
  for (const [index, from] of few.entries()) {
    for (const to of few.slice(index + 1)) {
      if (to.atMs > from.atMs) slopes.push(((to.value - from.value) / (to.atMs - from.atMs)) * HOUR_MS)
    }
  }
  return slopes.length === 0 ? 0 : median(slopes)
}

/** Joins neighbouring points to their medians, so that at most `count` are left. */
export function thin(points: readonly Point[], count: number): Point[] {
  const size = Math.ceil(points.length / count)
  if (size <= 1) return [...points]
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const group = points.slice(index * size, (index + 1) * size)
    return { atMs: median(group.map(({ atMs }) => atMs)), value: median(group.map(({ value }) => value)) }
  })
}

/**
 * Judges the points of a series after the warm-up. Both the slope over the measured time and the difference of the ends must be within noise,
 * so that neither a slow growth nor a late step passes. A series that shrinks is flat.
 */
export function judge(points: readonly Point[], rule: Rule): Judged {
  const fifth = Math.max(1, Math.floor(points.length / FIFTHS))
  const last = points.slice(-fifth).map(({ value }) => value)
  const start = median(points.slice(0, fifth).map(({ value }) => value))
  const end = median(last)
  const slope = slopePerHour(points)
  const seen = { start, end, slopePerHour: slope }
  if (points.length < MIN_POINTS) return { ...seen, verdict: 'not measured', note: `${points.length} samples, ${MIN_POINTS} are needed` }
  const spanMs = (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0)
  if (spanMs < rule.minMinutes * MINUTE_MS)
    return { ...seen, verdict: 'too short', note: `needs a run of ${runMinutes(rule.minMinutes)} min` }
  const growth = Math.max(end - start, (slope * spanMs) / HOUR_MS)
  if (growth <= Math.max(rule.allowed.absolute, rule.allowed.relative * start)) return { ...seen, verdict: 'flat', note: '' }
  if (rule.bound !== undefined && Math.max(...last) <= rule.bound.limit) return { ...seen, verdict: 'bounded', note: rule.bound.reason }
  return { ...seen, verdict: 'GROWS', note: rule.bound === undefined ? '' : `beyond the bound: ${rule.bound.reason}` }
}

/** Returns the exit code: 1 for a growth or a fault, else 2 for a series without a verdict or a load that was not steady, else 0. */
export function exitCodeOf(verdicts: readonly Verdict[], faults: Faults, isSteady: boolean): 0 | 1 | 2 {
  if (faults.lost + faults.duplicated + faults.wrong > 0 || verdicts.includes('GROWS')) return 1
  return !isSteady || verdicts.length === 0 || verdicts.some((verdict) => verdict === 'too short' || verdict === 'not measured') ? 2 : 0
}
