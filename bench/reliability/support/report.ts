/** One row of the table. The project promises counts of 0; an undefined count does not apply. */
export interface Row {
  what: string
  tried: string
  lost?: number
  duplicated?: number
  /** The number of faults, and their description. */
  wrong?: { count: number; note?: string }
  recovered: string
}

const HEAD = ['what', 'tried', 'lost', 'duplicated', 'wrong or stuck', 'recovered, time']

/** Whether a row shows something lost, duplicated, wrong or stuck. */
export function isBad(row: Row): boolean {
  return (row.lost ?? 0) + (row.duplicated ?? 0) + (row.wrong?.count ?? 0) > 0
}

/** Adds each fault that is true to the known ones; `note` is used if there are none. */
export function faultsOf(
  known: { count: number; note?: string },
  faults: Record<string, boolean>,
  note = '',
): { count: number; note: string } {
  const found = Object.keys(faults).filter((text) => faults[text])
  return { count: known.count + found.length, note: [known.note, ...found].filter(Boolean).join('; ') || note }
}

/** Returns a Markdown table, with counts other than 0 in bold. */
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

/** Formats milliseconds as seconds, with one decimal. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Formats the shortest and the longest time. */
export function span(times: readonly number[]): string {
  return times.length === 0 ? 'none' : `${seconds(Math.min(...times))} to ${seconds(Math.max(...times))}`
}

function countText(count: number | undefined): string {
  if (count === undefined) return '–'
  return count === 0 ? '0' : `**${count}**`
}
