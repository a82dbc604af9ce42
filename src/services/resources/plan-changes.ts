import type { ChangePlan } from '../../contract/change-plan.ts'
import type { UpdateNetworkVolumeRequest } from '../../contract/resources/network-volumes.ts'
import type { UpdateSecretRequest } from '../../contract/resources/secrets.ts'
import type { UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { listUsers, usersOfTemplate } from '../../db/resources/resource-users.ts'
import { findSecret } from '../../db/resources/secrets.ts'
import { findOwnTemplate, findTemplateId } from '../../db/resources/templates.ts'
import * as plans from '../../domain/plan/resource-change.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { decideVolumeChange, findVolume, tagOfVolume } from './network-volumes.ts'
import { requireRegistry } from './registries.ts'
import { listSecretReaders } from './secret-readers.ts'
import { decideSecretChange, tagOfSecret } from './secrets.ts'
import { decideTemplateChange, nameTaken, requireTemplateWrite } from './templates.ts'

// Dry runs of changes of resources, with the decisions and errors of the changes themselves.

/** Returns the plan of a PATCH of a network volume (DRY-20). Throws 403 and 404. */
export async function planUpdateNetworkVolume(ctx: VerbContext, id: string, patch: UpdateNetworkVolumeRequest): Promise<ChangePlan> {
  requireScope(ctx.principal, 'volumes:write')
  const before = await findVolume(ctx, id)
  const resource = { kind: 'network-volume' as const, id, name: before.name }
  return planChange('network-volumes.update', resource, async () => {
    requireMatch(ctx, tagOfVolume(ctx, before))
    const { volume, resized, previousNanos } = await decideVolumeChange(ctx, before, patch)
    return plans.planVolumeChange(resource, before, volume, { before: previousNanos, after: resized?.nanosPerHour ?? previousNanos })
  })
}

/** Returns the plan of a PATCH of a template (DRY-21). Throws 403 and 404. */
export async function planUpdateTemplate(ctx: VerbContext, id: string, patch: UpdateTemplateRequest): Promise<ChangePlan> {
  requireTemplateWrite(ctx, patch)
  const { teamId } = ctx.principal
  const found = orNotFound(await findOwnTemplate(openRecords(ctx.env), teamId, id))
  const { template: before } = found
  const resource = { kind: 'template' as const, id, name: before.name }
  return planChange('templates.update', resource, async () => {
    requireMatch(ctx, etagOf(found.revision))
    const after = decideTemplateChange(ctx, before, patch)
    if (patch.registry !== undefined || patch.image !== undefined) await requireRegistry(ctx, after.container)
    const db = openDatabase(ctx.env.DB)
    const holder = await findTemplateId(db, teamId, after.name)
    if (holder !== undefined && holder !== id) throw nameTaken()
    return plans.planTemplateChange(resource, before, after, await listUsers(db, usersOfTemplate(teamId, id)))
  })
}

/** Returns the plan of a PATCH of a secret (DRY-22). Throws 403 and 404. */
export async function planUpdateSecret(ctx: VerbContext, id: string, patch: UpdateSecretRequest): Promise<ChangePlan> {
  requireScope(ctx.principal, 'account:write')
  const { teamId } = ctx.principal
  const before = orNotFound(await findSecret(openDatabase(ctx.env.DB), teamId, id))
  const resource = { kind: 'secret' as const, id, name: before.name }
  return planChange(patch.value === undefined ? 'secrets.update' : 'secrets.rotate', resource, async () => {
    requireMatch(ctx, tagOfSecret(ctx, before))
    const after = await decideSecretChange(ctx, before, patch)
    const hasNewValue = patch.value !== undefined
    const { readers, leftOut } = hasNewValue ? await listSecretReaders(ctx.env, teamId, before.name) : { readers: [], leftOut: 0 }
    return plans.planSecretChange(resource, { describes: after.description !== before.description, hasNewValue }, readers, leftOut)
  })
}
