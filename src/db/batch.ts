import type { Database, Statement } from './client.ts'

/**
 * Runs statements in one batch, in the order of their names, and says how many rows each has changed; null stands for one that is left out.
 * By name, because a statement that is added in front must not shift whose result is read.
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
