import { openDatabase, type Statement } from '../../db/client.ts'
import { findDataCenterOf } from '../../db/hosts/data-centers.ts'
import { completeWipes, deleteWiped, listInherited, listToWipe, noteWiped, type VolumeReach } from '../../db/resources/volume-tombstones.ts'
import { listSizes, noteGlobalUse, noteNetworkUse } from '../../db/resources/volume-use.ts'
import type { Env } from '../../env.ts'
import { VOLUMES_MAX, type VolumesRequest, type VolumesResponse } from '../../host-protocol/volumes.ts'
import type { Owned } from '../../objects/owned.ts'

/** How long a wiped volume is shown, and sent to hosts that take over the volumes of removed hosts. */
export const TOMBSTONE_RETENTION_MS = 30 * 24 * 3600 * 1000
/** Overlap for answers of two isolates whose clocks differ. */
const CLOCK_OVERLAP_MS = 60_000

/**
 * Records a host's report about volumes that its workloads mount or mounted; returns those to wipe and the sizes of those that it holds
 * (VOL-6 to VOL-10, EDG-1 to EDG-4). Other volumes are neither changed nor returned.
 */
export async function exchangeVolumes(env: Env, host: Owned<'host'>, request: VolumesRequest, nowMs: number): Promise<VolumesResponse> {
  const db = openDatabase(env.DB)
  const dataCenterId = await findDataCenterOf(db, host.id)
  if (dataCenterId === null) return { nowMs, wipe: [], sizes: [] }
  const oldestMs = nowMs - TOMBSTONE_RETENTION_MS
  const sinceMs = request.since === null ? oldestMs : request.since - CLOCK_OVERLAP_MS
  const reach: VolumeReach = { hostId: host.id, dataCenterId, kinds: request.kinds, sinceMs }
  const [own, inherited, sizes] = await db.batch([
    listToWipe(db, reach, VOLUMES_MAX),
    listInherited(db, reach, VOLUMES_MAX),
    listSizes(db, host.id, request.held),
    ...takeIn(),
  ])
  const done = new Set(request.wiped.map(({ id }) => id))
  const wipe = new Map([...own, ...inherited].filter(({ id }) => !done.has(id)).map((ref) => [ref.id, ref]))
  return { nowMs, wipe: [...wipe.values()], sizes }

  function takeIn(): Statement[] {
    const { wiped, used } = request
    const ids = wiped.map(({ id }) => id)
    const has = (kind: 'network' | 'global') => used.some((use) => use.kind === kind)
    return [
      ...(ids.length > 0 ? [noteWiped(db, reach, ids, nowMs), completeWipes(db, nowMs), ...deleteWiped(db, oldestMs)] : []),
      ...(has('network') ? [noteNetworkUse(db, host.id, used, nowMs)] : []),
      ...(has('global') ? [noteGlobalUse(db, host.id, used, nowMs)] : []),
    ]
  }
}
