import { and, eq, gt, lte } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { signInLinks } from '../schema.ts'

export type SignInLinkRow = typeof signInLinks.$inferSelect

/** Stores a link; deletes expired ones. */
export async function insertSignInLink(db: Database, row: SignInLinkRow, note: Statement): Promise<void> {
  await db.batch([db.delete(signInLinks).where(lte(signInLinks.expiresAt, row.createdAt)), db.insert(signInLinks).values(row), note])
}

/** The unexpired link with this hash. */
export function findSignInLink(db: Database, id: string, nowMs: number): Promise<SignInLinkRow | undefined> {
  return db.select().from(signInLinks).where(isOpen(id, nowMs)).get()
}

/** Deletes a link as it is used, so that it is used only once; undefined when there is no unexpired one with this hash. */
export function takeSignInLink(db: Database, id: string, nowMs: number): Promise<SignInLinkRow | undefined> {
  return db.delete(signInLinks).where(isOpen(id, nowMs)).returning().get()
}

function isOpen(id: string, nowMs: number) {
  return and(eq(signInLinks.id, id), gt(signInLinks.expiresAt, nowMs))
}
