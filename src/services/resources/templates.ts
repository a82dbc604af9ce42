import { MAX_REST_BODY_BYTES } from '../../contract/limits.ts'
import type { ListCounts, SearchedPage } from '../../contract/list-query.ts'
import type { Pagination } from '../../contract/pagination.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import type { CreateTemplateRequest, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { openDatabase, openRecords, type Statement } from '../../db/client.ts'
import * as table from '../../db/resources/templates.ts'
import { hasScope } from '../../domain/access.ts'
import type { TemplateConfig, TemplateNotesPatch } from '../../domain/resources/record.ts'
import { findSeedTemplate } from '../../domain/resources/seed-templates.ts'
import {
  createTemplate as decideCreate,
  patchTemplate,
  registryIdOf,
  type TemplateResult,
  withoutCredential,
} from '../../domain/resources/template.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { contentsOf } from '../../effects/audit.ts'
import type { Env } from '../../env.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteChange } from '../audit.ts'
import type { Principal, VerbContext } from '../context.ts'
import { decodeCursor, pageOf, rowsWithin, searchBinding } from '../cursor.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { nearEnv } from '../near-reads.ts'
import { orNotFound } from '../or-not-found.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { putEnv, replayEnv } from '../replayed-env.ts'
import { lacksScope, requireScope } from '../require-scope.ts'
import { claimRegistry, requireRegistryScope } from './registries.ts'
import { assertDeleted, tooMany } from './resource-problems.ts'
import { granted } from './secret-grants.ts'

const LIST_BINDING = 'listTemplates'
const FIRST_REVISION = 1
/** Bytes of templates per page: a thousand of the largest would not fit into a Worker's memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** Creates a template (TPL-2, IDEM-2). Throws 400 (name taken, unknown registry), 403, 409 and 422 (its key is in use). */
export async function createTemplate(
  ctx: VerbContext,
  body: CreateTemplateRequest & TemplateNotesPatch,
  key: string | undefined,
): Promise<TemplateConfig> {
  requireScope(ctx.principal, 'templates:write')
  requireRegistryScope(ctx, registryIdOf(body.registry ?? null))
  const replay = replayEnv<TemplateConfig>(body.env, putEnv, async ({ id }) => {
    if (!hasScope(ctx.principal.scopes, 'templates:read')) return null
    return (await findTemplate(ctx.env, ctx.principal.teamId, id))?.container.env ?? null
  })
  reportTag(ctx, etagOf(FIRST_REVISION))
  return onceForKey<TemplateConfig>(ctx, 'createTemplate', key, body, (store) => writeTemplate(ctx, body, store), replay)
}

async function writeTemplate(
  ctx: VerbContext,
  body: CreateTemplateRequest & TemplateNotesPatch,
  store: StoreAnswer<TemplateConfig>,
): Promise<TemplateConfig> {
  const template = withGrants(ctx, accepted(decideCreate(body, { id: newResourceId(), teamId: ctx.principal.teamId })))
  await claimRegistry(ctx, template.container)
  const outcome = await table.insertTemplate(openRecords(ctx.env), template, ctx.nowMs, [
    note(ctx, 'create', null, template),
    ...store(template),
  ])
  if (outcome === 'nameTaken') throw nameTaken()
  if (outcome === 'full') throw tooMany('templates')
  return template
}

/** Returns an own template, or any public one, which needs no scope (TPL-1, AUT-3). Throws 403 and 404. */
export async function getTemplate(ctx: VerbContext, id: string): Promise<TemplateConfig> {
  const { principal, env } = ctx
  if (hasScope(principal.scopes, 'templates:read')) {
    const own = await table.findOwnTemplate(openRecords(env), principal.teamId, id)
    if (own) {
      reportTag(ctx, etagOf(own.revision))
      return own.template
    }
    const template = orNotFound(await findTemplate(env, principal.teamId, id))
    reportTag(ctx, contentTag(env, 'template', id, template))
    return template
  }
  const shared = (await table.findPublicTemplate(openRecords(env), id)) ?? findSeedTemplate(id)
  if (!shared) throw lacksScope(principal, 'templates:read')
  reportTag(ctx, contentTag(env, 'template', id, shared))
  return seenBy(principal.teamId, shared)
}

/**
 * Returns a page of the account's own templates that match a search, cut short when it gets large (TPL-1, PAG-1 to PAG-3, PAG-20, RES-9).
 * Throws 403, and 422 for a cursor of another list.
 */
export async function listTemplates(
  ctx: VerbContext,
  page: SearchedPage,
): Promise<{ templates: TemplateConfig[]; pagination: Pagination; counts?: ListCounts }> {
  requireScope(ctx.principal, 'templates:read')
  const binding = searchBinding(LIST_BINDING, page)
  const after = decodeCursor(binding, page.cursor)
  const db = openRecords(await nearEnv(ctx))
  const { teamId } = ctx.principal
  const limit = rowsWithin(await table.measureTemplates(db, teamId, after, page.limit, page), page.limit, MAX_PAGE_BYTES)
  const rows = await table.listTemplates(db, teamId, after, limit + 1, page)
  const { shown, pagination } = pageOf(rows, limit, binding, ({ position }) => position)
  const counts = page.include && { total: await table.countTemplates(db, teamId) }
  return { templates: shown.map(({ template }) => template), pagination, ...(counts && { counts }) }
}

/**
 * Changes an own template; resources made from it keep their configuration. Throws 400, 403, 404, and 409 after too many concurrent
 * changes.
 */
export async function updateTemplate(
  ctx: VerbContext,
  id: string,
  patch: UpdateTemplateRequest & TemplateNotesPatch,
): Promise<TemplateConfig> {
  requireTemplateWrite(ctx, patch)
  const db = openRecords(ctx.env)
  return decideAgain('template', async () => {
    const before = orNotFound(await table.findOwnTemplate(db, ctx.principal.teamId, id))
    requireMatch(ctx, etagOf(before.revision))
    const template = decideTemplateChange(ctx, before.template, patch)
    if (patch.registry !== undefined || patch.image !== undefined) await claimRegistry(ctx, template.container)
    const outcome = await table.updateTemplate(db, template, before.revision, [note(ctx, 'update', before.template, template)])
    if (outcome === 'nameTaken') throw nameTaken()
    if (outcome !== 'written') return null
    reportTag(ctx, etagOf(before.revision + 1))
    return template
  })
}

/** Throws 403 unless the key has the scopes for this PATCH. */
export function requireTemplateWrite(ctx: VerbContext, { registry }: UpdateTemplateRequest): void {
  requireScope(ctx.principal, 'templates:write')
  requireRegistryScope(ctx, registryIdOf(registry ?? null))
}

/** Returns a template after a PATCH. Throws 400, and 403 for a secret that the key may not grant. */
export function decideTemplateChange(
  ctx: VerbContext,
  before: TemplateConfig,
  patch: UpdateTemplateRequest & TemplateNotesPatch,
): TemplateConfig {
  return withGrants(ctx, accepted(patchTemplate(before, patch)))
}

function withGrants({ principal }: VerbContext, template: TemplateConfig): TemplateConfig {
  return { ...template, container: granted(principal, template.container) }
}

/** Deletes an own template that no live pod was made from (TPL-5). Throws 400, 403 and 404. */
export async function deleteTemplate(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'templates:write')
  const deleted = noteChange(ctx, { action: 'templates.delete', resourceKind: 'template', resourceId: id, ...DELETED })
  const db = openDatabase(ctx.env.DB)
  const { teamId } = ctx.principal
  await decideAgain('template', async () => {
    const revision = orNotFound(await table.findRevision(db, teamId, id))
    requireMatch(ctx, etagOf(revision))
    return assertDeleted(await table.deleteTemplate(db, teamId, id, revision, [deleted]), `template ${id}`)
  })
}

/** Deletes an own template by its name, which is unique in the account (GQL-33). Throws 400, 403 and 404. */
export async function deleteTemplateNamed(ctx: VerbContext, name: string): Promise<void> {
  requireScope(ctx.principal, 'templates:write')
  const id = await table.findTemplateId(openDatabase(ctx.env.DB), ctx.principal.teamId, name)
  if (id === undefined) throw new Problem('notFound', { detail: `template ${name} not found` })
  await deleteTemplate(ctx, id)
}

/**
 * Returns a template that a team may use: its own, a public one without its owner's credential, or a built-in one; null for any other id.
 */
export async function findTemplate(env: Env, teamId: string, id: string): Promise<TemplateConfig | null> {
  const template = await table.findReadableTemplate(openRecords(env), teamId, id)
  return template ? seenBy(teamId, template) : findSeedTemplate(id)
}

/**
 * Returns the template that a create or PATCH names, of the wanted kind (POD-9, END-8). Throws 403 for a private template that the key may
 * not read, 404, and 422 for one of the other kind.
 */
export async function useTemplate(
  env: Env,
  principal: Principal,
  id: string,
  { serverless }: { serverless: boolean },
): Promise<TemplateConfig> {
  const template = await findTemplate(env, principal.teamId, id)
  if (!template) throw new Problem('notFound', { detail: 'template not found' })
  // A resource made from a template shows its env, so the key must be allowed to read the template itself.
  if (!template.isPublic) requireScope(principal, 'templates:read')
  if (template.serverless === serverless) return template
  const kind = serverless ? 'is not for serverless endpoints' : 'is for serverless endpoints'
  throw new Problem('validationFailed', { errors: [`$.templateId: template ${id} ${kind}`] })
}

/**
 * Requires the scope for reading a private template that a request names, also for a repeat that reads no template (IDEM-4). Throws 403 and
 * 404.
 */
export async function requireTemplateScope({ env, principal }: VerbContext, id: string | undefined): Promise<void> {
  if (id === undefined || hasScope(principal.scopes, 'templates:read')) return
  const template = await findTemplate(env, principal.teamId, id)
  if (!template) throw new Problem('notFound', { detail: 'template not found' })
  if (!template.isPublic) throw lacksScope(principal, 'templates:read')
}

/** Throws 413 for a request that is too large after the merge with its template (RATE-6). */
export function assertMergedSize(body: object): void {
  if (new TextEncoder().encode(JSON.stringify(body)).byteLength > MAX_REST_BODY_BYTES) throw new Problem('payloadTooLarge')
}

function seenBy(teamId: string, template: TemplateConfig): TemplateConfig {
  return template.teamId === teamId ? template : withoutCredential(template)
}

function note(ctx: VerbContext, verb: 'create' | 'update', before: TemplateConfig | null, after: TemplateConfig): Statement {
  const contents = contentsOf(ctx.env, 'template', after.id, before, after)
  return noteChange(ctx, { action: `templates.${verb}`, resourceKind: 'template', resourceId: after.id, ...contents })
}

function accepted(result: TemplateResult): TemplateConfig {
  if (!result.ok) throw problemOf(result.problem)
  return result.template
}

/** Returns the 400 for a name that another template of the account has (TPL-6). */
export function nameTaken(): Problem {
  return new Problem('badRequest', { detail: 'Template name must be unique.', code: 'RULE' })
}
