/** CSV according to RFC 4180, and safe to open in spreadsheets. Pure. */

/** Characters at the start of a cell that a spreadsheet takes for a formula. */
const STARTS_FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/
/** Decimals of numbers that JavaScript would write with an exponent, which spreadsheets read as text. */
const DECIMALS = 9

/** Value of one cell. */
export type Cell = string | number | null

/** Header line with the column names, and one line for each row; null is an empty cell. */
export function formatCsv<Column extends string>(columns: readonly Column[], rows: readonly Readonly<Record<Column, Cell>>[]): string {
  return `${columns.map(formatCell).join(',')}\r\n${formatCsvLines(columns, rows)}`
}

/** Lines of the rows, without the header line. */
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
