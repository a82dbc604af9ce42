/** A statement with values that its plan is made for. */
export interface Sample {
  text: string
  values: SampleValue[]
}

export type SampleValue = string | number | null

/** Stands for any text: no value in a schema equals it. */
const ANY = 'x'
/** A longer text with digits is an id. */
const MAX_WORD = 12
const LIST = /\bin \(\?(?:, \?)*\)/gi
const TUPLE = String.raw`\((?:[^()]|\([^()]*\))*\)`
const TUPLES = new RegExp(String.raw`\bvalues (${TUPLE})(?:, ${TUPLE})+`, 'gi')

/**
 * The same statement for lists of any length, without line breaks and without values that are unique to one run. Values of enumerations, 0
 * and 1 stay: SQLite reads them where a partial index has them.
 */
export function normal(raw: string, values: readonly unknown[]): Sample {
  const text = withoutValues(raw)
  const kept = values.map(sampleOf)
  if (/\?\d/.test(text)) return { text, values: kept }
  const lists = shortened(text, kept, LIST, (found) => ({ text: 'in (?, ?)', keep: [0, placesIn(found) > 1 ? 1 : 0] }))
  return shortened(lists.text, lists.values, TUPLES, (_, first = '') => ({
    text: `values ${first}`,
    keep: Array.from({ length: placesIn(first) }, (_, i) => i),
  }))
}

/** One line, in which literal times and ids are replaced. */
export function withoutValues(raw: string): string {
  return raw
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/\b1[5-9]\d{11}\b/g, '1700000000000')
    .replaceAll(/'[\w-]*\d[\w-]*'/g, (id) => (id.length > MAX_WORD ? "'x'" : id))
}

function shortened(
  text: string,
  values: readonly SampleValue[],
  pattern: RegExp,
  short: (found: string, first?: string) => { text: string; keep: number[] },
): Sample {
  let result = ''
  let at = 0
  let place = 0
  const left: SampleValue[] = []
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(at, match.index)
    left.push(...values.slice(place, place + placesIn(before)))
    place += placesIn(before)
    const { text: shorter, keep } = short(match[0], match[1])
    left.push(...keep.map((index) => values[place + index] ?? null))
    place += placesIn(match[0])
    result += before + shorter
    at = match.index + match[0].length
  }
  return { text: result + text.slice(at), values: [...left, ...values.slice(place)] }
}

const placesIn = (text: string) => text.split('?').length - 1

function sampleOf(value: unknown): SampleValue {
  if (value === null || value === undefined) return null
  if (value === true || value === 1) return 1
  if (value === false || value === 0) return 0
  return typeof value === 'string' && /^[A-Z][A-Z_]{2,}$/.test(value) ? value : ANY
}
