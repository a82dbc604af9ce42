/** Writes an answer of the plane: as JSON for programs, as aligned columns for people. */
export function printAnswer(answer: unknown, json: boolean): void {
  process.stdout.write(`${json ? JSON.stringify(answer, null, 2) : render(answer)}\n`)
}

function render(answer: unknown): string {
  if (answer === undefined || answer === null) return 'done'
  if (typeof answer !== 'object') return String(answer)
  const values = Object.values(answer)
  const [only] = values
  // Lists come as an object with one array in it.
  if (values.length === 1 && Array.isArray(only)) return table(only)
  return Object.entries(answer)
    .map(([name, value]) => `${name.padEnd(NAME_COLUMN)}  ${cell(value)}`)
    .join('\n')
}

const NAME_COLUMN = 12

function table(rows: readonly unknown[]): string {
  if (rows.length === 0) return 'none'
  const records = rows.map((row) => (typeof row === 'object' && row !== null ? Object.entries(row) : [['value', row] as const]))
  const names = records[0]?.map(([name]) => name) ?? []
  const lines = [names.map((name) => name.toUpperCase()), ...records.map((record) => record.map(([, value]) => cell(value)))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.map(cell).join('; ') || '-'
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, inner]) => `${name}=${cell(inner)}`)
    .join(' ')
}
