import type { Read } from '../container/text-lists.ts'

/** Form row of an environment variable. */
export interface EnvRow {
  /** Identifies the row while its name changes. */
  key: number
  name: string
  /** A secret is referenced by name; its value is inserted when the container boots (ACC-6). */
  kind: 'value' | 'secret'
  /** The value, or the name of the secret. */
  text: string
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/
const SECRET = /^\{\{\s*RUNPOD_SECRET_(\w+)\s*\}\}$/

/** Returns a form row for each variable; a reference to a secret becomes a row of kind `secret`. */
export function rowsOf(env: Readonly<Record<string, string>>): EnvRow[] {
  return Object.entries(env).map(([name, value], key) => {
    const secret = value.match(SECRET)?.[1]
    return secret === undefined ? { key, name, kind: 'value', text: value } : { key, name, kind: 'secret', text: secret }
  })
}

/** Rows with an empty one added. */
export function withRow(rows: readonly EnvRow[]): EnvRow[] {
  const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
  return [...rows, { key, name: '', kind: 'value', text: '' }]
}

/** Error in one row; undefined if there is none. */
export function rowProblem({ key, name, kind, text }: EnvRow, rows: readonly EnvRow[]): string | undefined {
  if (name === '') return 'Enter a name.'
  if (!NAME.test(name)) return 'Use letters, digits, “_”, “.” and “-”, and no digit first.'
  if (rows.some((other) => other.key < key && other.name === name)) return 'This name is used already.'
  return kind === 'secret' && text === '' ? 'Choose a secret.' : undefined
}

/** Environment of the request, or the first error of a row. */
export function envOf(rows: readonly EnvRow[]): Read<Record<string, string>> {
  for (const row of rows) {
    const problem = rowProblem(row, rows)
    if (problem !== undefined) return { ok: false, problem: `${row.name || 'A variable'}: ${problem}` }
  }
  const pairs = rows.map(({ name, kind, text }) => [name, kind === 'secret' ? `{{ RUNPOD_SECRET_${text} }}` : text])
  return { ok: true, value: Object.fromEntries(pairs) as Record<string, string> }
}

/** Whether the rows differ from an environment. */
export function envDiffers(rows: readonly EnvRow[], before: Readonly<Record<string, string>>): boolean {
  const read = envOf(rows)
  if (!read.ok) return true
  const names = Object.keys(read.value)
  return names.length !== Object.keys(before).length || names.some((name) => read.value[name] !== before[name])
}
