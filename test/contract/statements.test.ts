import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readPlans } from '../support/plans/files.ts'
import { faultsOf, type Planned, parseGolden, printGolden, stepsOf, unreasoned } from '../support/plans/golden.ts'
import type { Made } from '../support/plans/made.ts'
import { ELSEWHERE, merged, replanned } from '../support/plans/merge.ts'
import { normal } from '../support/plans/normal.ts'
import { sitesOf, watched } from '../support/plans/sites.ts'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Reason of functions whose test is still to be written, or whose statements only whole programs make. */
const NOT_INSIDE = 'no test inside the runtime makes it'
/** Functions with statements that no test makes, each with the reason. */
const NOT_PASSED: Readonly<Record<string, string>> = {
  'durable-objects/host/pods/pod-intents.ts PodIntents.removeOlderThan': NOT_INSIDE,
  'durable-objects/webhook/delivery-store.ts DeliveryStore.move': NOT_INSIDE,
  'src/db/accounts/accounts.ts findTeamUser': NOT_INSIDE,
  'src/db/accounts/plans.ts findBudgetsTeam': NOT_INSIDE,
  'src/db/hosts/capacity-waiters.ts listWaitingSince': NOT_INSIDE,
  'src/db/migrations.ts listAppliedMigrations': NOT_INSIDE,
  'src/db/reseal.ts STEPS': NOT_INSIDE,
  'src/db/reseal.ts resealRegistries': NOT_INSIDE,
  'src/db/resources/secrets.ts insertSecret': NOT_INSIDE,
}

/** The SELECT of an insert that is not `selectOf` of its table. SQLite assigns its values by position: a new column would shift them. */
const BY_POSITION = /\.insert\((\w+)\)\s*\.select\((?!\s*selectOf\(\s*\1,)/g
/** Files with such an insert, each with the table and the reason. */
const MAY_INSERT_BY_POSITION: Readonly<Record<string, string>> = {
  'src/db/clusters/insert-cluster.ts pods': 'its values are taken from JSON by the names of the columns',
}

/**
 * Lists in conditions that are neither constants nor subqueries. Each of their values is a parameter, and a statement of D1 has at most
 * 100: see `isOneOf`.
 */
function openLists(source: string): string[] {
  const lists = [...source.matchAll(/\binArray\(\s*[\w.]+,\s*(?:\[\.\.\.)?([\w.]+)/g)].map(([, list = '']) => list)
  const isSubquery = (list: string) => /^(?:db|sql)\b/.test(list) || new RegExp(`const ${list} = (?:db\\b|sql)`).test(source)
  return lists.filter((list) => !/^[A-Z_]+$/.test(list) && !isSubquery(list))
}
/** Such lists that are short, each with the reason. */
const MAY_BE_OPEN: Readonly<Record<string, string>> = {
  'src/db/audit-reads.ts kinds': 'the kinds of the plane',
  'src/db/billing/day-sums.ts kinds': 'the kinds of the plane',
  'src/db/hosts/placement-hosts.ts statuses': 'the statuses of hosts',
  'src/db/resources/volume-tombstones.ts kinds': 'the two kinds of volumes',
  'src/db/resources/volume-tombstones.ts reach.kinds': 'the two kinds of volumes',
}

describe('functions that make statements', () => {
  const sections = Object.values(readPlans()).flat()

  it('[DEV-9] each of them has made a statement that is in test/plans', () => {
    const missed = sitesOf(ROOT).flatMap(({ name, places }) => {
      const passed = new Set(sections.filter(({ site }) => site === name).flatMap((section) => section.places))
      const left = Array.from({ length: places }, (_, i) => i + 1).filter((place) => !passed.has(place))
      return left.length > 0 && !(name in NOT_PASSED) ? [`${name}: statement ${left.join(', ')} of ${places}`] : []
    })
    expect(missed, 'no test makes them; write one, then `npm run plans -- <its file>`').toEqual([])
  })

  it('[DEV-9] each function named in test/plans exists', () => {
    const names = new Map(sitesOf(ROOT).map(({ name, places }) => [name, places]))
    const gone = sections.filter(({ site, places }) => site !== ELSEWHERE && places.some((place) => place > (names.get(site) ?? 0)))
    expect(
      gone.map(({ site }) => site),
      'take them out, or `npm run plans`',
    ).toEqual([])
  })

  it('are found in the sources, and each is described', () => {
    const source = `class Store {
      read(id: string) { return this.sql.exec('SELECT 1').one() }
    }
    export const find = (db: Database) => db.select().from(pods).where(inArray(pods.id, db.select().from(other))).get()
    const later = cache.delete('key')`
    const path = resolve(ROOT, 'src/db/example.ts')
    expect(watched(ROOT, path, source).replaceAll('globalThis.statementPlans.', '')).toBe(`class Store {
      read(id: string) { return exec("src/db/example.ts Store.read", 1, this.sql).exec('SELECT 1').one() }
    }
    export const find = (db: Database) => builder("src/db/example.ts find", 1, db.select().from(pods).where(inArray(pods.id, builder("src/db/example.ts find", 2, db.select().from(other))))).get()
    const later = cache.delete('key')`)
    expect(watched(ROOT, resolve(ROOT, 'src/http/app.ts'), source)).toBe(source)
  })
})

describe('statements that insert what they select', () => {
  it('name their values by column, through selectOf', () => {
    const found = globSync('src/db/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      [...readFileSync(resolve(ROOT, file), 'utf8').matchAll(BY_POSITION)].map(([, table]) => `${file} ${table}`),
    )
    expect(found.toSorted()).toEqual(Object.keys(MAY_INSERT_BY_POSITION))
  })

  it('are recognized', () => {
    const tables = (source: string) => [...source.matchAll(BY_POSITION)].map(([, table]) => table)
    expect(tables('db.insert(pods).select(sql`SELECT 1`)')).toEqual(['pods'])
    expect(tables('db\n  .insert(pods)\n  .select(\n    sql`SELECT 1`,\n  )')).toEqual(['pods'])
    expect(tables('db.insert(pods).select(values)')).toEqual(['pods'])
    expect(tables('db.insert(pods).select(selectOf(hosts, row, rest))')).toEqual(['pods'])
    expect(tables('db.insert(pods).select(selectOf(pods, row, rest))')).toEqual([])
    expect(tables('db.insert(pods)\n  .select(\n    selectOf(pods, row, rest))')).toEqual([])
  })
})

describe('lists in conditions', () => {
  it('[DEV-19] are one parameter, unless they are constant', () => {
    const found = globSync('src/db/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      openLists(readFileSync(resolve(ROOT, file), 'utf8')).map((list) => `${file} ${list}`),
    )
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(MAY_BE_OPEN))
  })

  it('are recognized', () => {
    expect(openLists('inArray(pods.id, ids) inArray(pods.id, [...ids]) inArray(\n  pods.id,\n  all.ids)')).toEqual([
      'ids',
      'ids',
      'all.ids',
    ])
    const subquery = 'const old = db.select()\ninArray(pods.id, old) inArray(pods.id, db.select()) inArray(pods.id, sql`SELECT 1`)'
    expect(openLists(`${subquery} inArray(pods.status, [...TO_RUN])`)).toEqual([])
  })
})

describe('plans of statements', () => {
  const statement = (text: string, ...steps: [detail: string, reason?: string][]): Planned => ({
    text,
    values: [],
    steps: steps.map(([detail, reason = null]) => ({ detail, reason })),
    seldom: null,
  })
  const made = (text: string): Made => ({ store: 'd1', site: 'src/db/a.ts find', place: 1, text, values: [] })

  it('[DEV-8] a scan or a sort needs a reason, and the rows that a statement makes itself need none', () => {
    const whole = statement('SELECT 1 FROM jobs', ['SCAN jobs'], ['USE TEMP B-TREE FOR ORDER BY'], ['SEARCH jobs USING INDEX a'])
    expect(unreasoned(whole)).toEqual(['SCAN jobs', 'USE TEMP B-TREE FOR ORDER BY'])
    expect(
      unreasoned(statement('SELECT 1 FROM jobs', ['SCAN jobs USING COVERING INDEX a'], ['USE TEMP B-TREE FOR DISTINCT', 'ten rows'])),
    ).toEqual(['SCAN jobs USING COVERING INDEX a'])
    const own = 'WITH made AS (SELECT 1) SELECT * FROM made, json_each(?) AS one'
    expect(unreasoned(statement(own, ['SCAN made'], ['SCAN one VIRTUAL TABLE INDEX 1:'], ['SCAN (subquery-2)']))).toEqual([])
  })

  it('[DEV-8] keeps the steps that read or sort, each once', () => {
    expect(stepsOf(['SCAN CONSTANT ROW', 'SCALAR SUBQUERY 1', 'SCAN jobs', 'SCAN jobs', 'UNION ALL'])).toEqual(['SCAN jobs'])
  })

  it('[DEV-8] a plan that differs from the recorded one is a fault', () => {
    const one = statement('SELECT 1 FROM pods WHERE id = ?', ['SEARCH pods USING INDEX a'])
    expect(faultsOf(one, ['SEARCH pods USING INDEX a'])).toEqual([])
    expect(faultsOf(one, ['SCAN pods'])).toHaveLength(1)
  })

  it('[DEV-9] an update keeps reasons, adds none, and drops statements that no test makes', () => {
    const known = statement('SELECT 1 FROM pods', ['SCAN pods', 'ten at most'])
    const plans = { d1: [{ site: 'src/db/a.ts find', places: [1], statements: [known, statement('SELECT 2')] }] }
    const sites = new Set(['src/db/a.ts find'])
    const textsOf = (isAll: boolean) => merged(plans, [made(known.text)], sites, isAll).d1?.[0]?.statements.map(({ text }) => text)
    expect([textsOf(false), textsOf(true)]).toEqual([['SELECT 1 FROM pods', 'SELECT 2'], ['SELECT 1 FROM pods']])
    expect(merged(plans, [], new Set(), false)).toEqual({})
    const again = replanned(known, ['SCAN pods', 'USE TEMP B-TREE FOR ORDER BY'], null)
    expect(again.steps.map(({ reason }) => reason)).toEqual(['ten at most', null])
    expect(unreasoned(again)).toEqual(['USE TEMP B-TREE FOR ORDER BY'])
  })

  it('are read as they are written', () => {
    const one = { ...statement('SELECT ?', ['SCAN pods', 'ten at most'], ['SEARCH a']), values: ['RUNNING', 'x', 1], seldom: 'a race' }
    const sections = [{ site: 'src/db/a.ts find', places: [1, 2], statements: [one] }]
    expect(parseGolden(printGolden('d1', sections))).toEqual(sections)
  })

  it('treat lists of any length as one statement', () => {
    const of = (count: number) => Array.from({ length: count }, () => '?').join(', ')
    const text = (count: number) => `select 1 from a\n  where b = ? and c in (${of(count)}) and d = ?`
    const short = { text: 'select 1 from a where b = ? and c in (?, ?) and d = ?', values: ['x', 'RUNNING', 'STOPPED', 0] }
    expect(normal(text(3), ['any', 'RUNNING', 'STOPPED', 'DELETED', 0])).toEqual(short)
    expect(normal(text(1), ['any', 'RUNNING', false])).toEqual({ ...short, values: ['x', 'RUNNING', 'RUNNING', 0] })
    expect(normal('insert into a values (?, f(?)), (?, f(?)) returning b', [1, 2, 3, 4])).toEqual({
      text: 'insert into a values (?, f(?)) returning b',
      values: [1, 'x'],
    })
  })
})
