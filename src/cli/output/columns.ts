/** What of a record is shown under which heading, and how. */
export interface Column<Row> {
  name: string
  of: (row: Row) => unknown
  /** How people see it: a time relative to now, a status in colour, USD per hour. */
  as?: 'time' | 'status' | 'usdPerHour' | 'usd'
}

/** The members of these names, as they are. */
export function columns<Row>(...names: (keyof Row & string)[]): Column<Row>[] {
  return names.map((name) => ({
    name,
    of: (row) => row[name],
    ...(/^at$|At$/.test(name) && { as: 'time' as const }),
    ...(name === 'status' && { as: 'status' as const }),
  }))
}

/** A value as one text without tabs and line ends, exact and whole: what programs read. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(plainText).join(',')
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value).replace(/[\t\r\n]+/g, ' ')
}

/** The members that `--json id,gpu.id` asks for. */
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
