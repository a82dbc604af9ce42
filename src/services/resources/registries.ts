import { Problem } from '../../contract/problems.ts'
import { normalRegistryHost, registryHostOf } from '../../contract/registry-host.ts'
import type { CreateRegistryRequest, Registry } from '../../contract/resources/registries.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/registries.ts'
import type { ContainerSpec } from '../../domain/resources/container.ts'
import { type RegistryLogin, sealLogin } from '../../effects/registry-login.ts'
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

const KIND = 'registry'

/** Stores a credential, sealed (REG-1, RES-3, IDEM-2). Throws 400, 403, 409 and 422 (its key is in use). */
export async function createRegistry(ctx: VerbContext, body: CreateRegistryRequest, key: string | undefined): Promise<Registry> {
  requireScope(ctx.principal, 'registries:write')
  return onceForKey<Registry>(ctx, 'createRegistry', key, body, (store) => writeRegistry(ctx, body, store))
}

async function writeRegistry(ctx: VerbContext, body: CreateRegistryRequest, store: StoreAnswer<Registry>): Promise<Registry> {
  const host = body.host === undefined ? null : normalRegistryHost(body.host)
  const place = { id: newResourceId(), teamId: ctx.principal.teamId }
  const row = { ...place, name: body.name, ...sealLogin(ctx.env, place, body), createdAt: ctx.nowMs, host }
  const answer = shown(row)
  const { id, ...after } = answer
  const note = noteChange(ctx, { action: 'registries.create', resourceKind: KIND, resourceId: id, before: null, after })
  if (!(await table.insertRegistry(openDatabase(ctx.env.DB), row, [note, ...store(answer)]))) throw tooMany('registry credentials')
  return answer
}

/** Returns id, name and host of a credential. Throws 403 and 404. */
export async function getRegistry(ctx: VerbContext, id: string): Promise<Registry> {
  requireScope(ctx.principal, 'registries:read')
  const registry = orNotFound(await table.findSealedRegistry(openDatabase(ctx.env.DB), ctx.principal.teamId, id))
  reportTag(ctx, tagOfRegistry(ctx, registry))
  return shown(registry)
}

/** Returns all credentials of the account, oldest first: a client deletes from the front, and stops at one in use (REG-1). Throws 403. */
export async function listRegistries(ctx: VerbContext): Promise<Registry[]> {
  requireScope(ctx.principal, 'registries:read')
  return (await table.listRegistries(openDatabase((await nearEnv(ctx)).DB), ctx.principal.teamId)).map(shown)
}

/** Replaces user name and password of a credential (GQL-35); later pulls with it use the new ones. Throws 403 and 404. */
export async function updateRegistry(ctx: VerbContext, id: string, login: RegistryLogin): Promise<Registry> {
  requireScope(ctx.principal, 'registries:write')
  const db = openDatabase(ctx.env.DB)
  const { teamId } = ctx.principal
  const found = await table.findRegistry(db, teamId, id)
  const sealed = sealLogin(ctx.env, { id, teamId }, login)
  const note = noteChange(ctx, { action: 'registries.rotate', resourceKind: KIND, resourceId: id, before: {}, after: {} })
  if (!found || !(await table.updateLogin(db, teamId, id, sealed, [note]))) throw new Problem('notFound')
  return shown(found)
}

/** Deletes a credential that no live pod and no endpoint pulls with (REG-2). Throws 400, 403 and 404. */
export async function deleteRegistry(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'registries:write')
  const note = noteChange(ctx, { action: 'registries.delete', resourceKind: KIND, resourceId: id, ...DELETED })
  const db = openDatabase(ctx.env.DB)
  await decideAgain('registry credential', async () => {
    const before = orNotFound(await table.findSealedRegistry(db, ctx.principal.teamId, id))
    requireMatch(ctx, tagOfRegistry(ctx, before))
    return assertDeleted(await table.deleteRegistry(db, before, [note]), 'Registry credential')
  })
}

/** Returns the tag of a credential, a digest over its sealed login that reveals nothing about it. */
export function tagOfRegistry({ env }: VerbContext, { id, usernameSealed, passwordSealed }: table.RegistryRow): string {
  return contentTag(env, KIND, id, usernameSealed, passwordSealed)
}

/**
 * Requires the scope for reading a credential when a request names one, because the request causes it to be sent to a registry (REG-21).
 * Throws 403.
 */
export function requireRegistryScope({ principal }: VerbContext, registry: string | null | undefined): void {
  if (registry) requireScope(principal, 'registries:read')
}

/**
 * Throws 400 for a container whose credential the team does not have (CON-7), or whose image is on another registry than the credential
 * (REG-20), and 403 for a credential without a registry that the key may not read.
 */
export async function requireRegistry(ctx: VerbContext, { registry, image }: Pick<ContainerSpec, 'image' | 'registry'>): Promise<void> {
  if (registry === null) return
  const { env, principal } = ctx
  const found = await table.findRegistry(openDatabase(env.DB), principal.teamId, registry)
  if (!found) throw new Problem('badRequest', { detail: `container registry auth ${registry} not found` })
  const host = registryHostOf(image)
  if (found.host === null) requireRegistryScope(ctx, registry)
  else if (found.host !== host) {
    const detail = `container registry auth ${registry} belongs to ${found.host}, and image ${image} is on ${host}; use a credential for ${host}`
    throw new Problem('badRequest', { detail })
  }
}

/** Checks like `requireRegistry` before a write, and binds a credential without a registry to the registry of the image. */
export async function claimRegistry(ctx: VerbContext, container: Pick<ContainerSpec, 'image' | 'registry'>): Promise<void> {
  await requireRegistry(ctx, container)
  if (container.registry === null) return
  await table.claimRegistry(openDatabase(ctx.env.DB), ctx.principal.teamId, container.registry, registryHostOf(container.image))
  // When two requests claim it for different registries at the same time, one is refused here.
  await requireRegistry(ctx, container)
}

function shown({ id, name, host }: Pick<table.RegistryRow, 'id' | 'name' | 'host'>): Registry {
  return { id, name, ...(host !== null && { host }) }
}
