/** One line of the table. Counts of 0 are what the project promises; an undefined one does not apply. */
export interface Row {
  what: string
  tried: string
  lost?: number
  duplicated?: number
  /** How many, and in words which. */
  wrong?: { count: number; note?: string }
  recovered: string
}

const HEAD = ['what', 'tried', 'lost', 'duplicated', 'wrong or stuck', 'recovered, time']

/** Whether a row shows something lost, duplicated, wrong or stuck. */
export function isBad(row: Row): boolean {
  return (row.lost ?? 0) + (row.duplicated ?? 0) + (row.wrong?.count ?? 0) > 0
}

/** Adds to what is wrong already each of these that is true; `note` is said when nothing is. */
export function faultsOf(
  known: { count: number; note?: string },
  faults: Record<string, boolean>,
  note = '',
): { count: number; note: string } {
  const found = Object.keys(faults).filter((text) => faults[text])
  return { count: known.count + found.length, note: [known.note, ...found].filter(Boolean).join('; ') || note }
}

/** A Markdown table, with what should be 0 and is not in bold. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, tried, lost, duplicated, wrong, recovered }) => [
    what,
    tried,
    countText(lost),
    countText(duplicated),
    [countText(wrong?.count), wrong?.note ?? ''].filter(Boolean).join(': '),
    recovered,
  ])
  const all = [HEAD, ['---', '---', '--:', '--:', '---', '---'], ...lines]
  return all.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`).join('\n')
}

/** Milliseconds as seconds, with one digit. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** From the shortest to the longest of them. */
export function span(times: readonly number[]): string {
  return times.length === 0 ? 'none' : `${seconds(Math.min(...times))} to ${seconds(Math.max(...times))}`
}

function countText(count: number | undefined): string {
  if (count === undefined) return '–'
  return count === 0 ? '0' : `**${count}**`
}
