import { drizzle } from 'drizzle-orm/d1'
import * as schema from './schema.ts'

export type Database = ReturnType<typeof openDatabase>

/** The typed D1 client. Sharding teams over several databases later means choosing one here, by the team id's prefix. */
export function openDatabase(binding: D1Database) {
  return drizzle(binding, { schema })
}

/** One statement of a batch. */
export type Statement = Parameters<Database['batch']>[0][number]
