import { formatRelative } from '../core/durations.ts'
import { type Column, plainText } from './columns.ts'

const GOOD = /^(RUNNING|READY|IDLE|COMPLETED|ONLINE|ok|OK|ACTIVE|DELIVERED)$/
const BAD = /^(ERROR|FAILED|DEAD|OFFLINE|LOST|UNHEALTHY|TIMED_OUT|fail|FAIL)$/
const GREEN = 32
const RED = 31
const YELLOW = 33

/** Form of a table: time of now, colors and width in characters. */
export interface TableStyle {
  nowMs: number
  color: boolean
  /** Width of the terminal, at which lines are cut. */
  width?: number
}

/** A value as text for users on a terminal. */
export function humanText(value: unknown, as: Column<unknown>['as'], nowMs: number): string {
  if (value === null || value === undefined || value === '') return '-'
  if (as === 'time') return formatRelative(String(value), nowMs)
  if (as === 'usdPerHour') return `$${Number(value).toFixed(3)}/h`
  if (as === 'usd') return `$${Number(value).toFixed(2)}`
  return plainText(value) || '-'
}

/** Aligned rows under headings. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], style: TableStyle): string {
  const heading = columns.map(({ name }) => name.replace(/([a-z])([A-Z])/g, '$1 $2').toUpperCase())
  const cells = rows.map((row) => columns.map(({ of, as }) => humanText(of(row), as, style.nowMs)))
  const widths = heading.map((text, index) => Math.max(text.length, ...cells.map((line) => line[index]?.length ?? 0)))
  const lines = [heading, ...cells].map((line, row) => {
    const text = line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')
    const cut = cutAt(text.trimEnd(), style.width)
    return row === 0 ? cut : colorStatuses(cut, line, widths, columns, style.color)
  })
  return `${lines.join('\n')}\n`
}

function cutAt(text: string, width: number | undefined): string {
  return width !== undefined && text.length > width ? `${text.slice(0, Math.max(1, width - 1))}…` : text
}

function colorStatuses<Row>(text: string, line: string[], widths: number[], columns: readonly Column<Row>[], color: boolean): string {
  const index = columns.findIndex(({ as }) => as === 'status')
  if (!color || index < 0) return text
  const from = widths.slice(0, index).reduce((sum, width) => sum + width + 2, 0)
  const status = line[index] ?? ''
  const to = from + status.length
  return to > text.length ? text : text.slice(0, from) + paintStatus(status, color) + text.slice(to)
}

/** A status in its color; its word carries the same meaning without color. */
export function paintStatus(status: string, color: boolean): string {
  if (!color) return status
  const code = GOOD.test(status) ? GREEN : BAD.test(status) ? RED : YELLOW
  return `\u001b[${code}m${status}\u001b[0m`
}

/** Fields of one record, one per line. */
export function formatRecord(record: Readonly<Record<string, unknown>>, style: TableStyle): string {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined)
  const width = Math.max(...entries.map(([name]) => name.length), 0)
  return `${entries.map(([name, value]) => `${name.padEnd(width)}  ${recordValue(name, value, style)}`).join('\n')}\n`
}

function recordValue(name: string, value: unknown, style: TableStyle): string {
  if (typeof value === 'string' && /(?:At|After)$/.test(name) && !Number.isNaN(Date.parse(value)))
    return `${value} (${formatRelative(value, style.nowMs)})`
  if (name === 'status') return paintStatus(String(value), style.color)
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '-'
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
