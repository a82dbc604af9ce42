import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SshKeyMaker } from '../../../domain/resources/ssh-key.ts'
import { teams } from './accounts.ts'

/** SSH public keys of an account, replaced as a whole (ACC-1). */
export const sshKeys = sqliteTable('ssh_keys', {
  teamId: text('team_id')
    .primaryKey()
    .references(() => teams.id),
  keys: text('keys', { mode: 'json' }).$type<string[]>().notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** Maker of each key, by line (DER-33); null, or without the line: not recorded. */
  makers: text('makers', { mode: 'json' }).$type<Record<string, SshKeyMaker>>(),
})
