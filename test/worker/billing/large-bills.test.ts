import fc from 'fast-check'
import { BillSums } from '../../../src/db/billing/bill-sums.ts'
import { addDaySums, PAGE, readDaySumsOf, readDayTotals } from '../../../src/db/billing/day-sums.ts'
import { selectMoment } from '../../../src/db/billing/usage.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { type ChargedInterval, cutInterval, sumCharges } from '../../../src/domain/billing/bill.ts'
import { daysOf } from '../../../src/domain/billing/buckets.ts'
import { USAGE_KINDS } from '../../../src/domain/billing/usage.ts'
import { countReads } from '../../support/cost/read-counts.ts'
import { admin, afterEach, api, createAccount, describe, env, expect, it, teamOf, vi } from '../../support/harness.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { manyIntervals } from '../../support/queue/many-intervals.ts'

const DAY_MS = 24 * HOUR_MS
const JUNE = Date.UTC(2026, 5, 1)
const WEEK = 'startTime=2026-06-01T00:00:00Z&endTime=2026-06-08T00:00:00Z'
const MANY = 500_000
/**
 * Rows of one statement: the rows that are read or counted, the index entries that lead to each, and the rows that mark the start of the
 * next page.
 */
const STATEMENT = 8 * PAGE

afterEach(() => {
  vi.restoreAllMocks()
})

async function newTeam(budgets = {}) {
  const account = await createAccount()
  await admin().put(`/admin/v1/users/${account.userId}/budgets`, budgets)
  return { key: account.key, teamId: await teamOf(account) }
}

async function fill(teamId: string, pods: number): Promise<void> {
  const trigger = await env.DB.prepare("SELECT sql FROM sqlite_master WHERE name = 'usage_is_summed'").first<{ sql: string }>()
  const statements = manyIntervals(trigger?.sql ?? '', { teamId, count: MANY, pods, fromMs: JUNE })
  await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)))
}

async function readsOf(work: () => Promise<unknown>): Promise<{ most: number; total: number }> {
  const reads = countReads()
  await work()
  vi.restoreAllMocks()
  return { most: Math.max(...reads.map(({ rows }) => rows)), total: reads.reduce((sum, { rows }) => sum + rows, 0) }
}

describe('daily sums', () => {
  const interval = fc
    .record({
      kind: fc.constantFrom(...USAGE_KINDS),
      resourceId: fc.constantFrom('r1', 'r2', 'r3'),
      startedAtMs: fc.integer({ min: JUNE, max: JUNE + 3 * DAY_MS }),
      ms: fc.oneof(fc.integer({ min: 0, max: HOUR_MS }), fc.integer({ min: 0, max: 40 * DAY_MS }), fc.constantFrom(DAY_MS, 2 * DAY_MS)),
      volumeType: fc.constantFrom(null, 'STANDARD' as const, 'HIGH_PERFORMANCE' as const),
      gpuNanosPerHour: fc.integer({ min: 0, max: 500_000_000_000 }),
      cpuNanosPerHour: fc.integer({ min: 0, max: 500_000_000 }),
      diskNanosPerHour: fc.integer({ min: 0, max: 50_000_000 }),
    })
    .map(({ ms, ...rest }): ChargedInterval => closed({ ...rest, endedAtMs: rest.startedAtMs + ms }))

  it('[BIL-40] equal the parts of every interval in each day, to the last digit', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(interval, { minLength: 1, maxLength: 30 }), async (intervals) => {
        const { teamId } = await newTeam()
        await writeUsage(teamId, intervals)
        const days = daysOf({ startMs: JUNE, endMs: JUNE + 50 * DAY_MS })
        const expected = sumCharges(intervals.flatMap((one) => cutInterval(one, days, Date.now())))
        const read = async (select: string) =>
          (
            await env.DB.prepare(
              `SELECT ${select}, day_ms AS bucketStartMs, gpu_micros AS gpuMicros, cpu_micros AS cpuMicros, disk_micros AS diskMicros,
              fast_micros AS fastMicros FROM ${select.includes("''") ? 'usage_totals' : 'usage_days'} WHERE team_id = ? ORDER BY day_ms, kind, resourceId`,
            )
              .bind(teamId)
              .all()
          ).results
        const byKey = (a: { bucketStartMs: number; kind: string }, b: typeof a) =>
          a.bucketStartMs - b.bucketStartMs || (a.kind < b.kind ? -1 : Number(a.kind > b.kind))
        expect(await read('kind, resource_id AS resourceId')).toEqual(expected.toSorted(byKey))
        const together = sumCharges(expected.map((charge) => ({ ...charge, resourceId: '' })))
        expect(await read("kind, '' AS resourceId")).toEqual(together.toSorted(byKey))
      }),
      { numRuns: 40, endOnFailure: true },
    )
  })
})

describe('an account with half a million intervals', () => {
  it('[BIL-17] [BIL-41] gets its bills by short statements, and daily sums with few rows', { timeout: 120_000 }, async () => {
    const { key, teamId } = await newTeam({ readRows: 10_000_000 })
    await fill(teamId, 1_000)
    const read = (path: string) => api(key).get(path)
    const other = await newTeam()
    const beside = await readsOf(async () => expect((await api(other.key).get(`/v2/billing/pods?${WEEK}`)).status).toBe(200))
    expect(beside.total).toBeLessThan(100)
    const bill = await readsOf(async () => {
      const { status, body } = await read(`/v2/billing/pods?${WEEK}&bucketSize=week`)
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { metadata: { recordCount: 1_000, totals: { totalAmount: MANY / 1_000 } } },
      })
    })
    expect(bill.most).toBeLessThan(STATEMENT)
    expect(bill.total).toBeLessThan(3 * 7 * 1_000 + 500)
    for (const path of [`/v2/billing?${WEEK}`, '/v2/billing/summary', '/v2/spend', `/v2/billing/pods?${WEEK}&podId=${teamId}7`]) {
      const { total } = await readsOf(async () => expect((await read(path)).status).toBe(200))
      expect({ path, isSmall: total < 500 }).toEqual({ path, isSmall: true })
    }
    const hours = await readsOf(async () => {
      const query = 'startTime=2026-06-01T00:00:00Z&endTime=2026-06-03T00:00:00Z&bucketSize=hour'
      const { status, body } = await read(`/v2/billing?${query}`)
      expect([status, body.metadata.recordCount]).toEqual([200, 48])
    })
    // Intervals within the two days are counted, cut and read twice through an index; for later ones only index entries are read.
    expect(hours.total).toBeLessThan(3 * MANY)
    expect(hours.most).toBeLessThan(250_001)
    const counting = await readsOf(async () => expect((await read(`/v2/billing/pods?${WEEK}&bucketSize=hour`)).status).toBe(400))
    expect(counting.total).toBeLessThan(250_500)
    const listed = await readsOf(async () =>
      expect((await read(`/v2/billing/pods?${WEEK}&include=INTERVALS`)).body.detail).toContain('more than 5000 intervals'),
    )
    expect(listed.total).toBeLessThan(4 * STATEMENT)
  })

  it('[BIL-41] [BIL-14] is refused after counting when as many pods exceed the limit', { timeout: 120_000 }, async () => {
    const { key, teamId } = await newTeam()
    await fill(teamId, MANY)
    const { total } = await readsOf(async () => {
      const { status, body } = await api(key).get(`/v2/billing/pods?${WEEK}`)
      expect([status, body.detail]).toEqual([400, expect.stringContaining('more than 50000 records')])
    })
    expect(total).toBeLessThan(50_500)
  })

  it('[RATE-20] has a budget of rows: beyond it large reads are 429 with Retry-After, and other requests are not', async () => {
    const account = await createAccount()
    const bound = (readRows: number) => admin().put(`/admin/v1/users/${account.userId}/budgets`, { readRows })
    await bound(60)
    const teamId = await teamOf(account)
    await writeUsage(
      teamId,
      Array.from({ length: 50 }, (_, i) =>
        closed({
          resourceId: `p${i}`,
          workloadId: `${teamId}${i}`,
          startedAtMs: JUNE,
          endedAtMs: JUNE + HOUR_MS,
          gpuNanosPerHour: 440_000_000,
        }),
      ),
    )
    const bill = () => api(account.key).get(`/v2/billing/pods?${WEEK}`)
    expect((await bill()).body.records).toHaveLength(50)
    const refused = await bill()
    expect(refused).toMatchObject({
      status: 429,
      body: { detail: expect.stringMatching(/^the account's budget readRows .* is 60: \d+ are in use/) },
    })
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    for (const path of ['/v2/spend', '/v2/pods', '/v2/serverless', '/v2/account/audit'])
      expect({ path, status: (await api(account.key).get(path)).status }).toEqual({ path, status: 429 })
    const limits = await api(account.key).get('/v2/account/limits')
    expect([limits.status, limits.body.readRows.used > 60]).toEqual([200, true])
    await bound(1_000_000)
    expect((await bill()).status).toBe(200)
  })

  it('[BIL-40] is charged once for an interval that ends while its bill is read', async () => {
    const { teamId } = await newTeam()
    const one = closed({
      startedAtMs: JUNE,
      endedAtMs: JUNE + 30 * HOUR_MS,
      gpuNanosPerHour: 1_000_000_000,
      resourceId: 'p',
      workloadId: teamId,
    })
    const db = openDatabase(env.DB)
    const before = (await selectMoment(db))[0]?.lastRow ?? 0
    await writeUsage(teamId, [one])
    const buckets = daysOf({ startMs: JUNE, endMs: JUNE + 7 * DAY_MS })
    const scope = { teamId, kinds: ['POD' as const], resourceId: null, perResource: true, buckets }
    const bounds = { records: 10, rows: 100, parts: 100 }
    const readDaySums = async (moment: number) => {
      const sums = new BillSums(scope, bounds, Date.now())
      expect(await addDaySums(db, scope, bounds, moment, sums)).toBeNull()
      return await sums.sorted()
    }
    expect(await readDaySums(before)).toEqual([])
    expect(await readDayTotals(db, scope, before)).toEqual([])
    expect(await readDaySumsOf(db, scope, ['p'], before)).toEqual([])
    const after = (await selectMoment(db))[0]?.lastRow ?? 0
    const read = await readDaySums(after)
    expect(read).toMatchObject([{ gpuMicros: 24_000_000 }, { gpuMicros: 6_000_000 }])
    expect(await readDaySumsOf(db, scope, ['p', 'q'], after)).toEqual(read)
  })
})
