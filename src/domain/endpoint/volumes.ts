import { type Refusal, refused } from '../../contract/problems.ts'
import type { WorkloadMount } from '../../host-protocol/messages.ts'
import type { EndpointConfig } from './record.ts'

/** The mount path of a network volume in workers (END-20). */
export const WORKER_VOLUME_PATH = '/runpod-volume'

/** The facts of a network volume that decide where workers may run. */
export interface PlacedVolume {
  id: string
  dataCenterId: string
}

/** A configuration with the locations of its volumes, or the refusal. */
export type VolumesResult = { ok: true; config: EndpointConfig } | { ok: false; problem: Refusal }

/**
 * Adds the locations of its network volumes to a configuration, or refuses them (END-20, END-21). `found`: those of its volumes that belong
 * to the account.
 */
export function placeVolumes(config: EndpointConfig, found: readonly PlacedVolume[]): VolumesResult {
  const { volumeAt: _volumeAt, ...rest } = config
  if (config.networkVolumes.length === 0) return { ok: true, config: rest }
  const volumeAt: Record<string, string> = {}
  for (const id of config.networkVolumes) {
    const volume = found.find((candidate) => candidate.id === id)
    if (!volume) return refused(`network volume ${id} not found`)
    const other = volumeAt[volume.dataCenterId]
    if (other === id) return refused(`networkVolumes: ${id} is listed twice`)
    if (other) return refused(`networkVolumes: ${other} and ${id} are both in ${volume.dataCenterId}; list one for each data center`)
    volumeAt[volume.dataCenterId] = id
  }
  const placed = { ...rest, volumeAt }
  if (workerDataCenters(placed).length > 0) return { ok: true, config: placed }
  const places = Object.keys(volumeAt).join(', ')
  return refused(`networkVolumes: workers run in the data center of a volume (${places}), and dataCenterIds has none of these`)
}

/** The data centers where workers may run, in order of preference; empty: any (END-20). */
export function workerDataCenters({ dataCenterIds, volumeAt }: Pick<EndpointConfig, 'dataCenterIds' | 'volumeAt'>): string[] {
  if (volumeAt === undefined) return dataCenterIds
  return dataCenterIds.length === 0 ? Object.keys(volumeAt) : dataCenterIds.filter((id) => volumeAt[id] !== undefined)
}

/** The mounts of a worker in a data center. */
export function workerMounts({ volumeAt }: Pick<EndpointConfig, 'volumeAt'>, dataCenterId: string): WorkloadMount[] {
  const id = volumeAt?.[dataCenterId]
  return id === undefined ? [] : [{ kind: 'network', id, path: WORKER_VOLUME_PATH }]
}
