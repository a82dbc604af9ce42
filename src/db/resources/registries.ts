import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { hasRoom } from '../bounds.ts'
import type { Database, Statement } from '../client.ts'
import { registries } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type DeleteOutcome, deleteUnused } from './delete-unused.ts'
import { usersOfRegistry } from './resource-users.ts'

export type RegistryRow = typeof registries.$inferSelect
/** Fields that may be shown (REG-1). Only `findSealedRegistry` reads the sealed columns. */
type RegistryName = Pick<RegistryRow, 'id' | 'name' | 'host'>

const SHOWN = { id: registries.id, name: registries.name, host: registries.host }

/** Stores a credential; false when the account has reached the bound. `together`: statements that depend on whether it was stored. */
export async function insertRegistry(db: Database, row: RegistryRow, together: readonly Statement[]): Promise<boolean> {
  const [result] = await db.batch([
    db.insert(registries).select(selectOf(registries, row, sql`WHERE ${hasRoom(registries, row.teamId)}`)),
    ...together,
  ])
  return result.meta.changes > 0
}

/** A team's credential without its sealed parts, or undefined when it is unknown, deleted or another team's. */
export function findRegistry(db: Database, teamId: string, id: string): Promise<RegistryName | undefined> {
  return db.select(SHOWN).from(registries).where(ownedBy(teamId, id)).get()
}

/** A team's credential with its sealed parts, or undefined. */
export function findSealedRegistry(db: Database, teamId: string, id: string): Promise<RegistryRow | undefined> {
  return db.select().from(registries).where(ownedBy(teamId, id)).get()
}

/** A team's credentials without their sealed parts, oldest first (REG-1). */
export function listRegistries(db: Database, teamId: string): Promise<RegistryName[]> {
  return db.select(SHOWN).from(registries).where(eq(registries.teamId, teamId)).orderBy(asc(registries.createdAt), asc(registries.id)).all()
}

/** Binds a credential without a registry to `host`; an existing binding is kept (REG-20). */
export async function claimRegistry(db: Database, teamId: string, id: string, host: string): Promise<void> {
  await db
    .update(registries)
    .set({ host })
    .where(and(ownedBy(teamId, id), isNull(registries.host)))
}

/** Replaces the login of a team's credential; false when there is none with this id. */
export async function updateLogin(
  db: Database,
  teamId: string,
  id: string,
  login: Pick<RegistryRow, 'usernameSealed' | 'passwordSealed'>,
  together: readonly Statement[],
): Promise<boolean> {
  const [result] = await db.batch([db.update(registries).set(login).where(ownedBy(teamId, id)), ...together])
  return result.meta.changes > 0
}

/**
 * Deletes an unused credential if its login is still that of `before`; its foreign key clears it in templates in the same statement
 * (REG-2).
 */
export function deleteRegistry(db: Database, before: RegistryRow, together: readonly Statement[]): Promise<DeleteOutcome> {
  const { teamId, id, usernameSealed, passwordSealed } = before
  const isSame = and(eq(registries.usernameSealed, usernameSealed), eq(registries.passwordSealed, passwordSealed))
  return deleteUnused(db, registries, teamId, id, isSame, usersOfRegistry(teamId, id), together)
}

function ownedBy(teamId: string, id: string) {
  return and(eq(registries.teamId, teamId), eq(registries.id, id))
}
