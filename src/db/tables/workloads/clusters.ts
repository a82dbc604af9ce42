import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CLUSTER_TYPES, HOST_LOSS_POLICIES } from '../../../contract/enums.ts'
import { teams } from '../accounts/accounts.ts'

/**
 * Clusters. What their members run stands in the members' own rows; what happens to the members is decided by the cluster's object, one at a
 * time. A cluster that was deleted keeps its row until its last member is gone.
 */
export const clusters = sqliteTable(
  'clusters',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    name: text('name').notNull(),
    type: text('type', { enum: CLUSTER_TYPES }).notNull(),
    gpuTypeId: text('gpu_type_id').notNull(),
    gpuCountPerPod: integer('gpu_count_per_pod').notNull(),
    podCount: integer('pod_count').notNull(),
    templateId: text('template_id'),
    /** All members are there. */
    dataCenterId: text('data_center_id').notNull(),
    /** A member whose host is lost is started again elsewhere under its rank, instead of waiting for the host. */
    onHostLoss: text('on_host_loss', { enum: HOST_LOSS_POLICIES }).notNull(),
    /** What the members share beyond their specification, such as a munge key; sealed. Null: nothing. */
    sealedSecret: text('sealed_secret'),
    /** Rises with every change of any kind. */
    version: integer('version').notNull(),
    createdAtMs: integer('created_at').notNull(),
    /** Deleted by its user since then; null while it stands. */
    deletedAtMs: integer('deleted_at'),
  },
  (t) => [
    index('clusters_team_created').on(t.teamId, t.createdAtMs, t.id).where(sql`${t.deletedAtMs} IS NULL`),
    index('clusters_template').on(t.templateId).where(sql`${t.templateId} IS NOT NULL`),
    check('clusters_pod_count', sql`${t.podCount} BETWEEN 2 AND 250`),
  ],
)

/**
 * Private networks across hosts: one a cluster, and one an account for its pods with global networking. The slot names both the number on
 * the wire and the range of addresses, so no two networks that are there at a time share either.
 */
export const overlays = sqliteTable(
  'overlays',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id')
      .notNull()
      .references(() => teams.id),
    kind: text('kind', { enum: ['cluster', 'account'] }).notNull(),
    /** The cluster or the account that it is for. */
    ownerId: text('owner_id').notNull(),
    /** Among those of its kind. */
    slot: integer('slot').notNull(),
    /** Which question stands whether its members reach one another; 0: none has been asked. */
    checkNumber: integer('check_number').notNull().default(0),
    createdAtMs: integer('created_at').notNull(),
  },
  (t) => [uniqueIndex('overlays_owner').on(t.ownerId), uniqueIndex('overlays_slot').on(t.kind, t.slot)],
)
