/** One line of the report. */
export interface Row {
  what: string
  measured: string
  /** What the project has set itself, and whether this run reached it. */
  target?: { text: string; met: boolean }
}

/** Where a measured number should be. */
export type Goal = { atLeast: number } | { atMost: number }

/** Milliseconds. */
export interface Latencies {
  p50: number
  p99: number
}

/** How often a second, for reading only: rates drift from one minute to the next. */
export function rateRow(what: string, perSecond: number): Row {
  return { what, measured: `${Math.round(perSecond)}/s` }
}

/** A number in its unit. */
export function amountRow(what: string, value: number, unit: string, goal?: Goal): Row {
  const format = (number: number) => `${number < 100 ? Number(number.toPrecision(3)) : Math.round(number)} ${unit}`
  return { what, measured: format(value), ...target(value, goal, format) }
}

/** How many times `base` the value is. */
export function ratioRow(what: string, value: number, base: number, goal?: Goal): Row {
  const format = (number: number) => `${number.toFixed(2)} x`
  return { what, measured: format(value / base), ...target(value / base, goal, format) }
}

/** By how much the value is above `base`. */
export function changeRow(what: string, value: number, base: number, goal?: Goal): Row {
  const format = (share: number) => `${(share * 100).toFixed(1)} %`
  return { what, measured: format(value / base - 1), ...target(value / base - 1, goal, format) }
}

export function latencyRow(what: string, measured: Latencies, goal?: Latencies): Row {
  const row = { what, measured: `p50 ${measured.p50.toFixed(2)} ms, p99 ${measured.p99.toFixed(2)} ms` }
  if (goal === undefined) return row
  const met = measured.p50 <= goal.p50 && measured.p99 <= goal.p99
  return { ...row, target: { text: `p50 <= ${goal.p50} ms, p99 <= ${goal.p99} ms`, met } }
}

function target(value: number, goal: Goal | undefined, format: (value: number) => string): Pick<Row, 'target'> {
  if (goal === undefined) return {}
  if ('atLeast' in goal) return { target: { text: `>= ${format(goal.atLeast)}`, met: value >= goal.atLeast } }
  return { target: { text: `<= ${format(goal.atMost)}`, met: value <= goal.atMost } }
}

/** The rows below each other, targets beside what was measured. */
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

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** The median of every member over all rounds. */
export function medians<K extends string>(rounds: readonly Record<K, number>[]): Record<K, number> {
  const names = Object.keys(rounds[0] ?? {}) as K[]
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))])) as Record<K, number>
}

export function percentiles(values: readonly number[]): Latencies {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
