import { sql } from 'drizzle-orm'
import { index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { POD_STATUSES } from '../../../contract/enums.ts'
import type { Labels } from '../../../domain/pod/labels.ts'
import type { PodSpec } from '../../../domain/pod/record.ts'
import type { Sealed } from '../../sealed-env.ts'
import { teamId } from '../accounts/accounts.ts'

/** A stored spec. `accessEnv` is present in rows of a release without sealing. */
export type SealedPodSpec = Sealed<PodSpec> & { sealedAccessEnv?: string }

/**
 * Pods. One row is the whole state of a pod: every transition is an UPDATE guarded by `version`, and the desired state of its host is
 * derived from the row. Terminated pods keep a row without their program for a while (POD-76).
 */
export const pods = sqliteTable(
  'pods',
  {
    id: text('id').primaryKey(),
    teamId: teamId(),
    name: text('name').notNull(),
    status: text('status', { enum: POD_STATUSES }).notNull(),
    /** Rises with every change. */
    version: integer('version').notNull(),
    /** Number of its current container; the workload's id is `<id>-<generation>`. */
    generation: integer('generation').notNull(),
    spec: text('spec', { mode: 'json' }).$type<SealedPodSpec>().notNull(),
    /** Whether the current container continues with the writable layer of the previous one. */
    keepsDisk: integer('keeps_disk', { mode: 'boolean' }).notNull(),
    /** Whether the next start must not reuse the writable layer: the container was changed, or is gone. */
    diskStale: integer('disk_stale', { mode: 'boolean' }).notNull(),
    hostLost: integer('host_lost', { mode: 'boolean' }).notNull(),
    statusReason: text('status_reason'),
    locked: integer('locked', { mode: 'boolean' }).notNull(),
    hostId: text('host_id').notNull(),
    dataCenterId: text('data_center_id').notNull(),
    cudaVersion: text('cuda_version'),
    vcpus: real('vcpus').notNull(),
    memoryMb: integer('memory_mb').notNull(),
    publicIp: text('public_ip'),
    /** Live port mappings of the running container. */
    ports: text('ports', { mode: 'json' }).$type<{ private: number; public: number; type: string }[]>().notNull(),
    /** 8 hex digits of the SSH proxy's user name (NET-2). */
    sshSuffix: text('ssh_suffix').notNull(),
    /** USD per hour for the whole pod while it is not stopped (POD-19). */
    pricePerHour: real('price_per_hour').notNull(),
    templateId: text('template_id'),
    networkVolumeId: text('network_volume_id'),
    globalVolumeId: text('global_volume_id'),
    registryId: text('registry_id'),
    clusterId: text('cluster_id'),
    /** Rank among the members of its cluster, from 0; constant when the member moves. */
    clusterRank: integer('cluster_rank'),
    /** Address on the network of its cluster. */
    clusterIp: text('cluster_ip'),
    /** The newest generation that may start; members wait until the others are ready. Null: the pod is not a cluster member. */
    readyGeneration: integer('ready_generation'),
    /** Hosts on which a member could not be started; null once it has run or was given up, and for a pod that is not a cluster member. */
    triedHosts: text('tried_hosts', { mode: 'json' }).$type<string[]>(),
    /** Address on the network of its account, with global networking. */
    globalIp: text('global_ip'),
    /** When its container started, as its host reports; `charged_from` is later if its host was silent for a while. */
    startedAtMs: integer('started_at'),
    chargedFromMs: integer('charged_from'),
    /** When the last transition happened; events of a host never count as older. */
    changedAtMs: integer('changed_at').notNull(),
    createdAtMs: integer('created_at').notNull(),
    /** When the platform stops it; null: never. */
    stopAfterMs: integer('stop_after'),
    /** When the platform terminates it; null: never. */
    terminateAfterMs: integer('terminate_after'),
    /**
     * Hourly cost of its disks while it runs and while it is stopped, in billionths of a USD; 0 in rows of a release that did not charge
     * disks.
     */
    diskNanosPerHour: integer('disk_nanos_per_hour').notNull().default(0),
    stoppedDiskNanosPerHour: integer('stopped_disk_nanos_per_hour').notNull().default(0),
    /** Start of the charge of the disks of a stopped pod; null while it runs. */
    diskChargedFromMs: integer('disk_charged_from'),
    labels: text('labels', { mode: 'json' }).$type<Labels>().notNull().default({}),
  },
  (t) => [
    index('pods_due').on(t.stopAfterMs).where(sql`${t.stopAfterMs} IS NOT NULL`),
    index('pods_end_due').on(t.terminateAfterMs).where(sql`${t.terminateAfterMs} IS NOT NULL`),
    // Both hold all that search and counts read, so that they open matching rows alone (PAG-23).
    index('pods_team_created').on(t.teamId, t.createdAtMs, t.id, t.status, t.name, t.clusterId).where(sql`${t.status} <> 'TERMINATED'`),
    index('pods_team_names')
      .on(t.teamId, sql`${t.name} COLLATE NOCASE`, t.id, t.status, t.createdAtMs, t.clusterId)
      .where(sql`${t.status} <> 'TERMINATED'`),
    // Holds all that the filter reads, so that it opens matching rows alone (LBL-5). Terminated pods have no labels.
    index('pods_team_labels').on(t.teamId, t.createdAtMs, t.id, t.labels).where(sql`${t.labels} <> '{}'`),
    index('pods_former').on(t.changedAtMs).where(sql`${t.status} = 'TERMINATED'`),
    index('pods_team_former').on(t.teamId, t.changedAtMs).where(sql`${t.status} = 'TERMINATED'`),
    index('pods_host').on(t.hostId).where(sql`${t.status} <> 'TERMINATED'`),
    index('pods_network_volume').on(t.networkVolumeId).where(sql`${t.networkVolumeId} IS NOT NULL`),
    index('pods_global_volume').on(t.globalVolumeId).where(sql`${t.globalVolumeId} IS NOT NULL`),
    uniqueIndex('pods_cluster_rank').on(t.clusterId, t.clusterRank).where(sql`${t.clusterId} IS NOT NULL AND ${t.status} <> 'TERMINATED'`),
    uniqueIndex('pods_global_ip').on(t.teamId, t.globalIp).where(sql`${t.globalIp} IS NOT NULL AND ${t.status} <> 'TERMINATED'`),
    index('pods_template').on(t.templateId).where(sql`${t.templateId} IS NOT NULL`),
    index('pods_registry').on(t.registryId).where(sql`${t.registryId} IS NOT NULL`),
  ],
)
