import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { applyMigrations, type MigrationDatabase, splitStatements } from '../../src/local/plane/migrations.ts'
import { afterEach, beforeEach, describe, expect, it } from '../support/unit.ts'

interface Statement {
  sql: string
  values: unknown[]
}

/** D1's two calls over SQLite; a batch is one transaction, as in D1. */
function openDatabase(): MigrationDatabase<Statement> & { sqlite: DatabaseSync } {
  const sqlite = new DatabaseSync(':memory:')
  return {
    sqlite,
    prepare: (sql) => ({
      sql,
      values: [],
      bind: (...values: unknown[]) => ({ sql, values }),
      all: async <Row>() => ({ results: sqlite.prepare(sql).all() as Row[] }),
    }),
    async batch(statements) {
      sqlite.exec('BEGIN')
      try {
        for (const { sql, values } of statements) sqlite.prepare(sql).run(...(values as string[]))
        sqlite.exec('COMMIT')
      } catch (error) {
        sqlite.exec('ROLLBACK')
        throw error
      }
    },
  }
}

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-migrations-'))
  writeFileSync(join(directory, '0000_a.sql'), 'CREATE TABLE a (x TEXT);\n--> statement-breakpoint\nCREATE INDEX a_x ON a (x);')
  writeFileSync(join(directory, '0001_b.sql'), 'ALTER TABLE a ADD COLUMN y TEXT;')
  writeFileSync(join(directory, 'notes.md'), 'not a migration')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('migrations', () => {
  it('are applied once, in order', async () => {
    const database = openDatabase()
    expect(await applyMigrations(database, directory)).toEqual(['0000_a.sql', '0001_b.sql'])
    expect(await applyMigrations(database, directory)).toEqual([])
    writeFileSync(join(directory, '0002_c.sql'), 'CREATE TABLE c (z TEXT);')
    expect(await applyMigrations(database, directory)).toEqual(['0002_c.sql'])
    expect(database.sqlite.prepare('SELECT name FROM d1_migrations ORDER BY id').all()).toMatchObject([
      { name: '0000_a.sql' },
      { name: '0001_b.sql' },
      { name: '0002_c.sql' },
    ])
  })

  it('roll back a file that fails half-way, and name it', async () => {
    const database = openDatabase()
    writeFileSync(join(directory, '0001_b.sql'), 'CREATE TABLE b (x TEXT);\n--> statement-breakpoint\nCREATE NONSENSE;')
    await expect(applyMigrations(database, directory)).rejects.toThrow(/0001_b\.sql failed and was not applied/)
    expect(database.sqlite.prepare("SELECT name FROM sqlite_master WHERE name = 'b'").all()).toEqual([])
    writeFileSync(join(directory, '0001_b.sql'), 'CREATE TABLE b (x TEXT);')
    expect(await applyMigrations(database, directory)).toEqual(['0001_b.sql'])
  })

  it('are split at the markers of drizzle', () => {
    expect(splitStatements('A;\n--> statement-breakpoint\nB;\n\n--> statement-breakpoint\n')).toEqual(['A;', 'B;'])
  })
})
