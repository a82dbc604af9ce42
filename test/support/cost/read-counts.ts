import { env, vi } from '../harness.ts'

interface ReadStatement {
  sql: string
  rows: number
}

/** Every statement from the call on with the rows that D1 reads for it. Ends with `vi.restoreAllMocks()`. */
export function countReads(): ReadStatement[] {
  const reads: ReadStatement[] = []
  const database = Object.getPrototypeOf(env.DB) as D1Database
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement
  const note = (prepared: D1PreparedStatement, { meta }: D1Result) => {
    reads.push({ sql: (prepared as unknown as { statement: string }).statement, rows: meta.rows_read })
  }
  const { batch } = database
  const { all, raw } = statement
  vi.spyOn(database, 'batch').mockImplementation(async function (this: D1Database, statements: D1PreparedStatement[]) {
    const results = await batch.call(this, statements)
    for (const [i, result] of results.entries()) note(statements[i] as D1PreparedStatement, result)
    return results
  } as typeof batch)
  vi.spyOn(statement, 'all').mockImplementation(async function (this: D1PreparedStatement) {
    const result = await all.call(this)
    note(this, result)
    return result
  } as typeof all)
  vi.spyOn(statement, 'raw').mockImplementation(async function (this: D1PreparedStatement, ...options: Parameters<typeof raw>) {
    // Rows as arrays have no row counts, so a pure read is run once more for them.
    if (/^select/i.test((this as unknown as { statement: string }).statement)) note(this, await all.call(this))
    return await raw.apply(this, options)
  } as typeof raw)
  return reads
}
