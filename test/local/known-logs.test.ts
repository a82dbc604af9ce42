import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { findLostLogs, noteLogs } from '../../src/local/plane/known-logs.ts'
import { afterEach, beforeEach, describe, expect, it } from '../support/unit.ts'

const PATH = 'do/queue/a.sqlite'

let directory: string
let storage: string
let database: DatabaseSync
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-logs-'))
  storage = join(directory, 'running')
  mkdirSync(join(storage, 'do/queue'), { recursive: true })
  database = new DatabaseSync(join(storage, PATH))
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE jobs (id INTEGER); INSERT INTO jobs VALUES (1)')
})
afterEach(() => {
  if (database.isOpen) database.close()
  rmSync(directory, { recursive: true })
})

/** The files as a killed plane leaves them. */
function killed(): string {
  const copy = join(directory, 'killed')
  cpSync(storage, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

describe('[PLANE-16] the log of a database', () => {
  it('is reported missing when it is gone, until that is acknowledged', async () => {
    await noteLogs(storage)
    const left = killed()
    rmSync(join(left, `${PATH}-wal`))
    expect(await findLostLogs(left)).toEqual([PATH])
    await noteLogs(left)
    expect(await findLostLogs(left)).toEqual([PATH])
    rmSync(join(left, 'logs.json'))
    expect(await findLostLogs(left)).toEqual([])
  })

  it('is not reported missing while it exists', async () => {
    await noteLogs(storage)
    expect(await findLostLogs(killed())).toEqual([])
  })

  it('is not reported missing once it was written back, with or without pending writes', async () => {
    await noteLogs(storage)
    database.close()
    expect(await findLostLogs(storage)).toEqual([])
    database = new DatabaseSync(join(storage, PATH))
    database.exec('INSERT INTO jobs VALUES (2); PRAGMA wal_checkpoint(FULL)')
    await noteLogs(storage)
    database.close()
    expect(await findLostLogs(storage)).toEqual([])
  })

  it('is not reported missing with its database, nor without a record', async () => {
    expect(await findLostLogs(storage)).toEqual([])
    await noteLogs(storage)
    const left = killed()
    rmSync(join(left, 'do'), { recursive: true })
    expect(await findLostLogs(left)).toEqual([])
  })
})
