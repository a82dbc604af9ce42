import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { VOLUME_TYPES } from '../../../contract/enums.ts'
import { teamId } from '../accounts/accounts.ts'

/** Volumes in one data center (VOL-1). */
export const networkVolumes = sqliteTable(
  'network_volumes',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    sizeGb: integer('size_gb').notNull(),
    dataCenterId: text('data_center_id').notNull(),
    type: text('type', { enum: VOLUME_TYPES }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** Start of the open charged interval; null in rows of a release that did not charge volumes. */
    chargedFromMs: integer('charged_from'),
    nanosPerHour: integer('nanos_per_hour').notNull().default(0),
    /** Sequence number of the open charged interval. */
    chargeSequence: integer('charge_sequence').notNull().default(0),
    /** Use that a host last reported, and when; null: none reported yet. */
    usedBytes: integer('used_bytes'),
    usedAtMs: integer('used_at'),
    /** Whether the host that reported the use enforces the size. */
    sizeEnforced: integer('size_enforced', { mode: 'boolean' }).notNull().default(false),
  },
  (t) => [index('network_volumes_team_created').on(t.teamId, t.createdAt, t.id)],
)

/** Volumes without a data center; the name is unique in the account (GLV-2). */
export const globalVolumes = sqliteTable(
  'global_volumes',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    createdAt: integer('created_at').notNull(),
    usedBytes: integer('used_bytes'),
    usedAtMs: integer('used_at'),
  },
  (t) => [uniqueIndex('global_volumes_team_name').on(t.teamId, t.name)],
)

/** Deleted volumes whose data a host still has to wipe. */
export const volumeTombstones = sqliteTable(
  'volume_tombstones',
  {
    volumeId: text('volume_id').primaryKey(),
    kind: text('kind', { enum: ['network', 'global'] }).notNull(),
    teamId: text('team_id').notNull(),
    /** The volume's data center; null for a global volume. */
    dataCenterId: text('data_center_id'),
    sizeGb: integer('size_gb'),
    deletedAt: integer('deleted_at').notNull(),
    /** When its data was wiped; the row is then retained for a while for the operator. */
    wipedAt: integer('wiped_at'),
  },
  (t) => [
    index('volume_tombstones_open').on(t.dataCenterId).where(sql`${t.wipedAt} IS NULL`),
    index('volume_tombstones_wiped').on(t.wipedAt),
  ],
)

/**
 * Relation of one host to a volume, also after either is gone (EDG-1). Triggers of the migration write a row when a pod is placed; a
 * worker's is written with its reservation. No statement clears `mounted_at`.
 */
export const volumeHosts = sqliteTable(
  'volume_hosts',
  {
    volumeId: text('volume_id').notNull(),
    hostId: text('host_id').notNull(),
    /** When a workload that mounts it was first placed there; null: the host may only have a copy. */
    mountedAt: integer('mounted_at'),
    /** When this host reported that nothing of it is left there. */
    wipedAt: integer('wiped_at'),
  },
  (t) => [primaryKey({ columns: [t.volumeId, t.hostId] }), index('volume_hosts_held').on(t.hostId).where(sql`${t.wipedAt} IS NULL`)],
)
