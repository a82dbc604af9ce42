import type { CreateEndpointRequest, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { ListCounts, SearchedPage } from '../../contract/list-query.ts'
import type { Pagination } from '../../contract/pagination.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { openDatabase, openRecords, type Statement } from '../../db/client.ts'
import * as table from '../../db/endpoints/endpoints.ts'
import { findNetworkVolumes } from '../../db/resources/network-volumes.ts'
import { hasScope } from '../../domain/access.ts'
import { createEndpointConfig, patchEndpointConfig } from '../../domain/endpoint/config.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { hideVariables, type ReleaseDiff } from '../../domain/endpoint/release-diff.ts'
import { fillCreate, fillUpdate } from '../../domain/endpoint/template.ts'
import { placeVolumes, workerDataCenters } from '../../domain/endpoint/volumes.ts'
import type { SecretGrants } from '../../domain/resources/container.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { contentsOf } from '../../effects/audit.ts'
import { loadCatalog, regionOf } from '../../effects/catalog.ts'
import type { Env } from '../../env.ts'
import { type OwnEndpoint, own, ownNewEndpoint, ownPastEndpoint } from '../../objects/ownership/own.ts'
import { dropQueue } from '../../objects/ownership/own-queue.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { newResourceId } from '../../platform/ids.ts'
import { logEvent } from '../../platform/log.ts'
import { vaultOf } from '../../platform/seal.ts'
import { DELETED, noteChange } from '../audit.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { decodeCursor, pageOf, searchBinding } from '../cursor.ts'
import { decideAgain } from '../decide-again.ts'
import { readHeavyList } from '../heavy-reads.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { nearEnv } from '../near-reads.ts'
import { reportTag, requireMatch } from '../precondition.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { putEnv, replayEnv } from '../replayed-env.ts'
import { requireScope } from '../require-scope.ts'
import { requireDataCenters } from '../resources/data-centers.ts'
import { claimRegistry, requireRegistryScope } from '../resources/registries.ts'
import { granted } from '../resources/secret-grants.ts'
import { assertMergedSize, requireTemplateScope, useTemplate } from '../resources/templates.ts'

const LIST_BINDING = 'listEndpoints'

/** Creates an endpoint and its queue (END-1 to END-7, IDEM-2). Throws 400, 403, 404 (template), 409 (its key is in use) and 422. */
export async function createEndpoint(ctx: VerbContext, body: CreateEndpointRequest, key: string | undefined): Promise<EndpointConfig> {
  requireScope(ctx.principal, 'serverless:write')
  requireRegistryScope(ctx, body.registry)
  await requireTemplateScope(ctx, body.templateId)
  const { env, principal } = ctx
  const replay = replayEnv<EndpointConfig>(body.env, putEnv, async ({ id }) => {
    if (!hasScope(principal.scopes, 'serverless:read')) return null
    return (await table.findEndpoint(openRecords(env), principal.teamId, id))?.container.env ?? null
  })
  const config = await onceForKey<EndpointConfig>(ctx, 'createEndpoint', key, body, (store) => writeEndpoint(ctx, body, store), replay)
  reportTag(ctx, etagOf(config.revision))
  return config
}

async function writeEndpoint(ctx: VerbContext, body: CreateEndpointRequest, store: StoreAnswer<EndpointConfig>): Promise<EndpointConfig> {
  const { teamId } = ctx.principal
  const config = await draftEndpoint(ctx, body, claimRegistry)
  const wanted = { endpoints: 1, storedBytes: table.configBytes(config) }
  await requireBudget(ctx.env, teamId, wanted)
  const first = release(ctx, config, [])
  const together = [note(ctx, 'create', null, config), ...store(config)]
  const outcome = await table.insertEndpoint(openRecords(ctx.env), config, ctx.nowMs, first, together)
  if (outcome !== 'done') return refuse(ctx, outcome, config, wanted)
  await endpointStub(ctx.env, ownNewEndpoint(config), regionOf(workerDataCenters(config))).configure(config)
  return config
}

/** Returns the configuration that a create would store; throws its refusals. `claim` makes the last check of the registry credential. */
export async function draftEndpoint(ctx: VerbContext, body: CreateEndpointRequest, claim: typeof claimRegistry): Promise<EndpointConfig> {
  const { teamId } = ctx.principal
  const [catalog, filled] = await Promise.all([loadCatalog(ctx.env), filledCreate(ctx, body)])
  const result = createEndpointConfig(catalog, filled.body, { id: newResourceId(), teamId }, ctx.nowMs)
  if (!result.ok) throw problemOf(result.problem)
  const container = granted(ctx.principal, result.config.container, filled.secretGrants)
  await claim(ctx, container)
  await requireDataCenters(ctx.env, body.dataCenterIds)
  return await withVolumes(ctx, { ...result.config, container })
}

/** Returns an endpoint. Throws 403, and 404 for an id that is unknown or another account's (AUT-5). */
export async function getEndpoint(ctx: VerbContext, id: string): Promise<EndpointConfig> {
  const { row } = await readEndpoint(ctx, id)
  reportTag(ctx, etagOf(row.revision))
  return row
}

/** Returns an endpoint with the proof that its object may be reached. Throws 403 and 404. */
export async function readEndpoint(ctx: VerbContext, id: string): Promise<OwnEndpoint> {
  requireScope(ctx.principal, 'serverless:read')
  return own(ctx.env, ctx.principal, 'endpoint', id)
}

/** Returns an endpoint that is about to be changed, and requires the scope of the change. Throws 403 and 404. */
export async function findForUpdate(ctx: VerbContext, id: string): Promise<EndpointConfig> {
  requireScope(ctx.principal, 'serverless:write')
  return (await own(ctx.env, ctx.principal, 'endpoint', id)).row
}

/** Rows of `readRows` that each endpoint of a page counts as (RATE-20). */
const ENDPOINT_WEIGHT = 10

/** Returns a page of the account's endpoints that match a search (PAG-1 to PAG-3, PAG-20). Throws 403, and 422 for a cursor of another list. */
export async function listEndpoints(
  ctx: VerbContext,
  page: SearchedPage,
): Promise<{ endpoints: EndpointConfig[]; pagination: Pagination; counts?: ListCounts }> {
  requireScope(ctx.principal, 'serverless:read')
  const { teamId } = ctx.principal
  const binding = searchBinding(LIST_BINDING, page)
  const after = decodeCursor(binding, page.cursor)
  const read = async () => table.listEndpoints(openRecords(await nearEnv(ctx)), teamId, after, page.limit + 1, page)
  const rows = await readHeavyList(ctx, ENDPOINT_WEIGHT, read, ({ length }) => length)
  const { shown, pagination } = pageOf(rows, page.limit, binding, ({ position }) => position)
  const counts = page.include && { total: await table.countEndpoints(openDatabase(ctx.env.DB), teamId) }
  return { endpoints: shown.map(({ config }) => config), pagination, ...(counts && { counts }) }
}

/**
 * Changes an endpoint (END-11, END-12). With `isBound` it counts as made from the template of the body (GQL-22). Throws 400, 403, 404, 422,
 * and 409 after too many concurrent changes.
 */
export async function updateEndpoint(
  ctx: VerbContext,
  id: string,
  patch: UpdateEndpointRequest,
  { isBound = false } = {},
): Promise<EndpointConfig> {
  requireScope(ctx.principal, 'serverless:write')
  requireRegistryScope(ctx, patch.registry)
  const asked = await filledUpdate(ctx, id, patch)
  return decideAgain('endpoint', async () => {
    const endpoint = await own(ctx.env, ctx.principal, 'endpoint', id)
    const before = endpoint.row
    requireMatch(ctx, etagOf(before.revision))
    const { config, changed, releaseDiff } = await decideUpdate(ctx, before, asked, claimRegistry, isBound)
    if (!changed) {
      // Pushes again in case an earlier request wrote the row but its push failed; pushing a known revision changes nothing.
      await endpointStub(ctx.env, endpoint).configure(before)
      return before
    }
    const row = releaseDiff && release(ctx, config, releaseDiff)
    const written = await table.updateEndpoint(openRecords(ctx.env), config, before.revision, row, note(ctx, 'update', before, config))
    if (written === 'lost') return null
    if (written === 'storedBytes') {
      await requireBudget(ctx.env, config.teamId, { storedBytes: table.configBytes(config) })
      throw new Problem('badRequest', { detail: "the endpoint configuration exceeds the account's storedBytes budget", code: 'RULE' })
    }
    if (written !== 'done') return refuse(ctx, written, config, {})
    await endpointStub(ctx.env, endpoint).configure(config)
    reportTag(ctx, etagOf(config.revision))
    return config
  })
}

/** Throws the error of an endpoint that was not stored, by the reason that its batch gave. */
async function refuse(
  ctx: VerbContext,
  reason: table.EndpointRefusal,
  config: EndpointConfig,
  wanted: Parameters<typeof refuseLimit>[2],
): Promise<never> {
  if (reason !== 'networkVolume') return refuseLimit(ctx, reason, wanted)
  // It was deleted meanwhile; reading it again refuses it by name.
  await withVolumes(ctx, config)
  throw new Problem('conflict', { detail: 'a network volume of the endpoint is being changed; retry' })
}

/** Returns the configuration after a PATCH; throws its refusals. `claim` makes the last check of the registry credential. */
export async function decideUpdate(
  ctx: VerbContext,
  before: EndpointConfig,
  { body: asked, secretGrants }: Filled<UpdateEndpointRequest>,
  claim: typeof claimRegistry,
  isBound = false,
): Promise<{ config: EndpointConfig; changed: boolean; releaseDiff: ReleaseDiff[] | null }> {
  const result = patchEndpointConfig(await loadCatalog(ctx.env), before, asked, isBound)
  if (!result.ok) throw problemOf(result.problem)
  if (!result.changed) return result
  const container = granted(ctx.principal, result.config.container, secretGrants)
  const config = await withVolumes(ctx, { ...result.config, container })
  if (asked.registry !== undefined || asked.image !== undefined) await claim(ctx, container)
  await requireDataCenters(ctx.env, asked.dataCenterIds)
  return { ...result, config }
}

/** Deletes an endpoint: its workers end, its queued and running jobs are cancelled (END-1). Throws 403 and 404. */
export async function deleteEndpoint(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'serverless:write')
  const { teamId } = ctx.principal
  const endpoint = await ownPastEndpoint(ctx.env, ctx.principal, id)
  if (ctx.precondition?.ifMatch !== undefined) await claimDeletion(ctx, id)
  // The queue goes first: after a crash in between, the endpoint is still listed and can be deleted again. The other order could leave
  // workers without an endpoint.
  await endpointStub(ctx.env, endpoint).destroy()
  dropQueue(teamId, id)
  const deleted = noteChange(ctx, { action: 'endpoints.delete', resourceKind: 'endpoint', resourceId: id, ...DELETED })
  if (!(await table.deleteEndpoint(openDatabase(ctx.env.DB), teamId, id, ctx.nowMs, deleted))) throw new Problem('notFound')
  // END-33. After a failure here, the alarm of the object itself does it.
  const dropped = endpointStub(ctx.env, endpoint).discard()
  await dropped.catch((error: unknown) => logEvent('warn', 'a deleted endpoint could not be forgotten yet', { endpointId: id, error }))
}

/**
 * Blocks changes of an endpoint whose deletion has an `If-Match` (REST-21), so that it deletes the state that the caller has read. Throws
 * 404 and 412.
 */
async function claimDeletion(ctx: VerbContext, id: string): Promise<void> {
  await decideAgain('endpoint', async () => {
    const { row } = await own(ctx.env, ctx.principal, 'endpoint', id)
    requireMatch(ctx, etagOf(row.revision))
    return (await table.claimEndpoint(openDatabase(ctx.env.DB), row)) || null
  })
}

/** A body merged with its template, and the secrets granted to the account's own template. */
interface Filled<Body> {
  body: Body
  secretGrants: SecretGrants | undefined
}

async function filledCreate(ctx: VerbContext, body: CreateEndpointRequest): Promise<Filled<CreateEndpointRequest>> {
  if (body.templateId === undefined) return { body, secretGrants: undefined }
  const template = await useTemplate(ctx.env, ctx.principal, body.templateId, { serverless: true })
  const filled = fillCreate(body, template)
  assertMergedSize(filled)
  return { body: filled, secretGrants: template.container.secretGrants }
}

/**
 * Merges a PATCH with its template. An empty `templateId` names no template and changes nothing. Throws 404 for an unknown endpoint, before
 * it reports an unknown template (ERR-6).
 */
export async function filledUpdate(ctx: VerbContext, id: string, patch: UpdateEndpointRequest): Promise<Filled<UpdateEndpointRequest>> {
  if (!patch.templateId) return { body: patch, secretGrants: undefined }
  await own(ctx.env, ctx.principal, 'endpoint', id)
  const template = await useTemplate(ctx.env, ctx.principal, patch.templateId, { serverless: true })
  const filled = fillUpdate(patch, template)
  assertMergedSize(filled)
  return { body: filled, secretGrants: template.container.secretGrants }
}

/** Returns a digest that shows whether two values of one variable of an endpoint are equal, and nothing else about them (END-34). */
export function digestOf(env: Env, endpointId: string): (name: string, value: string) => string {
  return (name, value) => vaultOf(env).digest(['endpoints', endpointId, 'env', name], value)
}

function note(ctx: VerbContext, verb: 'create' | 'update', before: EndpointConfig | null, after: EndpointConfig): Statement {
  const contents = contentsOf(ctx.env, 'endpoint', after.id, before, after)
  return noteChange(ctx, { action: `endpoints.${verb}`, resourceKind: 'endpoint', resourceId: after.id, ...contents })
}

function release(ctx: VerbContext, config: EndpointConfig, diff: ReleaseDiff[]): table.ReleaseRow {
  return {
    endpointId: config.id,
    version: config.version,
    id: newResourceId(),
    createdByUserId: ctx.principal.userId,
    diff: hideVariables(diff, digestOf(ctx.env, config.id)),
    createdAt: ctx.nowMs,
  }
}

/**
 * Returns a configuration with its network volumes resolved (END-20, END-21). A volume of another account counts as missing. Throws 400.
 */
async function withVolumes(ctx: VerbContext, config: EndpointConfig): Promise<EndpointConfig> {
  const ids = config.networkVolumes
  const found = ids.length === 0 ? [] : await findNetworkVolumes(openDatabase(ctx.env.DB), ctx.principal.teamId, ids)
  const result = placeVolumes(config, found)
  if (!result.ok) throw problemOf(result.problem)
  return result.config
}
