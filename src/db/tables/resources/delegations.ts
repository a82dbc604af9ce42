import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { teamId } from '../accounts/accounts.ts'

/** Elastic Container Registry repositories that their owner allows this plane to pull from. */
export const delegations = sqliteTable(
  'delegations',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name'),
    delegatorUserId: text('delegator_user_id').notNull(),
    /** The twelve digits of the AWS account. */
    awsUser: text('aws_user').notNull(),
    awsRegion: text('aws_region').notNull(),
    repository: text('repository').notNull(),
    tag: text('tag').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [index('delegations_team_created').on(t.teamId, t.createdAt, t.id)],
)
