/** One row of the report. */
export interface Row {
  what: string
  measured: string
  /** The project's target, and whether this run met it. */
  target?: { text: string; met: boolean }
}

/** Target of a measured number. */
export type Goal = { atLeast: number } | { atMost: number }

/** Latency percentiles, milliseconds. */
export interface Latencies {
  p50: number
  p99: number
}

/** A rate per second, one value per round; for information only, because rates drift from one minute to the next. */
export function rateRow(what: string, perSecond: readonly number[]): Row {
  return { what, measured: `${Math.round(median(perSecond))}/s` }
}

/** A number with its unit. */
export function amountRow(what: string, value: number, unit: string, goal?: Goal): Row {
  return compare(what, value, (number) => `${number < 100 ? Number(number.toPrecision(3)) : Math.round(number)} ${unit}`, goal)
}

/** The ratio of a value to its base, both of the same rounds. */
export function ratioRow(what: string, values: readonly number[], bases: readonly number[], goal?: Goal): Row {
  return compare(what, medianRatio(values, bases), (number) => `${number.toFixed(2)} x`, goal)
}

/** The relative increase of a value over its base, both of the same rounds. */
export function changeRow(what: string, values: readonly number[], bases: readonly number[], goal?: Goal): Row {
  return compare(what, medianRatio(values, bases) - 1, (share) => `${(share * 100).toFixed(1)} %`, goal)
}

export function latencyRow(what: string, measured: Latencies, goal?: Latencies): Row {
  const row = { what, measured: `p50 ${measured.p50.toFixed(2)} ms, p99 ${measured.p99.toFixed(2)} ms` }
  if (goal === undefined) return row
  const met = measured.p50 <= goal.p50 && measured.p99 <= goal.p99
  return { ...row, target: { text: `p50 <= ${goal.p50} ms, p99 <= ${goal.p99} ms`, met } }
}

function compare(what: string, value: number, format: (value: number) => string, goal: Goal | undefined): Row {
  const row = { what, measured: format(value) }
  if (goal === undefined) return row
  if ('atLeast' in goal) return { ...row, target: { text: `>= ${format(goal.atLeast)}`, met: value >= goal.atLeast } }
  return { ...row, target: { text: `<= ${format(goal.atMost)}`, met: value <= goal.atMost } }
}

/** Formats rows as lines, with targets beside the measured values. */
export function formatRows(rows: readonly Row[]): string {
  const nameWidth = Math.max(...rows.map(({ what }) => what.length))
  const valueWidth = Math.max(...rows.map(({ measured }) => measured.length))
  return rows
    .map(({ what, measured, target }) => {
      const beside = target === undefined ? '' : `target ${target.text}${target.met ? '' : '  MISSED'}`
      return `  ${what.padEnd(nameWidth)}  ${measured.padStart(valueWidth)}  ${beside}`.trimEnd()
    })
    .join('\n')
}

/** Returns how many of the targets of some rows are met, for the end of a title; nothing if they have none. */
export function formatVerdict(rows: readonly Row[]): string {
  const targets = rows.flatMap(({ target }) => target ?? [])
  return targets.length === 0 ? '' : `, ${targets.filter(({ met }) => met).length} of ${targets.length} targets met`
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

// The ratio is taken per round, because values measured back to back met the same state of the machine.
function medianRatio(values: readonly number[], bases: readonly number[]): number {
  return median(values.map((value, round) => value / (bases[round] ?? Number.NaN)))
}

export function percentiles(values: readonly number[]): Latencies {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
