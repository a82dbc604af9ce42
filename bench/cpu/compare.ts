import { median } from '../report.ts'

/** A committed ratio: processor time of an operation, divided by that of the bare handler. */
export interface Committed {
  ratio: number
  /** Share of the ratio by which a measured one may exceed it, and by which the rounds of a measurement may differ. */
  tolerance: number
}

/** The judgement of one operation. */
export interface Judged {
  operation: string
  /** `FAIL`: a regression. `NOISY`: the rounds differ too much for a verdict. */
  verdict: 'ok' | 'FAIL' | 'NOISY'
  measured: Summary
  committed: Committed
  /** The highest ratio that is no regression. */
  allowed: number
}

/** Median of the rounds, and their difference as a share of it. */
export interface Summary {
  ratio: number
  spread: number
}

const MIN_ROUNDS = 5

/**
 * Compares the ratios of each round with the committed ones. Throws if the operations differ, because an operation without a committed
 * ratio would never fail.
 */
export function compareRatios(measured: Record<string, readonly number[]>, committed: Record<string, Committed>): Judged[] {
  const [found, expected] = [Object.keys(measured), Object.keys(committed)]
  const unequal = [...found.filter((name) => !expected.includes(name)), ...expected.filter((name) => !found.includes(name))]
  if (unequal.length > 0) throw new Error(`measured and committed operations differ: ${unequal.join('; ')}`)
  return Object.entries(committed).map(([operation, limits]) => judge(operation, summarize(measured[operation] ?? []), limits))
}

function judge(operation: string, measured: Summary, committed: Committed): Judged {
  const allowed = committed.ratio * (1 + committed.tolerance)
  const verdict = measured.spread > committed.tolerance ? 'NOISY' : measured.ratio > allowed ? 'FAIL' : 'ok'
  return { operation, verdict, measured, committed, allowed }
}

/** Summarizes the rounds of one operation. Their spread leaves out the lowest and the highest, so that one disturbed round does no harm. */
export function summarize(rounds: readonly number[]): Summary {
  if (rounds.length < MIN_ROUNDS) throw new Error(`${rounds.length} rounds are too few: ${MIN_ROUNDS} are needed`)
  const ratio = median(rounds)
  const [lowest = 0, ...others] = rounds.toSorted((a, b) => a - b).slice(1, -1)
  return { ratio, spread: ((others.at(-1) ?? lowest) - lowest) / ratio }
}

/** Returns 1 if an operation has regressed, else 2 if one cannot be judged, else 0. */
export function exitCodeOf(judged: readonly Judged[]): number {
  const has = (wanted: Judged['verdict']) => judged.some(({ verdict }) => verdict === wanted)
  return has('FAIL') ? 1 : has('NOISY') ? 2 : 0
}

/** Formats one operation as a line. */
export function formatJudged({ operation, verdict, measured, committed, allowed }: Judged): string {
  const numbers = `measured ${measured.ratio.toFixed(2)}, committed ${committed.ratio.toFixed(2)}, allowed ${allowed.toFixed(2)}`
  return `  ${verdict.padEnd(5)}  ${operation}: ${numbers}, rounds differ by ${formatShare(measured.spread)} of ${formatShare(committed.tolerance)}`
}

function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
