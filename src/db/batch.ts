import type { Database, Statement } from './client.ts'

/**
 * Runs statements in one batch, in the order of their names, and returns the number of rows that each has changed; a null statement is left
 * out. By name, so that adding a statement in front does not shift which result is read.
 */
export async function runNamed<Name extends string>(
  db: Database,
  statements: Readonly<Record<Name, Statement | null>>,
): Promise<Record<Name, number>> {
  const names = (Object.keys(statements) as Name[]).filter((name) => statements[name] !== null)
  const [first, ...others] = names.flatMap((name) => statements[name] ?? [])
  const results = first ? ((await db.batch([first, ...others])) as D1Result[]) : []
  const changes = Object.fromEntries(Object.keys(statements).map((name) => [name, 0])) as Record<Name, number>
  for (const [i, name] of names.entries()) changes[name] = results[i]?.meta.changes ?? 0
  return changes
}
