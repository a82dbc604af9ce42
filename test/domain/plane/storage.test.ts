import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDatabaseDamaged, isLogDamaged } from '../../../src/domain/plane/sqlite-file.ts'
import { isStorageFull } from '../../../src/domain/plane/storage-faults.ts'
import { mayGiveUpReserve, mayReserve, reserveBytes, storageRoom } from '../../../src/domain/plane/storage-room.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

describe('[PLANE-12] the room on a disk', () => {
  const room = (freeBytes: number, totalBytes: number, hasReserve = true) => storageRoom({ freeBytes, totalBytes, hasReserve })
  it.each<[string, number, number, string]>([
    ['a large disk is full below 64 MiB', 64 * MIB - 1, 1000 * GIB, 'FULL'],
    ['a large disk is low at 64 MiB', 64 * MIB, 1000 * GIB, 'LOW'],
    ['a large disk is low below 10 GiB', 10 * GIB - 1, 1000 * GIB, 'LOW'],
    ['a large disk is in order at 10 GiB', 10 * GIB, 1000 * GIB, 'OK'],
    ['a small disk is full below a twenty-fifth', 4 * MIB - 1, 100 * MIB, 'FULL'],
    ['a small disk is low below a twentieth', 5 * MIB - 1, 100 * MIB, 'LOW'],
    ['a small disk is in order at a twentieth', 5 * MIB, 100 * MIB, 'OK'],
    ['a disk of unknown size is in order', 0, 0, 'OK'],
  ])('%s', (_, free, total, wanted) => {
    expect(room(free, total)).toBe(wanted)
  })

  it('is full without the reserve, which is set aside where enough is left for it', () => {
    expect(room(50 * MIB, 100 * MIB, false)).toBe('FULL')
    expect(reserveBytes(1000 * GIB)).toBe(32 * MIB)
    expect(reserveBytes(100 * MIB)).toBe(4 * MIB)
    expect(mayReserve({ freeBytes: 10 * MIB + 1, totalBytes: 100 * MIB })).toBe(true)
    expect(mayReserve({ freeBytes: 10 * MIB, totalBytes: 100 * MIB })).toBe(false)
  })

  it('releases the reserve of a full disk once it stops filling, or a write has failed', () => {
    const facts = { freeBytes: 3 * MIB, totalBytes: 100 * MIB, hasReserve: true }
    expect(mayGiveUpReserve(facts, 499, false)).toBe(false)
    expect(mayGiveUpReserve(facts, 500, false)).toBe(true)
    expect(mayGiveUpReserve(facts, 0, true)).toBe(true)
    expect(mayGiveUpReserve({ ...facts, freeBytes: 50 * MIB }, 500, true)).toBe(false)
    expect(mayGiveUpReserve({ ...facts, hasReserve: false }, 500, true)).toBe(false)
  })

  it('is distinguished from other faults by the text of the error or its cause', () => {
    expect(isStorageFull(new Error('database or disk is full: SQLITE_FULL'))).toBe(true)
    expect(isStorageFull(new Error('Failed query', { cause: new Error('D1_ERROR: database or disk is full: SQLITE_FULL') }))).toBe(true)
    expect(isStorageFull(new Error('no such table'))).toBe(false)
    expect(isStorageFull('SQLITE_FULL')).toBe(false)
  })
})

describe('[PLANE-14] database files as SQLite writes them', () => {
  let directory: string
  let database: DatabaseSync
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'podplane-sqlite-'))
    database = new DatabaseSync(join(directory, 'a.sqlite'))
    database.exec(
      'PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000)); PRAGMA wal_checkpoint; INSERT INTO t VALUES (1)',
    )
  })
  afterEach(() => {
    database.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const file = (name: string) => ({
    header: readFileSync(join(directory, name)).subarray(0, 100),
    size: statSync(join(directory, name)).size,
  })

  it('are whole', () => {
    const { header, size } = file('a.sqlite')
    expect(isDatabaseDamaged(header, size)).toBe(false)
    expect(isDatabaseDamaged(new Uint8Array(0), 0)).toBe(false)
    expect(isLogDamaged(file('a.sqlite-wal').header)).toBe(false)
  })

  it('are damaged where a page is missing, the header is another, or the log begins with garbage', () => {
    const { header, size } = file('a.sqlite')
    expect(isDatabaseDamaged(header, size - 1)).toBe(true)
    expect(isDatabaseDamaged(header.subarray(0, 50), 50)).toBe(true)
    expect(isDatabaseDamaged(Buffer.alloc(100, 0xab), size)).toBe(true)
    expect(isLogDamaged(Buffer.alloc(100, 0xab))).toBe(true)
  })

  it('a log of zeros, as a power cut leaves it, holds nothing', () => {
    expect(isLogDamaged(Buffer.alloc(100))).toBe(false)
  })
})
