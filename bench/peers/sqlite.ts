import { DatabaseSync } from 'node:sqlite'
import type { PeerQueue } from './queue.ts'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE jobs (id INTEGER PRIMARY KEY, state INTEGER NOT NULL DEFAULT 0, input TEXT NOT NULL, output TEXT);
  CREATE INDEX queued ON jobs (id) WHERE state = 0;`

/** A minimal queue: one table in a file, written by one process, every commit flushed. */
export function openSqlite(path: string): PeerQueue {
  const database = new DatabaseSync(path)
  database.exec(SCHEMA)
  const insert = database.prepare('INSERT INTO jobs (input) VALUES (?)')
  const take = database.prepare(
    'UPDATE jobs SET state = 1 WHERE id IN (SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT ?) RETURNING id, input',
  )
  const finish = database.prepare('UPDATE jobs SET state = 2, output = ? WHERE id = ? AND state = 1')
  return {
    async submit(input) {
      return String(insert.run(JSON.stringify(input)).lastInsertRowid)
    },
    async take(count) {
      return take.all(count).map(({ id, input }) => ({ id: String(id), input: JSON.parse(String(input)) }))
    },
    async finish(jobId, output) {
      finish.run(JSON.stringify(output), Number(jobId))
    },
  }
}
