/**
 * Migrates a Durable Object's database to the newest schema: each step is applied once, in order, and recorded in `_migrations` in the same
 * transaction, so that a crash in between repeats and skips nothing. A released step never changes. Call it in the constructor, before any
 * read of a table.
 */
export function applySchema(storage: DurableObjectStorage, steps: readonly string[]): void {
  const { sql } = storage
  sql.exec('CREATE TABLE IF NOT EXISTS _migrations (step INTEGER PRIMARY KEY) WITHOUT ROWID')
  const applied = sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM _migrations').one().count
  for (const [offset, step] of steps.slice(applied).entries()) {
    storage.transactionSync(() => {
      sql.exec(step)
      sql.exec('INSERT INTO _migrations (step) VALUES (?)', applied + offset + 1)
    })
  }
}

/** Whether a schema was ever applied. Stores nothing. */
export function hasTables({ sql }: DurableObjectStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = '_migrations'").toArray().length > 0
}
