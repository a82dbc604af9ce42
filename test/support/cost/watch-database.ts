import { env, vi } from '../harness.ts'

/**
 * Texts of the statements of every call to D1 from the call on; of a batch, those of all its statements. Ends with `vi.restoreAllMocks()`.
 */
export function watchDatabase(): string[][] {
  const calls: string[][] = []
  const database = Object.getPrototypeOf(env.DB) as D1Database
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement
  const textOf = (prepared: unknown) => (prepared as { statement: string }).statement
  const batch = database.batch
  vi.spyOn(database, 'batch').mockImplementation(function (this: D1Database, statements: D1PreparedStatement[]) {
    calls.push(statements.map(textOf))
    return batch.call(this, statements)
  } as typeof batch)
  for (const name of ['run', 'all', 'raw', 'first'] as const) {
    const original = statement[name] as (...parameters: unknown[]) => Promise<unknown>
    vi.spyOn(statement, name).mockImplementation(function (this: D1PreparedStatement, ...parameters: unknown[]) {
      calls.push([textOf(this)])
      return original.apply(this, parameters)
    } as never)
  }
  return calls
}
