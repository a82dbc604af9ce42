/** Column of a table: heading, value and format. */
export interface Column<Row> {
  name: string
  of: (row: Row) => unknown
  /** Format for users: a time relative to now, a status in color, an amount in USD or USD per hour. */
  as?: 'time' | 'status' | 'usdPerHour' | 'usd'
}

/** Columns for fields with these names. */
export function columns<Row>(...names: (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({
    name,
    of: (row) => row[name],
    ...(/^at$|At$/.test(name) && { as: 'time' as const }),
    ...(name === 'status' && { as: 'status' as const }),
  }))
}

/** A value as text for programs: complete, without tabs and line ends. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(plainText).join(',')
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value).replace(/[\t\r\n]+/g, ' ')
}

/** Fields that `--json id,gpu.id` selects. */
export function pick(record: unknown, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, valueAt(record, field)]))
}

function valueAt(record: unknown, path: string): unknown {
  return (
    path
      .split('.')
      .reduce<unknown>(
        (value, name) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined),
        record,
      ) ?? null
  )
}
