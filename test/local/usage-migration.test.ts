import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { amountMicros, nanosOfUsd } from '../../src/domain/money.ts'
import { splitStatements } from '../../src/local/plane/migrations.ts'
import { describe, expect, it } from '../support/unit.ts'

const DIRECTORY = 'migrations'
const BRINGS_USAGE = '0010_catalog_billing_volumes.sql'
const TEN_YEARS_MS = 10 * 365 * 86_400_000
const FILES = readdirSync(DIRECTORY).filter((file) => file.endsWith('.sql'))

function apply(database: DatabaseSync, files: readonly string[]): void {
  for (const file of files.toSorted()) {
    for (const statement of splitStatements(readFileSync(`${DIRECTORY}/${file}`, 'utf8'))) database.exec(statement)
  }
}

/** A database of the release before the bills. */
function previousDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  apply(
    database,
    FILES.filter((file) => file < BRINGS_USAGE),
  )
  return database
}

const INSERT = 'INSERT INTO pod_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
const price = fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100)
const previousRow = fc.record({
  startedAt: fc.integer({ min: 1, max: TEN_YEARS_MS }),
  ms: fc.integer({ min: 0, max: TEN_YEARS_MS }),
  price,
  isGpu: fc.boolean(),
})

describe('migration of usage', () => {
  it('[BIL-9] rows of the release before the bills are migrated with their amounts, also those written after the migration', () => {
    fc.assert(
      fc.property(fc.array(previousRow, { maxLength: 20 }), fc.integer({ min: 0, max: 20 }), (rows, before) => {
        const database = previousDatabase()
        if (before === 0) apply(database, [BRINGS_USAGE])
        for (const [i, { startedAt, ms, price: usd, isGpu }] of rows.entries()) {
          const gpu = isGpu ? (['NVIDIA L4', 2] as const) : ([null, 0] as const)
          database.prepare(INSERT).run(`pod-${i}`, 3, 'team', startedAt, startedAt + ms, 'SECURE', ...gpu, 8.5, 10, usd)
          if (i + 1 === before) apply(database, [BRINGS_USAGE])
        }
        if (before > rows.length) apply(database, [BRINGS_USAGE])
        const expected = rows.map(({ startedAt, ms, price: usd, isGpu }, i) => {
          const [nanos, micros] = [nanosOfUsd(usd), amountMicros(nanosOfUsd(usd), ms)]
          const rates = { gpu_nanos_per_hour: isGpu ? nanos : 0, cpu_nanos_per_hour: isGpu ? 0 : nanos, disk_nanos_per_hour: 0 }
          const amounts = { gpu_micros: isGpu ? micros : 0, cpu_micros: isGpu ? 0 : micros, disk_micros: 0 }
          const gpu = { gpu_type_id: isGpu ? 'NVIDIA L4' : null, gpu_count: isGpu ? 2 : 0 }
          const what = { workload_id: `pod-${i}`, sequence: 3, kind: 'POD', resource_id: `pod-${i}`, team_id: 'team', cloud: 'SECURE' }
          const times = { started_at: startedAt, ended_at: startedAt + ms }
          return { ...what, ...times, ...gpu, vcpus: 8.5, disk_gb: 10, volume_type: null, ...rates, ...amounts }
        })
        const kept = database.prepare('SELECT * FROM usage ORDER BY CAST(substr(workload_id, 5) AS INTEGER)').all()
        expect(kept.map((row) => ({ ...row }))).toEqual(expected)
        database.close()
      }),
      { numRuns: 30 },
    )
  })

  it('[BIL-40] existing rows get their daily sums, and those that the previous release writes too', () => {
    const sums = FILES.find((file) => file.endsWith('_usage_days.sql')) ?? ''
    const columns = 'workload_id, sequence, kind, resource_id, team_id, started_at, ended_at, disk_nanos_per_hour, disk_micros, volume_type'
    const interval = fc.record({
      startedAt: fc.integer({ min: 1, max: TEN_YEARS_MS }),
      ms: fc.integer({ min: 0, max: 90 * 86_400_000 }),
      nanos: fc.integer({ min: 0, max: 500_000_000_000 }),
      isFast: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 20 }), fc.array(interval, { maxLength: 5 }), (before, after) => {
        const database = new DatabaseSync(':memory:')
        apply(
          database,
          FILES.filter((file) => file < sums),
        )
        const write = (rows: typeof before, prefix: string) => {
          for (const [i, { startedAt, ms, nanos, isFast }] of rows.entries()) {
            const values = [`${prefix}${i}`, 1, 'NETWORK_VOLUME', 'v', 'team', startedAt, startedAt + ms, nanos, amountMicros(nanos, ms)]
            database
              .prepare(`INSERT INTO usage (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
              .run(...values, isFast ? 'HIGH_PERFORMANCE' : null)
          }
        }
        write(before, 'a')
        apply(database, [sums])
        write(after, 'b')
        const all = [...before, ...after]
        const sum = (rows: typeof before) => rows.reduce((total, { nanos, ms }) => total + amountMicros(nanos, ms), 0)
        for (const table of ['usage_days', 'usage_totals']) {
          const row = database
            .prepare(`SELECT COALESCE(SUM(disk_micros), 0) AS disk, COALESCE(SUM(fast_micros), 0) AS fast FROM ${table}`)
            .get()
          expect({ ...row }).toEqual({ disk: sum(all.filter(({ isFast }) => !isFast)), fast: sum(all.filter(({ isFast }) => isFast)) })
        }
        database.close()
      }),
      { numRuns: 30 },
    )
  })
})
