import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { agentFamily, countRows, planeFamily, readFiles } from '../../bench/soak/files.ts'
import { Readings } from '../../bench/soak/readings.ts'
import { afterEach, beforeEach, describe, expect, it } from '../support/unit.ts'

describe('samples of files', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'podplane-soak-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  const open = (name: string, rows: number) => {
    write(name, '')
    const database = new DatabaseSync(join(directory, name))
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE jobs (n INTEGER PRIMARY KEY); CREATE TABLE empty (n INTEGER);',
    )
    for (let row = 0; row < rows; row += 1) database.exec('INSERT INTO jobs DEFAULT VALUES')
    return database
  }
  const places = () => [{ directory, familyOf: planeFamily }]

  it('rows are counted while another connection writes, and include what only the write-ahead log has', () => {
    using database = open('a.sqlite', 3)
    database.exec('BEGIN IMMEDIATE; INSERT INTO jobs DEFAULT VALUES')
    expect(countRows(join(directory, 'a.sqlite'))).toEqual(
      new Map([
        ['jobs', 3],
        ['empty', 0],
      ]),
    )
    database.exec('COMMIT')
    expect(countRows(join(directory, 'a.sqlite'))?.get('jobs')).toBe(4)
  })

  it('a closed database is read without a new file beside it', () => {
    open('a.sqlite', 3).close()
    expect(countRows(join(directory, 'a.sqlite'))?.get('jobs')).toBe(3)
    expect(readdirSync(directory)).toEqual(['a.sqlite'])
  })

  it('the largest database of a family is read, and the list of objects is none', () => {
    using few = open('plane/do/podplane-EndpointObject/a.sqlite', 1)
    using many = open('plane/do/podplane-EndpointObject/b.sqlite', 50)
    using list = open('plane/do/podplane-EndpointObject/metadata.sqlite', 500)
    const readings = new Readings()
    readFiles(readings, 0, places())
    expect([few, many, list].every(({ isOpen }) => isOpen)).toBe(true)
    const values = Object.fromEntries(readings.since(0).map(({ group, of, points }) => [`${group} ${of}`, points[0]?.value]))
    expect(values).toMatchObject({ 'rows EndpointObject.jobs': 50, 'files EndpointObject': 3, 'files write-ahead logs': 6 })
  })

  it('a database that cannot be read is skipped and counted, and the rest is not', () => {
    write('plane/d1/x/a.sqlite', 'no database, but long enough to be opened as one')
    const readings = new Readings()
    readFiles(readings, 0, places())
    expect([...readings.skipped]).toEqual([['rows of D1', 1]])
    expect(readings.since(0).map(({ group, of }) => `${group} ${of}`)).toEqual(['bytes D1', 'files D1'])
  })

  it('a directory that is missing is skipped and counted', () => {
    const readings = new Readings()
    readFiles(readings, 0, [...places(), { directory: join(directory, 'missing'), familyOf: agentFamily }])
    expect([...readings.skipped]).toEqual([['files', 1]])
    expect(readings.since(0)).toEqual([])
  })

  it('a series that appears late was 0 before, except where it could not be read', () => {
    const readings = new Readings()
    readings.scan(1, [])
    readings.scan(2, [])
    readings.skip('rows', 'D1', 2)
    readings.scan(3, [{ group: 'files', of: 'D1', value: 7 }])
    readings.add(3, [
      { group: 'rows', of: 'D1.pods', value: 5 },
      { group: 'p50', of: '/run', value: 9 },
    ])
    const valuesOf = (wanted: string) =>
      readings
        .since(0)
        .find(({ group }) => group === wanted)
        ?.points.map(({ value }) => value)
    expect([valuesOf('files'), valuesOf('rows'), valuesOf('p50')]).toEqual([[0, 0, 7], [0, 5], [9]])
    expect(readings.since(3).map(({ points }) => points.length)).toEqual([1, 1, 1])
  })
})
