import { openDatabase, type Statement } from '../../db/client.ts'
import { findDataCenterOf } from '../../db/hosts/data-centers.ts'
import { forgetWiped, listToWipe, listWipedElsewhere, noteWiped, type VolumeReach } from '../../db/resources/volume-tombstones.ts'
import { listSizes, noteGlobalUse, noteNetworkUse } from '../../db/resources/volume-use.ts'
import type { Env } from '../../env.ts'
import { VOLUMES_MAX, type VolumesRequest, type VolumesResponse } from '../../host-protocol/volumes.ts'
import type { Owned } from '../../objects/ownership/owned.ts'

/** How long a wiped volume is shown, and is asked of hosts that were away: they may hold a copy of their own. */
export const TOMBSTONE_KEPT_MS = 30 * 24 * 3600 * 1000
/** Answers of two isolates may come from clocks that differ. */
const CLOCK_OVERLAP_MS = 60_000

/** Takes what a host says of volumes and tells it what is to be wiped and how large those are that it holds (VOL-6 to VOL-9). */
export async function exchangeVolumes(env: Env, host: Owned<'host'>, request: VolumesRequest, nowMs: number): Promise<VolumesResponse> {
  const db = openDatabase(env.DB)
  const dataCenterId = await findDataCenterOf(db, host.id)
  if (dataCenterId === null) return { nowMs, wipe: [], sizes: [] }
  const reach: VolumeReach = { dataCenterId, kinds: request.kinds }
  const oldestMs = nowMs - TOMBSTONE_KEPT_MS
  const wipedSinceMs = request.since === null ? oldestMs : request.since - CLOCK_OVERLAP_MS
  const [open, elsewhere, sizes] = await db.batch([
    listToWipe(db, reach, VOLUMES_MAX),
    listWipedElsewhere(db, reach, wipedSinceMs, VOLUMES_MAX),
    listSizes(db, dataCenterId, request.held),
    ...takeIn(),
  ])
  const done = new Set(request.wiped.map(({ id }) => id))
  return { nowMs, wipe: [...open, ...elsewhere].filter(({ id }) => !done.has(id)), sizes }

  function takeIn(): Statement[] {
    const { wiped, used } = request
    const ids = wiped.map(({ id }) => id)
    const has = (kind: 'network' | 'global') => used.some((use) => use.kind === kind)
    return [
      ...(ids.length > 0 ? [noteWiped(db, reach, ids, nowMs), forgetWiped(db, oldestMs)] : []),
      ...(has('network') ? [noteNetworkUse(db, dataCenterId ?? '', used, nowMs)] : []),
      ...(has('global') ? [noteGlobalUse(db, used, nowMs)] : []),
    ]
  }
}
