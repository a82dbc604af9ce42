import { and, eq } from 'drizzle-orm'
import type { CatalogKind, KeyedEntry } from '../../domain/catalog/entries.ts'
import type { Database, Statement } from '../client.ts'
import { teams } from '../tables/accounts/accounts.ts'
import { catalogEntries } from '../tables/billing/catalog.ts'

/** All catalog entries of the operator, by kind and id. */
export async function listCatalogEntries(db: Database): Promise<KeyedEntry[]> {
  const { kind, id, body } = catalogEntries
  const rows = await db.select({ kind, id, body }).from(catalogEntries).orderBy(kind, id)
  // The kind of a row determines the type of its body: this file is the only writer.
  return rows as KeyedEntry[]
}

/** Writes or replaces the operator's entry for an id. */
export async function putCatalogEntry(db: Database, { kind, id, body }: KeyedEntry, nowMs: number, note: Statement): Promise<void> {
  const set = { body, updatedAt: nowMs }
  await db.batch([
    db
      .insert(catalogEntries)
      .values({ kind, id, ...set })
      .onConflictDoUpdate({ target: [catalogEntries.kind, catalogEntries.id], set }),
    note,
  ])
}

/** Whether an account with this id exists. */
export async function hasTeam(db: Database, id: string): Promise<boolean> {
  return (await db.select({ id: teams.id }).from(teams).where(eq(teams.id, id)).get()) !== undefined
}

/** Deletes the operator's entry for an id. */
export async function deleteCatalogEntry(db: Database, kind: CatalogKind, id: string, note: Statement): Promise<void> {
  await db.batch([db.delete(catalogEntries).where(and(eq(catalogEntries.kind, kind), eq(catalogEntries.id, id))), note])
}
