import { eq, isNotNull } from 'drizzle-orm'
import type { RuntimeClass } from '../../host-protocol/messages.ts'
import type { Database } from '../client.ts'
import { teams } from '../tables/accounts.ts'

/** What must run the containers of an account; null: whatever a host has. */
export async function findRuntimeClass(db: Database, teamId: string): Promise<RuntimeClass | null> {
  const row = await db.select({ runtimeClass: teams.runtimeClass }).from(teams).where(eq(teams.id, teamId)).get()
  return row?.runtimeClass ?? null
}

export async function setRuntimeClass(db: Database, teamId: string, runtimeClass: RuntimeClass | null): Promise<void> {
  await db.update(teams).set({ runtimeClass }).where(eq(teams.id, teamId))
}

/** Every account of which the operator requires something. A statement of a batch. */
export function selectRequirements(db: Database) {
  return db.select({ teamId: teams.id, runtimeClass: teams.runtimeClass }).from(teams).where(isNotNull(teams.runtimeClass))
}
