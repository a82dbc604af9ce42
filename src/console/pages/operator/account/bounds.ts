import type { BudgetName, BudgetOverrides } from '../../../../contract/accounts/budgets.ts'
import type { SpendCeilings } from '../../../../contract/billing/spend.ts'

const MIB = 2 ** 20

/** Label of each bound, in the order of the form. */
export const BUDGET_LABELS: Readonly<Record<BudgetName, string>> = {
  gpus: 'GPUs of pods and workers',
  pods: 'Pods',
  stoppedPods: 'Stopped pods',
  clusters: 'Clusters',
  endpoints: 'Endpoints',
  organizations: 'Organizations',
  apiKeys: 'API keys',
  secrets: 'Secrets',
  secretBytes: 'Values of secrets (MiB)',
  storedBytes: 'Configurations (MiB)',
  specBytesPerHost: 'Pods of one machine (MiB)',
  queuedBytes: 'Inputs and results of jobs (MiB)',
  inFlightBytes: 'Bodies of jobs within 10 s (MiB)',
  readBytes: 'Large results read within 10 s (MiB)',
  readRows: 'Rows of bills and lists read within 10 s',
  logBytes: 'Older lines of logs (MiB)',
  keptAnswers: 'Stored answers for Idempotency-Keys',
  keptAnswerBytes: 'Stored answers (MiB)',
  releasesPerEndpoint: 'Stored releases per endpoint',
  formerPods: 'Retained terminated pods',
}

export const BUDGET_NAMES = Object.keys(BUDGET_LABELS) as BudgetName[]

/** Bounds as form text: sizes in MiB; empty where the plan or the plane decides. */
export type BoundTexts = Readonly<Record<string, string>>

/** Returns the text of every bound; it is empty where the account has no bound of its own. */
export function boundTexts(overrides: BudgetOverrides): BoundTexts {
  return Object.fromEntries(BUDGET_NAMES.map((name) => [name, boundText(name, overrides[name])]))
}

/** Returns a bound as form text; a size is converted from bytes to MiB. */
export function boundText(name: BudgetName, bound: number | undefined): string {
  if (bound === undefined) return ''
  return String(isBytes(name) ? bound / MIB : bound)
}

/** Request body of the form; `wrong`: fields that cannot be parsed. */
export function budgetsOf(texts: BoundTexts): { body: BudgetOverrides; wrong: BudgetName[] } {
  const read = BUDGET_NAMES.map((name) => [name, numberOf(texts[name], isBytes(name) ? MIB : 1)] as const)
  return {
    body: Object.fromEntries(
      read.flatMap(([name, value]) => (value === undefined || Number.isNaN(value) ? [] : [[name, Math.round(value)]])),
    ),
    wrong: read.flatMap(([name, value]) =>
      value !== undefined && (Number.isNaN(value) || (!isBytes(name) && !Number.isInteger(value))) ? [name] : [],
    ),
  }
}

/** Request body of the spend ceilings in USD; `wrong`: fields that cannot be parsed. */
export function ceilingsOf(texts: BoundTexts): { body: SpendCeilings; wrong: string[] } {
  const [perHour, perMonth] = [numberOf(texts.perHour), numberOf(texts.perMonth)]
  const isGood = (value: number | undefined) => value !== undefined && !Number.isNaN(value)
  return {
    body: { ...(isGood(perHour) && { perHour }), ...(isGood(perMonth) && { perMonth }) },
    wrong: Object.entries({ perHour, perMonth }).flatMap(([name, value]) => (Number.isNaN(value) ? [name] : [])),
  }
}

/** `12 of 256 in use`; sizes in the unit of the form. */
export function usedText({ used, bound, unit }: { used: number; bound: number; unit: 'count' | 'bytes' }): string {
  const show = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
  if (unit === 'count') return `${show.format(used)} of ${show.format(bound)} in use`
  return `${show.format(used / MIB)} of ${show.format(bound / MIB)} MiB in use`
}

const isBytes = (name: BudgetName) => BUDGET_LABELS[name].endsWith('(MiB)')

/** Undefined for empty text; NaN for text that is not a non-negative number. */
function numberOf(text = '', unit = 1): number | undefined {
  const plain = text.trim()
  if (plain === '') return undefined
  const value = Number(plain) * unit
  return value >= 0 && Number.isFinite(value) ? value : Number.NaN
}
