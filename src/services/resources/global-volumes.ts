import { Problem } from '../../contract/problems.ts'
import type { CreateGlobalVolumeRequest, GlobalVolume } from '../../contract/resources/global-volumes.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/global-volumes.ts'
import { buryVolume } from '../../db/resources/volume-tombstones.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { requireScope } from '../require-scope.ts'
import { assertDeleted, tooMany } from './resource-problems.ts'

const KIND = 'global-volume'

/**
 * Creates a global volume (GLV-1, PP-125). Throws 403, 409 and 422 (its key is in use), and 400 when the account has one of that name
 * (GLV-2).
 */
export async function createGlobalVolume(
  ctx: VerbContext,
  body: CreateGlobalVolumeRequest,
  key: string | undefined,
): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:write')
  return onceForKey<GlobalVolume>(ctx, 'createGlobalVolume', key, body, (store) => writeGlobalVolume(ctx, body.name, store))
}

async function writeGlobalVolume(ctx: VerbContext, name: string, store: StoreAnswer<GlobalVolume>): Promise<GlobalVolume> {
  const volume = { id: newResourceId(), teamId: ctx.principal.teamId, name, createdAt: ctx.nowMs, usedBytes: null, usedAtMs: null }
  const answer = toGlobalVolume(volume)
  const note = noteChange(ctx, {
    action: 'global-volumes.create',
    resourceKind: KIND,
    resourceId: volume.id,
    before: null,
    after: { name },
  })
  const outcome = await table.insertGlobalVolume(openDatabase(ctx.env.DB), volume, [note, ...store(answer)])
  if (outcome === 'nameTaken') throw nameTaken()
  if (outcome === 'full') throw tooMany('global volumes')
  return answer
}

/** One volume. Throws 403 and 404. */
export async function getGlobalVolume(ctx: VerbContext, id: string): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:read')
  const volume = await table.findGlobalVolume(openDatabase(ctx.env.DB), ctx.principal.teamId, id)
  if (!volume) throw new Problem('notFound')
  return toGlobalVolume(volume)
}

/** All volumes of the account, newest first. Throws 403. */
export async function listGlobalVolumes(ctx: VerbContext): Promise<GlobalVolume[]> {
  requireScope(ctx.principal, 'volumes:read')
  return (await table.listGlobalVolumes(openDatabase(ctx.env.DB), ctx.principal.teamId)).map(toGlobalVolume)
}

/** Renames a volume. Throws 400 (name taken), 403 and 404. */
export async function renameGlobalVolume(ctx: VerbContext, id: string, name: string): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:write')
  const note = noteChange(ctx, { action: 'global-volumes.update', resourceKind: KIND, resourceId: id, before: {}, after: { name } })
  const outcome = await table.renameGlobalVolume(openDatabase(ctx.env.DB), ctx.principal.teamId, id, name, [note])
  if (outcome === 'nameTaken') throw nameTaken()
  if (outcome === 'unknown') throw new Problem('notFound')
  return toGlobalVolume(outcome)
}

/** Deletes a volume that no live pod mounts (GLV-2); a host wipes what is in it (GLV-4). Throws 400, 403 and 404. */
export async function deleteGlobalVolume(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'volumes:write')
  const { teamId } = ctx.principal
  const db = openDatabase(ctx.env.DB)
  if (!(await table.findGlobalVolume(db, teamId, id))) throw new Problem('notFound')
  const note = noteChange(ctx, { action: 'global-volumes.delete', resourceKind: KIND, resourceId: id, ...DELETED })
  const tombstone = buryVolume(db, { volumeId: id, kind: 'global', teamId, dataCenterId: null, sizeGb: null, deletedAt: ctx.nowMs })
  assertDeleted(await table.deleteGlobalVolume(db, teamId, id, [note, tombstone]), `global volume ${id}`)
}

function nameTaken(): Problem {
  return new Problem('badRequest', { detail: 'Global volume name must be unique.', code: 'RULE' })
}

function toGlobalVolume({ id, name, createdAt, usedBytes, usedAtMs }: table.GlobalVolumeRow): GlobalVolume {
  return { id, name, createdAt: formatTime(createdAt), usedBytes, usedAt: usedAtMs === null ? null : formatTime(usedAtMs) }
}
