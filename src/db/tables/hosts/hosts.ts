import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CLOUDS, HOST_STATUSES } from '../../../contract/enums.ts'
import type { GpuProblem, Inventory } from '../../../host-protocol/messages.ts'

/** Single-use tokens with which a host joins. Only a SHA-256 of the token is stored, in hex. */
export const joinTokens = sqliteTable(
  'join_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    /** Public id of the token, for the operator; null in rows of a release that did not list tokens. */
    id: text('id'),
    name: text('name'),
    dataCenterId: text('data_center_id').notNull(),
    cloud: text('cloud', { enum: CLOUDS }).notNull().default('SECURE'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
    usedByHostId: text('used_by_host_id'),
  },
  (t) => [uniqueIndex('join_tokens_id').on(t.id), index('join_tokens_expiry').on(t.expiresAt)],
)

/**
 * GPU hosts. The `*_free` columns are recomputed from the allocations inside the batch that changes them, so they cannot drift, and their
 * CHECK makes a batch that would oversubscribe the host fail as a whole.
 */
export const hosts = sqliteTable(
  'hosts',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    dataCenterId: text('data_center_id').notNull(),
    /** ONLINE: linked and beating. OFFLINE: not. REMOVED: enrolment withdrawn. */
    status: text('status', { enum: [...HOST_STATUSES, 'REMOVED'] }).notNull(),
    /** Ed25519 public key, the `x` of its JWK. */
    publicKeyX: text('public_key_x').notNull(),
    epoch: integer('epoch').notNull(),
    inventory: text('inventory', { mode: 'json' }).$type<Inventory>().notNull(),
    vcpuTotal: real('vcpu_total').notNull(),
    vcpuFree: real('vcpu_free').notNull(),
    memoryMbTotal: integer('memory_mb_total').notNull(),
    memoryMbFree: integer('memory_mb_free').notNull(),
    diskGbTotal: integer('disk_gb_total').notNull(),
    diskGbFree: integer('disk_gb_free').notNull(),
    createdAt: integer('created_at').notNull(),
    /** When it last came online; the host's object has the last beat. */
    lastSeenAt: integer('last_seen_at'),
    cloud: text('cloud', { enum: CLOUDS }).notNull().default('SECURE'),
    /** When it was cordoned, since which it gets no new workloads; null when it is not cordoned. */
    cordonedAt: integer('cordoned_at'),
    cordonReason: text('cordon_reason'),
    cordonBy: text('cordon_by', { enum: ['operator', 'health'] }),
    /** Whether the operator drains the host. */
    draining: integer('draining', { mode: 'boolean' }).notNull().default(false),
    /** Address at which its ports are reached from outside, if its agent is configured with one. */
    publicIp: text('public_ip'),
    /** When it was OFFLINE for long enough to count as lost. */
    lostAt: integer('lost_at'),
    /** Current problems of its GPUs. */
    gpuProblems: text('gpu_problems', { mode: 'json' }).$type<GpuProblem[]>().notNull().default([]),
  },
  (t) => [
    index('hosts_status').on(t.status),
    index('hosts_data_center').on(t.dataCenterId),
    check('hosts_vcpu', sql`${t.vcpuFree} >= 0`),
    check('hosts_memory', sql`${t.memoryMbFree} >= 0`),
    check('hosts_disk', sql`${t.diskGbFree} >= 0`),
  ],
)

export const hostGpus = sqliteTable(
  'host_gpus',
  {
    hostId: text('host_id')
      .notNull()
      .references(() => hosts.id),
    gpuTypeId: text('gpu_type_id').notNull(),
    cudaVersion: text('cuda_version'),
    total: integer('total').notNull(),
    free: integer('free').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.hostId, t.gpuTypeId] }),
    index('host_gpus_type').on(t.gpuTypeId, t.free),
    check('host_gpus_free', sql`${t.free} >= 0`),
  ],
)

/** One row per workload with capacity on a host. Its id is the workload's. */
export const allocations = sqliteTable(
  'allocations',
  {
    id: text('id').primaryKey(),
    teamId: text('team_id').notNull(),
    hostId: text('host_id')
      .notNull()
      .references(() => hosts.id),
    kind: text('kind', { enum: ['worker', 'pod'] }).notNull(),
    ownerId: text('owner_id').notNull(),
    gpuTypeId: text('gpu_type_id'),
    gpuCount: integer('gpu_count').notNull(),
    vcpu: real('vcpu').notNull(),
    memoryMb: integer('memory_mb').notNull(),
    diskGb: integer('disk_gb').notNull(),
    createdAt: integer('created_at').notNull(),
    /** Start of a worker's charge, when its container started. Null until then, and for pods, whose own row has it. */
    chargedFromMs: integer('charged_from'),
    gpuNanosPerHour: integer('gpu_nanos_per_hour').notNull().default(0),
    cpuNanosPerHour: integer('cpu_nanos_per_hour').notNull().default(0),
    diskNanosPerHour: integer('disk_nanos_per_hour').notNull().default(0),
  },
  (t) => [index('allocations_host').on(t.hostId), index('allocations_owner').on(t.ownerId), index('allocations_team').on(t.teamId)],
)
