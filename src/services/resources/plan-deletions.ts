import type { ChangedResource, ChangeEffect, ChangePlan } from '../../contract/change-plan.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { listDelegations } from '../../db/resources/delegations.ts'
import { findGlobalVolume } from '../../db/resources/global-volumes.ts'
import { findNetworkVolume, readVolumeNanos } from '../../db/resources/network-volumes.ts'
import { findSealedRegistry } from '../../db/resources/registries.ts'
import * as users from '../../db/resources/resource-users.ts'
import { findSecret } from '../../db/resources/secrets.ts'
import { findOwnTemplate, listTemplatesOfRegistry } from '../../db/resources/templates.ts'
import type { Scope } from '../../domain/access.ts'
import * as plans from '../../domain/plan/resource.ts'
import { ecrHost } from '../../domain/resources/ecr.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { tagOfGlobalVolume } from './global-volumes.ts'
import { tagOfVolume } from './network-volumes.ts'
import { tagOfRegistry } from './registries.ts'
import { assertDeleted } from './resource-problems.ts'
import { listSecretReaders } from './secret-readers.ts'
import { tagOfSecret } from './secrets.ts'

// Dry runs of deletions of resources (DRY-9), with the errors of the deletion and the names of the resource's users.

/** Returns the plan of deleting a network volume. Throws 403 and 404. */
export async function planDeleteNetworkVolume(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { db, teamId } = await allowed(ctx, 'volumes:write')
  const volume = orNotFound(await findNetworkVolume(db, teamId, id))
  const resource = { kind: 'network-volume' as const, id, name: volume.name }
  const who = users.usersOfNetworkVolume(teamId, id)
  return planUnused(ctx, tagOfVolume(ctx, volume), 'network-volumes.delete', resource, who, `network volume ${id}`, async () =>
    plans.planVolumeDeletion(resource, volume, await readVolumeNanos(db, teamId, id)),
  )
}

/** Returns the plan of deleting a global volume. Throws 403 and 404. */
export async function planDeleteGlobalVolume(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { db, teamId } = await allowed(ctx, 'volumes:write')
  const volume = orNotFound(await findGlobalVolume(db, teamId, id))
  const resource = { kind: 'global-volume' as const, id, name: volume.name }
  const who = users.usersOfGlobalVolume(teamId, id)
  return planUnused(ctx, tagOfGlobalVolume(ctx, volume), 'global-volumes.delete', resource, who, `global volume ${id}`, async () =>
    plans.planVolumeDeletion(resource, { ...volume, sizeGb: null }, 0),
  )
}

/** Returns the plan of deleting a template. Throws 403 and 404. */
export async function planDeleteTemplate(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { teamId } = await allowed(ctx, 'templates:write')
  const { template, revision } = orNotFound(await findOwnTemplate(openRecords(ctx.env), teamId, id))
  const resource = { kind: 'template' as const, id, name: template.name }
  const tag = etagOf(revision)
  return planUnused(ctx, tag, 'templates.delete', resource, users.usersOfTemplate(teamId, id), `template ${id}`, async () =>
    plans.planTemplateDeletion(resource, template.isPublic),
  )
}

/** Returns the plan of deleting a registry credential. Throws 403 and 404. */
export async function planDeleteRegistry(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { db, teamId } = await allowed(ctx, 'registries:write')
  const row = orNotFound(await findSealedRegistry(db, teamId, id))
  const { name } = row
  const resource = { kind: 'registry' as const, id, name }
  const who = users.usersOfRegistry(teamId, id)
  return planUnused(ctx, tagOfRegistry(ctx, row), 'registries.delete', resource, who, 'Registry credential', async () =>
    plans.planRegistryDeletion(resource, await listTemplatesOfRegistry(db, teamId, id)),
  )
}

/** Returns the plan of deleting a secret. Throws 403 and 404. */
export async function planDeleteSecret(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { db, teamId } = await allowed(ctx, 'account:write')
  const row = orNotFound(await findSecret(db, teamId, id))
  const { name } = row
  const resource = { kind: 'secret' as const, id, name }
  return planChange('secrets.delete', resource, async () => {
    requireMatch(ctx, tagOfSecret(ctx, row))
    const { readers, leftOut } = await listSecretReaders(ctx.env, teamId, name)
    return plans.planSecretDeletion(resource, readers, leftOut)
  })
}

/** Returns the plan of revoking a delegation. Throws 403 and 404. */
export async function planRevokeDelegation(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const { db, teamId } = await allowed(ctx, 'registries:write')
  const all = await listDelegations(db, teamId)
  const { awsUser, awsRegion, repository, name } = orNotFound(all.find((one) => one.id === id))
  const resource = { kind: 'delegation' as const, id, name: name ?? repository }
  return planChange('delegations.revoke', resource, async () => {
    const images = `${ecrHost({ account: awsUser, region: awsRegion })}/${repository}`
    const isCovered = all.some(
      (one) =>
        one.id !== id &&
        one.endedBecause === null &&
        one.awsUser === awsUser &&
        one.awsRegion === awsRegion &&
        one.repository === repository,
    )
    const { pods, endpoints } = await users.listUsers(db, users.usersOfRepository(teamId, images))
    return plans.planDelegationRevocation(resource, asResources({ pods, endpoints }), isCovered)
  })
}

async function planUnused(
  ctx: VerbContext,
  tag: string,
  action: string,
  resource: ChangedResource,
  who: users.ResourceUsers,
  what: string,
  effects: () => Promise<ChangeEffect[]>,
): Promise<ChangePlan> {
  const listed = await users.listUsers(openDatabase(ctx.env.DB), who)
  const preview = () => {
    requireMatch(ctx, tag)
    // The same conditions as in the statement that deletes the resource.
    assertDeleted(listed.pods.total > 0 ? 'usedByPod' : listed.endpoints.total > 0 ? 'usedByEndpoint' : 'deleted', what)
    return effects()
  }
  return planChange(action, resource, async () => preview(), asResources(listed))
}

function asResources({ pods, endpoints }: users.ListedUsers): { kind: 'pod' | 'endpoint'; id: string; name: string }[] {
  return [
    ...pods.first.map((row) => ({ kind: 'pod' as const, ...row })),
    ...endpoints.first.map((row) => ({ kind: 'endpoint' as const, ...row })),
  ]
}

async function allowed({ env, principal }: VerbContext, scope: Scope) {
  requireScope(principal, scope)
  return { db: openDatabase(env.DB), teamId: principal.teamId }
}
