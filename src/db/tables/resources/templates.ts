import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { TemplateConfig } from '../../../domain/resources/record.ts'
import type { Sealed } from '../../sealed-env.ts'
import { teamId } from '../accounts/accounts.ts'
import { registries } from './registries.ts'

/** Templates of pods and endpoints (TPL-1). */
export const templates = sqliteTable(
  'templates',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    isPublic: integer('is_public', { mode: 'boolean' }).notNull(),
    /**
     * `container.registry` in the config is always null: the column below holds it, so that the deletion of a credential can clear it
     * (REG-2).
     */
    config: text('config', { mode: 'json' }).$type<Sealed<TemplateConfig>>().notNull(),
    registryId: text('registry_id').references(() => registries.id, { onDelete: 'set null' }),
    /** For guarded updates: `UPDATE … WHERE id = ? AND revision = ?`. */
    revision: integer('revision').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('templates_team_name').on(t.teamId, t.name),
    index('templates_team_created').on(t.teamId, t.createdAt, t.id),
    index('templates_team_names').on(t.teamId, sql`${t.name} COLLATE NOCASE`, t.id),
    index('templates_public').on(t.createdAt, t.id).where(sql`${t.isPublic} = 1`),
    index('templates_registry').on(t.registryId),
  ],
)
