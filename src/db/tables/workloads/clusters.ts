import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CLUSTER_TYPES, HOST_LOSS_POLICIES } from '../../../contract/enums.ts'
import { teamId } from '../accounts/accounts.ts'

/**
 * Clusters. The specs of their members are in the members' own rows; the cluster's object decides the steps of the members, serially. A
 * deleted cluster keeps its row until its last member is gone.
 */
export const clusters = sqliteTable(
  'clusters',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    type: text('type', { enum: CLUSTER_TYPES }).notNull(),
    gpuTypeId: text('gpu_type_id').notNull(),
    gpuCountPerPod: integer('gpu_count_per_pod').notNull(),
    podCount: integer('pod_count').notNull(),
    templateId: text('template_id'),
    /** The data center of all members. */
    dataCenterId: text('data_center_id').notNull(),
    /** Whether a member of a lost host is restarted elsewhere under its rank, or waits for the host. */
    onHostLoss: text('on_host_loss', { enum: HOST_LOSS_POLICIES }).notNull(),
    /** A secret that the members share beyond their spec, such as a munge key; sealed. Null: none. */
    sealedSecret: text('sealed_secret'),
    /** Rises with every change. */
    version: integer('version').notNull(),
    createdAtMs: integer('created_at').notNull(),
    /** When its user deleted it; null while it exists. */
    deletedAtMs: integer('deleted_at'),
  },
  (t) => [
    index('clusters_team_created').on(t.teamId, t.createdAtMs, t.id).where(sql`${t.deletedAtMs} IS NULL`),
    index('clusters_template').on(t.templateId).where(sql`${t.templateId} IS NOT NULL`),
    check('clusters_pod_count', sql`${t.podCount} BETWEEN 2 AND 250`),
  ],
)

/**
 * Private networks across hosts: one per cluster, and one per account for its pods with global networking. The slot determines both the
 * network's number on the wire and its address range, so no two existing networks of a kind share either.
 */
export const overlays = sqliteTable(
  'overlays',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    kind: text('kind', { enum: ['cluster', 'account'] }).notNull(),
    /** The cluster or account of the network. */
    ownerId: text('owner_id').notNull(),
    /** Unique among networks of the same kind. */
    slot: integer('slot').notNull(),
    /** Number of the current check of whether its members reach one another; 0: none was started. */
    checkNumber: integer('check_number').notNull().default(0),
    createdAtMs: integer('created_at').notNull(),
  },
  (t) => [uniqueIndex('overlays_owner').on(t.ownerId), uniqueIndex('overlays_slot').on(t.kind, t.slot)],
)
