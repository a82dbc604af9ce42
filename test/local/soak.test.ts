import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { agentFamily, planeFamily } from '../../bench/soak/files.ts'
import {
  exitCodeOf,
  judge,
  median,
  type Point,
  percentile,
  type Rule,
  runMinutes,
  slopePerHour,
  thin,
  warmUpMs,
} from '../../bench/soak/judge.ts'
import { BOUNDED, type Done, ruleOf } from '../../bench/soak/rules.ts'
import { formatTable, formatVerdict } from '../../bench/soak/table.ts'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MINUTE_MS = 60_000
const NO_FAULTS = { lost: 0, duplicated: 0, wrong: 0 }
const RULE: Rule = { allowed: { absolute: 5, relative: 0.1 }, minMinutes: 10 }

/** A series with one value a minute. */
const each = (minutes: number, valueAt: (minute: number) => number): Point[] =>
  Array.from({ length: minutes + 1 }, (_, minute) => ({ atMs: minute * MINUTE_MS, value: valueAt(minute) }))

describe('the numbers of a series', () => {
  it('a median is the middle value, or the mean of the middle two', () => {
    expect([median([9, 1, 2]), median([4, 1, 2, 9]), median([])]).toEqual([2, 3, Number.NaN])
  })

  it('a percentile is a measured value', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index)
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([100, 198, 7])
  })

  it('a slope is per hour, and a fifth of disturbed points does not change it', () => {
    expect(slopePerHour(each(30, (minute) => 2 * minute))).toBeCloseTo(120)
    expect(slopePerHour(each(30, (minute) => (minute % 5 === 4 ? 5_000 : 10)))).toBe(0)
    expect(slopePerHour(each(30, (minute) => 100 - minute))).toBeCloseTo(-60)
  })

  it('one point has no slope', () => {
    expect(slopePerHour([{ atMs: 0, value: 5 }])).toBe(0)
  })

  it('many points are joined to medians, which keep the slope', () => {
    const many = each(2_999, (minute) => minute)
    expect(thin(many, 300)).toHaveLength(300)
    expect(thin(many, 300)[0]).toEqual({ atMs: 4.5 * MINUTE_MS, value: 4.5 })
    expect(slopePerHour(many)).toBeCloseTo(60)
  })

  it('the warm-up is a tenth, at most five minutes', () => {
    expect([warmUpMs(10 * MINUTE_MS), warmUpMs(600 * MINUTE_MS)]).toEqual([MINUTE_MS, 5 * MINUTE_MS])
  })

  it('a run that lasts as long as a verdict needs measures that time after its warm-up', () => {
    for (const wanted of [1, 5, 9, 15, 45, 60, 600]) {
      const runMs = runMinutes(wanted) * MINUTE_MS
      const measuredMs = runMs - warmUpMs(runMs)
      expect(measuredMs - wanted * MINUTE_MS, String(wanted)).toBeGreaterThanOrEqual(15_000)
      expect(measuredMs - wanted * MINUTE_MS, String(wanted)).toBeLessThan(75_000)
    }
  })
})

describe('the verdict of a series', () => {
  const verdictOf = (points: readonly Point[], rule = RULE) => judge(points, rule).verdict

  it('compares the medians of the first and the last fifth', () => {
    const steps = each(24, (minute) => (minute < 12 ? 100 : 200))
    expect(judge(steps, RULE)).toMatchObject({ start: 100, end: 200, verdict: 'GROWS' })
  })

  it('a growth up to the larger allowance is flat, and one beyond it grows', () => {
    const level = (end: number, start: number) => each(24, (minute) => (minute < 6 ? start : end))
    expect([verdictOf(level(15, 10)), verdictOf(level(15.1, 10))]).toEqual(['flat', 'GROWS'])
    expect([verdictOf(level(220, 200)), verdictOf(level(221, 200))]).toEqual(['flat', 'GROWS'])
  })

  it('a steady growth grows although the medians of the fifths differ by less', () => {
    // From 0 to 6 within the run, while the medians of the fifths are 4.8 apart.
    expect(verdictOf(each(24, (minute) => minute / 4))).toBe('GROWS')
  })

  it('a series that shrinks is flat', () => {
    expect(verdictOf(each(24, (minute) => 1_000 - minute))).toBe('flat')
  })

  it('one disturbed sample is no growth', () => {
    expect(verdictOf(each(24, (minute) => (minute === 23 ? 1_000 : 10)))).toBe('flat')
  })

  it('a growth within its bound is bounded, with the reason, and one value of the end beyond it grows', () => {
    const bounded = { ...RULE, bound: { limit: 124, reason: 'LIM-4' } }
    expect(
      judge(
        each(24, (minute) => 100 + minute),
        bounded,
      ),
    ).toMatchObject({ verdict: 'bounded', note: 'LIM-4' })
    expect(
      judge(
        each(25, (minute) => 100 + minute),
        bounded,
      ),
    ).toMatchObject({ verdict: 'GROWS', note: 'beyond the bound: LIM-4' })
  })

  it('a shorter run than the rule needs has no verdict, not even flat', () => {
    const rule = { ...RULE, minMinutes: 25 }
    expect(
      verdictOf(
        each(24, () => 1),
        rule,
      ),
    ).toBe('too short')
    expect(
      verdictOf(
        each(25, () => 1),
        rule,
      ),
    ).toBe('flat')
  })

  it('fewer than 15 samples are not judged', () => {
    expect([verdictOf(each(13, () => 1)), verdictOf(each(14, () => 1))]).toEqual(['not measured', 'flat'])
    expect(verdictOf([])).toBe('not measured')
  })
})

describe('the exit code', () => {
  it('is 1 for a growth or a fault, else 2 without a verdict of each series or without a steady load', () => {
    expect(exitCodeOf(['flat', 'bounded'], NO_FAULTS, true)).toBe(0)
    expect(exitCodeOf(['flat', 'too short'], NO_FAULTS, true)).toBe(2)
    expect(exitCodeOf(['flat', 'not measured'], NO_FAULTS, true)).toBe(2)
    expect(exitCodeOf(['flat'], NO_FAULTS, false)).toBe(2)
    expect(exitCodeOf([], NO_FAULTS, true)).toBe(2)
    expect(exitCodeOf(['GROWS', 'too short'], NO_FAULTS, false)).toBe(1)
    for (const fault of ['lost', 'duplicated', 'wrong']) expect(exitCodeOf(['flat'], { ...NO_FAULTS, [fault]: 1 }, false)).toBe(1)
  })
})

describe('bounds', () => {
  const done: Done = { minutes: 120, jobs: 144_000, keyed: 48_000, pods: 200, openJobs: 20 }
  const limitOf = (name: string, of = done) => ruleOf('rows', name, of).bound?.limit ?? Number.NaN

  it('[LIM-4] the jobs of an endpoint are those of half an hour, however long the run is', () => {
    expect(limitOf('EndpointObject.jobs')).toBeGreaterThanOrEqual(36_000 + 20)
    expect(limitOf('EndpointObject.jobs')).toBeLessThan(36_000 * 1.2)
    expect(limitOf('EndpointObject.jobs', { ...done, minutes: 240, jobs: 288_000 })).toBe(limitOf('EndpointObject.jobs'))
  })

  it('in a run of less than half an hour they are all of its jobs', () => {
    expect(limitOf('EndpointObject.jobs', { ...done, minutes: 10, jobs: 12_000 })).toBeLessThan(12_100)
  })

  it('a table without a bound must not grow', () => {
    expect(ruleOf('rows', 'EndpointObject.workers', done).bound).toBeUndefined()
    expect(ruleOf('memory', 'runtime', done).bound).toBeUndefined()
  })

  it.each([
    ['memory', 'memory'],
    ['open files', 'open files'],
    ['sockets', 'sockets'],
    ['threads', 'threads'],
    ['latency', 'p50'],
    ['latency', 'p99'],
    ['bytes', 'bytes'],
    ['files', 'files'],
    ['rows', 'rows'],
  ] as const)('the README states how long a run must be for %s (%s)', (name, group) => {
    const text = readFileSync(join(ROOT, 'bench/soak/README.md'), 'utf8')
    const [, minutes] = text.match(new RegExp(`^\\| \`${name}\` .*\\| (\\d+) min \\|$`, 'm')) ?? []
    expect(Number(minutes)).toBe(runMinutes(ruleOf(group, 'x', done).minMinutes))
  })

  it('every bound of rows names a table of the database or of a class of objects', () => {
    const read = (pattern: string) => globSync(pattern, { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'))
    const tables = new Set(
      [...read('migrations/*.sql'), ...read('durable-objects/**/*.ts')].flatMap((text) =>
        [...text.matchAll(/CREATE TABLE `?(\w+)/g)].map(([, name = '']) => name),
      ),
    )
    const named = BOUNDED.filter((name) => name.startsWith('rows ')).map((name) => name.split('.')[1] ?? '')
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((name) => !tables.has(name))).toEqual([])
  })

  it('every bound of files names a family', () => {
    const classes = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8').matchAll(/class_name = "(\w+)"/g)
    const paths = ['logs/plane.log', 'plane/do/x/a.sqlite-wal', 'plane/d1/x/a.sqlite', 'plane/r2/x/a', 'owner.lock']
    const families = [
      ...[...classes].map(([, name = '']) => planeFamily(`plane/do/podplane-${name}/a.sqlite`)),
      ...paths.map(planeFamily),
      ...['logs/w/state.json', 'processes/w/output.log', 'workloads/w.json', 'host.json'].map(agentFamily),
    ]
    const named = BOUNDED.filter((name) => /^(bytes|files) /.test(name)).map((name) => name.replace(/^\w+ /, ''))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !families.includes(name))).toEqual([])
  })
})

describe('the table', () => {
  const judged = (group: 'memory' | 'rows' | 'p50', of: string, points: Point[], rule = RULE) => ({
    group,
    of,
    points,
    ...judge(points, rule),
  })
  const rows = [
    judged(
      'rows',
      'D1.teams',
      each(3, () => 1),
    ),
    judged(
      'rows',
      'D1.pods',
      each(24, (minute) => 10 * minute),
    ),
    judged(
      'rows',
      'D1.hosts',
      each(24, () => 1),
    ),
    judged(
      'rows',
      'D1.users',
      each(24, () => 2),
    ),
    judged(
      'memory',
      'runtime',
      each(24, () => 3 * 2 ** 20),
      { ...RULE, minMinutes: 60 },
    ),
  ]

  it('has memory in MiB first, and joins the counts that never changed', () => {
    expect(formatTable(rows).split('\n').slice(2)).toEqual([
      '| memory of runtime | 3.0 MiB | 3.0 MiB | 0 KiB | too short | needs a run of 66 min |',
      '| rows, D1.pods | 20 | 220 | +600 | **GROWS** |  |',
      '| rows, 1 others | same | same | 0 | not measured |  |',
      '| rows, 2 others | same | same | 0 | flat |  |',
    ])
  })

  it('the last line names what grows, what has no verdict, faults, and a load that was not sent', () => {
    expect(formatVerdict(1, rows, { lost: 1, duplicated: 0, wrong: 2 }, 0.231)).toBe(
      'FAILED: 1 lost, 0 duplicated, 2 wrong, refused or stuck; 1 of 5 series grow: rows, D1.pods; 2 of 5 series have no verdict yet; ' +
        '23.1 % of the load was not sent, because too many jobs were in progress',
    )
    expect(formatVerdict(0, rows.slice(2, 4), NO_FAULTS, 0)).toBe('PASSED: no growth was seen')
    expect(
      formatVerdict(
        2,
        [rows[0], rows[4]].flatMap((row) => row ?? []),
        NO_FAULTS,
        0,
      ),
    ).toBe('NO VERDICT: 2 of 2 series have no verdict yet')
  })
})
