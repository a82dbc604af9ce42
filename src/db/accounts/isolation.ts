import { and, eq, isNotNull } from 'drizzle-orm'
import type { RuntimeClass } from '../../host-protocol/messages.ts'
import type { Database, Statement } from '../client.ts'
import { teams } from '../tables/accounts/accounts.ts'

/** The runtime class that the containers of an account require; null: any. */
export async function findRuntimeClass(db: Database, teamId: string): Promise<RuntimeClass | null> {
  const row = await db.select({ runtimeClass: teams.runtimeClass }).from(teams).where(eq(teams.id, teamId)).get()
  return row?.runtimeClass ?? null
}

/** Sets the runtime class that an account requires; null removes the requirement. `note` is stored with it. */
export async function setRuntimeClass(db: Database, teamId: string, runtimeClass: RuntimeClass | null, note: Statement): Promise<void> {
  await db.batch([db.update(teams).set({ runtimeClass }).where(eq(teams.id, teamId)), note])
}

/** Accounts with a required runtime class, or this one alone. A statement of a batch. */
export function selectRequirements(db: Database, teamId?: string) {
  const which = and(isNotNull(teams.runtimeClass), teamId === undefined ? undefined : eq(teams.id, teamId))
  return db.select({ teamId: teams.id, runtimeClass: teams.runtimeClass }).from(teams).where(which)
}
