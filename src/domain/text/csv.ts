/** CSV as RFC 4180 has it, and as spreadsheets read it. Pure. */

/** What a spreadsheet takes for the start of a formula. */
const STARTS_FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/
/** Of what JavaScript would write with an exponent, which spreadsheets read as text. */
const DECIMALS = 9

export type Cell = string | number | null

/** A head line with the names of the columns, and a line a row; nothing stands for null. */
export function formatCsv<Column extends string>(columns: readonly Column[], rows: readonly Readonly<Record<Column, Cell>>[]): string {
  return `${columns.map(formatCell).join(',')}\r\n${formatCsvLines(columns, rows)}`
}

/** The lines alone. */
export function formatCsvLines<Column extends string>(columns: readonly Column[], rows: readonly Readonly<Record<Column, Cell>>[]): string {
  return rows.map((row) => `${columns.map((column) => formatCell(row[column])).join(',')}\r\n`).join('')
}

function formatCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return formatNumber(cell)
  const text = STARTS_FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function formatNumber(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(DECIMALS).replace(/\.?0+$/, '') : text
}
