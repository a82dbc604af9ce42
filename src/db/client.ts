import { drizzle } from 'drizzle-orm/d1'
import { type MasterSecrets, type Vault, vaultOf } from '../platform/seal.ts'
import * as schema from './schema.ts'

export type Database = ReturnType<typeof openDatabase>

/** The typed D1 client. Sharding teams over several databases later means choosing one here, by the team id's prefix. */
export function openDatabase(binding: D1Database) {
  return drizzle(binding, { schema })
}

/** A database whose records hold sealed parts, with what opens them. */
export type Records = Database & { readonly vault: Vault }

/** The client for records with sealed parts (PP-211). */
export function openRecords(env: MasterSecrets & { DB: D1Database }): Records {
  return Object.assign(openDatabase(env.DB), { vault: vaultOf(env) })
}

/** One statement of a batch. */
export type Statement = Parameters<Database['batch']>[0][number]
