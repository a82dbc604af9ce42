import type { DeletedVolume } from '../../contract/hosts/deleted-volumes.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listTombstones, type TombstoneRow, wipeByHand } from '../../db/resources/volume-tombstones.ts'
import type { Env } from '../../env.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'

/** Returns the deleted volumes whose data still has to be wiped, then the most recently wiped ones (VOL-8). */
export async function listDeletedVolumes(env: Env): Promise<DeletedVolume[]> {
  return (await listTombstones(openDatabase(env.DB))).map(toDeletedVolume)
}

/** Records that the operator has wiped a volume that no host can wipe (VOL-8). Throws 404 for a volume that is not waiting for it. */
export async function confirmWiped({ env, nowMs, ...ctx }: OperatorContext, id: string): Promise<void> {
  const change = { action: 'deleted-volumes.confirm', resourceKind: 'deleted-volume', resourceId: id, before: {}, after: null }
  const note = noteByOperator({ env, nowMs, ...ctx }, null, change)
  if (!(await wipeByHand(openDatabase(env.DB), id, nowMs, note))) throw new Problem('notFound')
}

function toDeletedVolume({ volumeId, kind, teamId, dataCenterId, sizeGb, deletedAt, wipedAt }: TombstoneRow): DeletedVolume {
  return {
    id: volumeId,
    kind,
    teamId,
    dataCenterId,
    size: sizeGb,
    deletedAt: formatTime(deletedAt),
    wipedAt: wipedAt === null ? null : formatTime(wipedAt),
  }
}
