import type Docker from 'dockerode'
import type { ContainerUsage } from '../../engine/engine.ts'
import { orUndefined } from '../../engine/engine-errors.ts'
import type { Traffic } from '../../runtime.ts'

/** Current resource use of a container; undefined when it does not run. */
export async function readUsage(docker: Docker, name: string): Promise<ContainerUsage | undefined> {
  const stats = await orUndefined(docker.getContainer(name).stats({ stream: false, 'one-shot': true }))
  const { usage, limit, stats: detail } = stats?.memory_stats ?? {}
  if (stats === undefined || usage === undefined || limit === undefined) return undefined
  // Page cache that the kernel can free at once; the field depends on the version of the control groups.
  const cache = detail?.inactive_file ?? detail?.total_inactive_file ?? 0
  return {
    cpuNanos: stats.cpu_stats.cpu_usage.total_usage,
    // An engine in a virtual machine may omit this field, although its declared type does not.
    throttledNanos: stats.cpu_stats.throttling_data?.throttled_time,
    memoryBytes: Math.max(0, usage - cache),
    memoryLimitBytes: limit,
    traffic: trafficOf(stats),
  }
}

interface EngineTraffic {
  /** Absent where a container shares the network of another. */
  networks?: Record<string, { rx_bytes: number; tx_bytes: number }> | undefined
  blkio_stats?: { io_service_bytes_recursive?: { op: string; value: number }[] | null } | undefined
}

/** Bytes through the networks of a container, loopback excluded, and to and from disks. */
export function trafficOf({ networks, blkio_stats: disks }: EngineTraffic): Traffic {
  const interfaces = networks && Object.values(networks)
  const moved = disks?.io_service_bytes_recursive ?? undefined
  const ofDisks = (op: string) => moved?.reduce((sum, { op: name, value }) => (name.toLowerCase() === op ? sum + value : sum), 0)
  return {
    received: interfaces?.reduce((sum, { rx_bytes: bytes }) => sum + bytes, 0),
    sent: interfaces?.reduce((sum, { tx_bytes: bytes }) => sum + bytes, 0),
    read: ofDisks('read'),
    written: ofDisks('write'),
  }
}
