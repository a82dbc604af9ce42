import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CLOUDS } from '../../../contract/enums.ts'

/**
 * The placement index (adr/0074): what is free on the hosts that take new workloads. A row per host for workloads without GPUs, whose type
 * is '', and one for each GPU type with free GPUs. Triggers write it from the view `host_openings` in the statement that changes a host;
 * nothing else may.
 */
export const openings = sqliteTable(
  'openings',
  {
    hostId: text('host_id').notNull(),
    gpuTypeId: text('gpu_type_id').notNull(),
    dataCenterId: text('data_center_id').notNull(),
    cloud: text('cloud', { enum: CLOUDS }).notNull(),
    /** The account that a host for one account at a time is for; '': any. */
    tenant: text('tenant').notNull(),
    /** Free GPUs of all types of the host. */
    gpusFree: integer('gpus_free').notNull(),
    vcpuFree: real('vcpu_free').notNull(),
    /** Free GPUs of this type. */
    free: integer('free').notNull(),
    memoryMbFree: integer('memory_mb_free').notNull(),
    diskGbFree: integer('disk_gb_free').notNull(),
  },
  (t) => {
    const order = [t.gpusFree, t.vcpuFree, t.hostId, t.free, t.memoryMbFree, t.diskGbFree] as const
    return [
      primaryKey({ columns: [t.hostId, t.gpuTypeId] }),
      index('openings_anywhere').on(t.gpuTypeId, t.cloud, t.tenant, ...order),
      index('openings_in_place').on(t.gpuTypeId, t.dataCenterId, t.cloud, t.tenant, ...order),
    ]
  },
)
