import { type SQL, sql } from 'drizzle-orm'

/** The name of a refusal by the CHECK of a host: it lacks capacity. */
const CAPACITY = 'capacity'

/**
 * A condition that holds when all `conditions` do. Otherwise it fails the whole batch under the name of one that does not hold, which
 * `outcomeOf` returns. The order in which SQLite evaluates them is open.
 */
export function required(conditions: Readonly<Record<string, SQL>>): SQL {
  const each = Object.entries(conditions).map(([name, condition]) => sql`CASE WHEN ${condition} THEN TRUE ELSE ${refuse(name)} END`)
  return sql`(${sql.join(each, sql` AND `)})`
}

/**
 * A value that fails the whole batch under a name when SQLite evaluates it. SQLite has RAISE in triggers only; a malformed JSON path fails a
 * statement too, and its error quotes the path. CASE and COALESCE do not evaluate the branches that they do not take.
 */
export function refuse(name: string): SQL {
  return sql.raw(`json_extract('{}', 'refused ${name}')`)
}

/** Awaits a batch: 'done', or the name of its refusal if it is one of `names`. Throws other errors. */
export async function outcomeOf<Name extends string>(batch: Promise<unknown>, names: readonly Name[]): Promise<'done' | Name> {
  try {
    await batch
    return 'done'
  } catch (error) {
    const refused = refusalOf(error)
    const name = names.find((known) => known === refused)
    if (name === undefined) throw error
    return name
  }
}

/** The name under which a batch was refused; null for other errors. */
export function refusalOf(error: unknown): string | null {
  if (isRefusedWith(error, 'CHECK constraint failed')) return CAPACITY
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const name = /bad JSON path: 'refused (\w+)'/.exec(cause.message)?.[1]
    if (name !== undefined) return name
  }
  return null
}

/** Whether SQLite refused a batch with this text, which D1 and drizzle wrap. */
export function isRefusedWith(error: unknown, text: string): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes(text)) return true
  }
  return false
}
