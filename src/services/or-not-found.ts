import { Problem } from '../contract/problems.ts'
import { findUser, type UserRow } from '../db/accounts/accounts.ts'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../env.ts'

/** Returns what a search has found. Throws 404 for null and undefined. */
export function orNotFound<Found>(found: Found | null | undefined): Found {
  if (found === null || found === undefined) throw new Problem('notFound')
  return found
}

/** Returns the user with that id. Throws 404. */
export async function findUserOrThrow(env: Env, id: string): Promise<UserRow> {
  return orNotFound(await findUser(openDatabase(env.DB), id))
}
