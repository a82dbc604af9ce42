import { drizzle } from 'drizzle-orm/d1'
import { type MasterSecrets, type Vault, vaultOf } from '../platform/seal.ts'

export type Database = ReturnType<typeof openDatabase>

/**
 * The typed D1 client. To shard teams over several databases, choose one here by the prefix of the team id. It is created without a schema:
 * drizzle would go through all tables each time, which took a quarter of the Worker's processor time, and only its relational queries need
 * it.
 */
export function openDatabase(binding: D1Database) {
  return drizzle(binding)
}

/** A database whose records contain sealed parts, with the vault that opens them. */
export type Records = Database & { readonly vault: Vault }

/** The client for records with sealed parts (SEAL-2). */
export function openRecords(env: MasterSecrets & { DB: D1Database }): Records {
  return Object.assign(openDatabase(env.DB), { vault: vaultOf(env) })
}

/**
 * A view of the database for reads that need no state newer than `bookmark`: a near replica answers them if it has that state, else the
 * primary does (RATE-34).
 */
export function nearReplica(binding: D1Database, bookmark: string): D1Database {
  const session = binding.withSession(bookmark)
  return {
    prepare: (text) => session.prepare(text),
    batch: (statements) => session.batch(statements),
    exec: (text) => binding.exec(text),
    withSession: (constraint) => binding.withSession(constraint),
    dump: () => binding.dump(),
  }
}

/** Returns a bookmark of a state that contains every write that was answered before this call. */
export async function newestBookmark(binding: D1Database): Promise<string | null> {
  const session = binding.withSession('first-primary')
  await session.prepare('SELECT 1').run()
  return session.getBookmark()
}

/** Wraps a database so that the number of rows read by each call is reported to `count`, which is awaited before the result is returned. */
export function countingRows(binding: D1Database, count: (rows: number) => Promise<void>): D1Database {
  const batch = async <Row>(statements: D1PreparedStatement[]) => {
    const results = await binding.batch<Row>(statements.map((one) => originals.get(one) ?? one))
    await count(results.reduce((sum, { meta }) => sum + meta.rows_read, 0))
    return results
  }
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>()
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const counted = new Proxy(statement, {
      get(target, name) {
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values))
        // `raw` returns no statistics; at least the returned rows were read.
        if (name === 'raw') return async () => noted(await target.raw(), (rows) => rows.length)
        if (name === 'all' || name === 'run') return async () => noted(await target[name](), ({ meta }) => meta.rows_read)
        return Reflect.get(target, name, target)
      },
    })
    originals.set(counted, statement)
    return counted
  }
  const noted = async <Answer>(answer: Answer, rows: (answer: Answer) => number): Promise<Answer> => {
    await count(rows(answer))
    return answer
  }
  return new Proxy(binding, {
    get(target, name) {
      if (name === 'prepare') return (text: string) => wrap(target.prepare(text))
      return name === 'batch' ? batch : Reflect.get(target, name, target)
    },
  })
}

/** One statement of a batch. */
export type Statement = Parameters<Database['batch']>[0][number]
