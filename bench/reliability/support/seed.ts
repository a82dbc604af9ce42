import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const D1 = 'plane/d1/miniflare-D1DatabaseObject'

/** Opens the database of accounts in a data directory that no process uses. */
export function openAccounts(dataDir: string): DatabaseSync {
  const folder = join(dataDir, D1)
  const name = readdirSync(folder).find((file) => /^[0-9a-f]+\.sqlite$/.test(file))
  if (name === undefined) throw new Error(`${folder} has no database`)
  return new DatabaseSync(join(folder, name))
}

/** Copies the first row of a table this many times, each with its own id and with `values` as expressions for other columns. */
export function multiplyRows(database: DatabaseSync, table: string, count: number, values: Record<string, string> = {}): void {
  const columns = database
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
  const cells = columns.map((name) => values[name] ?? (name === 'id' ? `r.id || '-' || n.value` : `r."${name}"`))
  database.exec(
    `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')})
     WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${count})
     SELECT ${cells.join(', ')} FROM n, (SELECT * FROM ${table} LIMIT 1) r`,
  )
}

/** Returns the number of rows of a table; 0 if it does not exist. */
export function countRows(database: DatabaseSync, table: string): number {
  try {
    return Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count)
  } catch {
    return 0
  }
}
