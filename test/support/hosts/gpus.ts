import type { Inventory } from '../../../src/host-protocol/messages.ts'
import { env } from '../harness.ts'

/** A type offered in both clouds: 0.44 and 0.28 USD. */
export const GPU = 'NVIDIA L4'

/** GPUs of one type for a host's inventory. */
export function gpus(count = 1, typeId = GPU, cudaVersion: string | null = '12.8'): Pick<Inventory, 'gpus'> {
  return { gpus: [{ typeId, count, memoryMb: 24_576, driverVersion: null, cudaVersion, simulated: true }] }
}

/** Free GPUs of a machine, of all types together. */
export async function freeGpus(hostId: string): Promise<number> {
  const row = await env.DB.prepare('SELECT SUM(free) AS free FROM host_gpus WHERE host_id = ?').bind(hostId).first<{ free: number }>()
  return row?.free ?? -1
}
