import type { SearchQuery } from '../../contract/list-query.ts'
import { Problem } from '../../contract/problems.ts'
import type { CreateGlobalVolumeRequest, GlobalVolume } from '../../contract/resources/global-volumes.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/global-volumes.ts'
import { buryVolume } from '../../db/resources/volume-tombstones.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { nearEnv } from '../near-reads.ts'
import { orNotFound } from '../or-not-found.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { assertDeleted, tooMany } from './resource-problems.ts'

const KIND = 'global-volume'

/**
 * Creates a global volume (GLV-1, IDEM-2). Throws 403, 409 and 422 (its key is in use), and 400 when the account has one of that name
 * (GLV-2).
 */
export async function createGlobalVolume(
  ctx: VerbContext,
  body: CreateGlobalVolumeRequest,
  key: string | undefined,
): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:write')
  const volume = await onceForKey<GlobalVolume>(ctx, 'createGlobalVolume', key, body, (store) => writeGlobalVolume(ctx, body.name, store))
  reportTag(ctx, tagOfGlobalVolume(ctx, volume))
  return volume
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

/** Returns one volume. Throws 403 and 404. */
export async function getGlobalVolume(ctx: VerbContext, id: string): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:read')
  const volume = await findVolume(ctx, id)
  reportTag(ctx, tagOfGlobalVolume(ctx, volume))
  return toGlobalVolume(volume)
}

/** Returns all volumes of the account that match a search. Throws 403. */
export async function listGlobalVolumes(ctx: VerbContext, search: SearchQuery = {}): Promise<GlobalVolume[]> {
  requireScope(ctx.principal, 'volumes:read')
  return (await table.listGlobalVolumes(openDatabase((await nearEnv(ctx)).DB), ctx.principal.teamId, search)).map(toGlobalVolume)
}

/** Renames a volume. Throws 400 (name taken), 403, 404, and 409 after too many concurrent changes. */
export async function renameGlobalVolume(ctx: VerbContext, id: string, name: string): Promise<GlobalVolume> {
  requireScope(ctx.principal, 'volumes:write')
  const note = noteChange(ctx, { action: 'global-volumes.update', resourceKind: KIND, resourceId: id, before: {}, after: { name } })
  return decideAgain('global volume', async () => {
    const before = await findVolume(ctx, id)
    requireMatch(ctx, tagOfGlobalVolume(ctx, before))
    const outcome = await table.renameGlobalVolume(openDatabase(ctx.env.DB), before, name, [note])
    if (outcome === 'nameTaken') throw nameTaken()
    if (outcome === 'changed') return null
    reportTag(ctx, tagOfGlobalVolume(ctx, outcome))
    return toGlobalVolume(outcome)
  })
}

/** Deletes a volume that no live pod mounts (GLV-2); a host wipes its data (GLV-4). Throws 400, 403 and 404. */
export async function deleteGlobalVolume(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'volumes:write')
  const { teamId } = ctx.principal
  const db = openDatabase(ctx.env.DB)
  const note = noteChange(ctx, { action: 'global-volumes.delete', resourceKind: KIND, resourceId: id, ...DELETED })
  const tombstone = buryVolume(db, { volumeId: id, kind: 'global', teamId, dataCenterId: null, sizeGb: null, deletedAt: ctx.nowMs })
  await decideAgain('global volume', async () => {
    const before = await findVolume(ctx, id)
    requireMatch(ctx, tagOfGlobalVolume(ctx, before))
    return assertDeleted(await table.deleteGlobalVolume(db, before, [note, tombstone]), `global volume ${id}`)
  })
}

/** Returns the tag of a volume, over the fields that a PATCH may change. */
export function tagOfGlobalVolume({ env }: VerbContext, { id, name }: Pick<table.GlobalVolumeRow, 'id' | 'name'>): string {
  return contentTag(env, KIND, id, name)
}

async function findVolume({ env, principal }: VerbContext, id: string): Promise<table.GlobalVolumeRow> {
  return orNotFound(await table.findGlobalVolume(openDatabase(env.DB), principal.teamId, id))
}

function nameTaken(): Problem {
  return new Problem('badRequest', { detail: 'Global volume name must be unique.', code: 'RULE' })
}

function toGlobalVolume({ id, name, createdAt, usedBytes, usedAtMs }: table.GlobalVolumeRow): GlobalVolume {
  return { id, name, createdAt: formatTime(createdAt), usedBytes, usedAt: usedAtMs === null ? null : formatTime(usedAtMs) }
}
