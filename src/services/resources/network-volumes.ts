import type { SearchQuery } from '../../contract/list-query.ts'
import { problemOf } from '../../contract/problems.ts'
import type { CreateNetworkVolumeRequest, NetworkVolume, UpdateNetworkVolumeRequest } from '../../contract/resources/network-volumes.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/network-volumes.ts'
import { buryVolume } from '../../db/resources/volume-tombstones.ts'
import { changedMembers } from '../../domain/audit/change.ts'
import { networkVolumeNanosPerHour } from '../../domain/catalog/storage.ts'
import { createNetworkVolume, type NetworkVolumeRecord, patchNetworkVolume } from '../../domain/resources/network-volume.ts'
import { spendDemand } from '../../effects/billing/spend.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteChange } from '../audit.ts'
import { requireSpend } from '../billing/spend.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { nearEnv } from '../near-reads.ts'
import { orNotFound } from '../or-not-found.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { requireScope } from '../require-scope.ts'
import { findDataCenter } from './data-centers.ts'
import { assertDeleted, tooMany } from './resource-problems.ts'

const KIND = 'network-volume'

/** Creates a network volume (VOL-2, IDEM-2). Throws 400, 402, 403, 409 and 422 (its key is in use). */
export async function createVolume(ctx: VerbContext, body: CreateNetworkVolumeRequest, key: string | undefined): Promise<NetworkVolume> {
  requireScope(ctx.principal, 'volumes:write')
  const volume = await onceForKey<NetworkVolume>(ctx, 'createNetworkVolume', key, body, (store) => writeVolume(ctx, body, store))
  reportTag(ctx, tagOfVolume(ctx, { ...volume, sizeGb: volume.size }))
  return volume
}

async function writeVolume(ctx: VerbContext, body: CreateNetworkVolumeRequest, store: StoreAnswer<NetworkVolume>): Promise<NetworkVolume> {
  const ids = { id: newResourceId(), teamId: ctx.principal.teamId }
  const result = createNetworkVolume(body, ids, await findDataCenter(ctx.env, body.dataCenter))
  if (!result.ok) throw problemOf(result.problem)
  const answer = toNetworkVolume(result.volume)
  const charge = await chargeOf(ctx, result.volume)
  await requireSpend(ctx, charge.nanosPerHour)
  const together = [noteCreate(ctx, answer), ...store(answer)]
  const outcome = await table.insertNetworkVolume(openDatabase(ctx.env.DB), result.volume, charge, together)
  if (outcome === 'full') throw tooMany('network volumes')
  return outcome === 'done' ? answer : refuseLimit(ctx, outcome, charge)
}

/** Returns one volume. Throws 403 and 404. */
export async function getVolume(ctx: VerbContext, id: string): Promise<NetworkVolume> {
  requireScope(ctx.principal, 'volumes:read')
  const volume = await findVolume(ctx, id)
  reportTag(ctx, tagOfVolume(ctx, volume))
  return toNetworkVolume(volume)
}

/** Returns all volumes of the account that match a search. Throws 403. */
export async function listVolumes(ctx: VerbContext, search: SearchQuery = {}): Promise<NetworkVolume[]> {
  requireScope(ctx.principal, 'volumes:read')
  return (await table.listNetworkVolumes(openDatabase((await nearEnv(ctx)).DB), ctx.principal.teamId, search)).map(toNetworkVolume)
}

/** Renames or grows a volume (VOL-3). Throws 400, 402, 403, 404, and 409 after too many concurrent changes. */
export async function updateVolume(ctx: VerbContext, id: string, patch: UpdateNetworkVolumeRequest): Promise<NetworkVolume> {
  requireScope(ctx.principal, 'volumes:write')
  return decideAgain('network volume', async () => {
    const before = await findVolume(ctx, id)
    requireMatch(ctx, tagOfVolume(ctx, before))
    const { volume, resized, previousNanos } = await decideVolumeChange(ctx, before, patch)
    const after = toNetworkVolume({ ...before, ...volume })
    const note = noteChange(ctx, {
      action: 'network-volumes.update',
      resourceKind: KIND,
      resourceId: id,
      ...changedMembers({ ...toNetworkVolume(before) }, { ...after }),
    })
    const outcome = await table.updateNetworkVolume(openDatabase(ctx.env.DB), before, volume, resized, note)
    if (outcome === 'lost') return null
    if (outcome === 'spend') return refuseLimit(ctx, 'spend', { nanosPerHour: (resized?.nanosPerHour ?? 0) - previousNanos })
    reportTag(ctx, tagOfVolume(ctx, volume))
    return after
  })
}

/**
 * Returns a volume after a PATCH, its charge when the size changes (else null), and its present cost in nano-USD an hour. Throws 400 and
 * 402.
 */
export async function decideVolumeChange(
  ctx: VerbContext,
  before: NetworkVolumeRecord,
  patch: UpdateNetworkVolumeRequest,
): Promise<{ volume: NetworkVolumeRecord; resized: table.VolumeCharge | null; previousNanos: number }> {
  const result = patchNetworkVolume(before, patch)
  if (!result.ok) throw problemOf(result.problem)
  const { volume } = result
  const previousNanos = await table.readVolumeNanos(openDatabase(ctx.env.DB), before.teamId, before.id)
  if (volume.sizeGb === before.sizeGb) return { volume, resized: null, previousNanos }
  const resized = await chargeOf(ctx, volume)
  await requireSpend(ctx, resized.nanosPerHour - previousNanos)
  return { volume, resized, previousNanos }
}

/** Deletes a volume that no live pod and no endpoint uses (VOL-3); a host wipes its data (VOL-6). Throws 400, 403 and 404. */
export async function deleteVolume(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'volumes:write')
  const db = openDatabase(ctx.env.DB)
  const note = noteChange(ctx, { action: 'network-volumes.delete', resourceKind: KIND, resourceId: id, ...DELETED })
  await decideAgain('network volume', async () => {
    const before = await findVolume(ctx, id)
    requireMatch(ctx, tagOfVolume(ctx, before))
    const { teamId, dataCenterId, sizeGb } = before
    const tombstone = buryVolume(db, { volumeId: id, kind: 'network', teamId, dataCenterId, sizeGb, deletedAt: ctx.nowMs })
    return assertDeleted(await table.deleteNetworkVolume(db, before, ctx.nowMs, [note, tombstone]), `network volume ${id}`)
  })
}

/** Returns the tag of a volume, over the fields that a PATCH may change. */
export function tagOfVolume({ env }: VerbContext, { id, name, sizeGb }: Pick<NetworkVolumeRecord, 'id' | 'name' | 'sizeGb'>): string {
  return contentTag(env, KIND, id, name, sizeGb)
}

/** Returns the charge of a volume at present prices (BIL-11). */
async function chargeOf({ env, nowMs }: VerbContext, { type, sizeGb }: NetworkVolumeRecord): Promise<table.VolumeCharge> {
  return { nowMs, ...spendDemand(env, networkVolumeNanosPerHour((await loadCatalog(env)).storage, type, sizeGb)) }
}

function noteCreate(ctx: VerbContext, volume: NetworkVolume) {
  return noteChange(ctx, {
    action: 'network-volumes.create',
    resourceKind: KIND,
    resourceId: volume.id,
    before: null,
    after: { ...volume },
  })
}

/** Returns a network volume of the account. Throws 404. */
export async function findVolume(ctx: VerbContext, id: string): Promise<table.UsedNetworkVolume> {
  return orNotFound(await table.findNetworkVolume(openDatabase(ctx.env.DB), ctx.principal.teamId, id))
}

function toNetworkVolume(volume: NetworkVolumeRecord & Partial<table.VolumeUse>): NetworkVolume {
  const { id, name, sizeGb, dataCenterId, type, usedBytes = null, usedAtMs = null, sizeEnforced = false } = volume
  const usedAt = usedAtMs === null ? null : formatTime(usedAtMs)
  return { id, name, size: sizeGb, dataCenter: dataCenterId, type, sizeEnforced, usedBytes, usedAt }
}
