import { env } from 'cloudflare:workers'
import { afterAll, expect } from 'vitest'
import type { Made } from './made.ts'
import { normal } from './normal.ts'
import { storeOfFile } from './stores.ts'

// Beside each test file, for `npm run plans` alone: records every statement of the plane (the build of the tests reports it,
// test/support/plans/sites.ts).

interface Recorder {
  builder: <Builder>(site: string, place: number, builder: Builder) => Builder
  exec: (site: string, place: number, sql: SqlStorage) => Pick<SqlStorage, 'exec'>
  binding: (binding: D1Database) => D1Database
  /** The statements recorded since the last file. */
  take: () => Made[]
}

/** These files send random requests, whose statements are in no list. */
const BY_CHANCE = /generated-requests|documented-bounds|fuzz/
const scope = globalThis as unknown as { statementPlans?: Recorder }
scope.statementPlans ??= recorder()
const { statementPlans } = scope
// Statements left by a previous file do not belong to this one.
statementPlans.take()

afterAll(async () => {
  const made = statementPlans.take()
  const file = String(expect.getState().testPath)
  const { STATEMENTS } = env as unknown as { STATEMENTS: Fetcher }
  await STATEMENTS.fetch('http://statements/', { method: 'POST', body: JSON.stringify({ file, made, byChance: BY_CHANCE.test(file) }) })
})

function recorder(): Recorder {
  const placesOf = new Map<string, Map<string, Set<number>>>()
  const known = new Set<string>()
  let made: Made[] = []
  /** Stores by their databases, from the first statement in a file that belongs to one store. */
  const storeOf = new WeakMap<SqlStorage, string>()
  let ofShared: { one: Made; sql: SqlStorage }[] = []
  const note = (store: string, site: string, place: number | null, raw: string, values: readonly unknown[]): Made | null => {
    const key = `${store}\n${site}\n${place}\n${raw}`
    if (known.has(key)) return null
    known.add(key)
    const one = { store, site, place, ...normal(raw, values) }
    made.push(one)
    return one
  }
  return {
    builder: (site, place, builder) => {
      const text = textOf(builder as Built)
      const sites = placesOf.get(text) ?? new Map<string, Set<number>>()
      placesOf.set(text, sites)
      sites.set(site, (sites.get(site) ?? new Set()).add(place))
      const key = `${site}\n${place}`
      if (!known.has(key)) {
        known.add(key)
        made.push({ store: '', site, place, text: '', values: [] })
      }
      return builder
    },
    exec: (site, place, sql) => ({
      exec: (text: string, ...values: unknown[]) => {
        const own = storeOfFile(site)
        if (own) storeOf.set(sql, own)
        if (/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) {
          const one = note(own ?? storeOf.get(sql) ?? '', site, place, text, values)
          if (one && one.store === '') ofShared.push({ one, sql })
        } else note(own ?? '', site, place, '', [])
        return sql.exec(text, ...values)
      },
    }),
    binding: (binding) =>
      new Proxy(binding, {
        get(target, name) {
          const value = Reflect.get(target, name, target) as unknown
          if (name !== 'prepare') return typeof value === 'function' ? value.bind(target) : value
          return (text: string) => {
            const statement = target.prepare(text)
            return new Proxy(statement, {
              get(one, called) {
                if (called !== 'bind') return Reflect.get(one, called, one) as unknown
                return (...values: unknown[]) => {
                  const sites = [...(placesOf.get(text) ?? new Map([['?', new Set([null])]]))]
                  for (const [site, places] of sites) for (const place of places) note('d1', site, place, text, values)
                  return one.bind(...values)
                }
              },
            })
          }
        },
      }),
    take: () => {
      for (const { one, sql } of ofShared) one.store = storeOf.get(sql) ?? ''
      ofShared = []
      const taken = made
      made = []
      return taken
    },
  }
}

/** The parts of a drizzle statement, by the method that began it. */
interface Built {
  toSQL?: () => { sql: string }
  getQuery?: () => { sql: string }
  session?: { dialect: { sqlToQuery: (sql: unknown) => { sql: string } } }
  sql?: unknown
}

/** The text of a statement as far as it is built. */
function textOf(builder: Built): string {
  try {
    if (builder.toSQL) return builder.toSQL().sql
    if (builder.getQuery) return builder.getQuery().sql
    return builder.session?.dialect.sqlToQuery(builder.sql).sql ?? ''
  } catch {
    // A part of a statement without meaning of its own.
    return ''
  }
}
