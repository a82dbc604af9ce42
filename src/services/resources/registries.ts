import { Problem } from '../../contract/problems.ts'
import type { CreateRegistryRequest, Registry } from '../../contract/resources/registries.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/registries.ts'
import { sealLogin } from '../../effects/registry-login.ts'
import type { Env } from '../../env.ts'
import { newResourceId } from '../../platform/ids.ts'
import type { VerbContext } from '../context.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { requireScope } from '../require-scope.ts'
import { assertDeleted, tooMany } from './resource-problems.ts'

/** Stores a credential, sealed (REG-1, RES-3, PP-125). Throws 400, 403, 409 and 422 (its key is in use). */
export async function createRegistry(ctx: VerbContext, body: CreateRegistryRequest, key: string | undefined): Promise<Registry> {
  requireScope(ctx.principal, 'registries:write')
  return onceForKey<Registry>(ctx, 'createRegistry', key, body, (store) => writeRegistry(ctx, body, store))
}

async function writeRegistry(ctx: VerbContext, body: CreateRegistryRequest, store: StoreAnswer<Registry>): Promise<Registry> {
  const place = { id: newResourceId(), teamId: ctx.principal.teamId }
  const row = { ...place, name: body.name, ...sealLogin(ctx.env, place, body), createdAt: ctx.nowMs }
  const answer = { id: row.id, name: row.name }
  if (!(await table.insertRegistry(openDatabase(ctx.env.DB), row, store(answer)))) throw tooMany('registry credentials')
  return answer
}

/** Id and name of a credential. Throws 403 and 404. */
export async function getRegistry(ctx: VerbContext, id: string): Promise<Registry> {
  requireScope(ctx.principal, 'registries:read')
  const registry = await table.findRegistry(openDatabase(ctx.env.DB), ctx.principal.teamId, id)
  if (!registry) throw new Problem('notFound')
  return registry
}

/** All credentials of the account, newest first. Throws 403. */
export async function listRegistries(ctx: VerbContext): Promise<Registry[]> {
  requireScope(ctx.principal, 'registries:read')
  return table.listRegistries(openDatabase(ctx.env.DB), ctx.principal.teamId)
}

/** Deletes a credential that no live pod and no endpoint pulls with (REG-2). Throws 400, 403 and 404. */
export async function deleteRegistry(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'registries:write')
  assertDeleted(await table.deleteRegistry(openDatabase(ctx.env.DB), ctx.principal.teamId, id), 'Registry credential')
}

/** Refuses a container that names a credential which the team does not have (CON-7). Throws 400. */
export async function requireRegistry(env: Env, teamId: string, id: string | null): Promise<void> {
  if (id === null || (await table.findRegistry(openDatabase(env.DB), teamId, id))) return
  throw new Problem('badRequest', { detail: `container registry auth ${id} not found` })
}
