import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDatabaseDamaged, isLogDamaged } from '../../../src/domain/plane/sqlite-file.ts'
import { isStorageFull } from '../../../src/domain/plane/storage-faults.ts'
import { mayReserve, type ReserveUse, reserveAfter, reserveBytes, storageRoom } from '../../../src/domain/plane/storage-room.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

describe('[PLANE-12] the room on a disk', () => {
  const room = (freeBytes: number, totalBytes: number, reservedBytes = reserveBytes(totalBytes)) =>
    storageRoom({ freeBytes, totalBytes, reservedBytes })
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
    expect(room(50 * MIB, 100 * MIB, 0)).toBe('FULL')
    expect(room(50 * MIB, 100 * MIB, 3 * MIB)).toBe('FULL')
    expect(reserveBytes(1000 * GIB)).toBe(32 * MIB)
    expect(reserveBytes(100 * MIB)).toBe(4 * MIB)
    expect(mayReserve({ freeBytes: 10 * MIB + 1, totalBytes: 100 * MIB })).toBe(true)
    expect(mayReserve({ freeBytes: 10 * MIB, totalBytes: 100 * MIB })).toBe(false)
  })

  describe('[PLANE-12] the reserve of a full disk', () => {
    const FULL = { freeBytes: 3 * MIB, totalBytes: 100 * MIB, reservedBytes: 4 * MIB }
    const left = (facts: Partial<typeof FULL>, use: Partial<ReserveUse>) =>
      reserveAfter({ ...FULL, ...facts }, { steadyMs: 0, releasedMs: 1e9, writeFailed: false, ...use }) / MIB

    it('loses a part once the disk stops filling, or a write has failed', () => {
      expect(left({}, { steadyMs: 499 })).toBe(4)
      expect(left({}, { steadyMs: 500 })).toBe(3)
      expect(left({}, { writeFailed: true })).toBe(3)
      expect(left({ freeBytes: 50 * MIB }, { steadyMs: 500, writeFailed: true })).toBe(4)
    })

    it('loses further parts when the freed one is taken or a write fails again, at most one in half a second', () => {
      const used = { reservedBytes: 3 * MIB, freeBytes: 2 * MIB }
      expect(left(used, { steadyMs: 1e9 })).toBe(3)
      expect(left({ ...used, freeBytes: MIB - 1 }, { steadyMs: 499 })).toBe(3)
      expect(left({ ...used, freeBytes: MIB - 1 }, { steadyMs: 500 })).toBe(2)
      expect(left(used, { writeFailed: true, releasedMs: 499 })).toBe(3)
      expect(left(used, { writeFailed: true, releasedMs: 500 })).toBe(2)
      expect(left({ reservedBytes: 1 * MIB, freeBytes: 0 }, { writeFailed: true })).toBe(0)
      expect(left({ reservedBytes: 0, freeBytes: 0 }, { writeFailed: true })).toBe(0)
    })
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

  it('are not reported as damaged, also when they are empty', () => {
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
