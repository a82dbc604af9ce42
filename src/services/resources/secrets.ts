import { Problem } from '../../contract/problems.ts'
import { type CreateSecretRequest, type Secret, type UpdateSecretRequest, utf8Bytes } from '../../contract/resources/secrets.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/secrets.ts'
import { splitText } from '../../domain/text/split-text.ts'
import type { Env } from '../../env.ts'
import { newResourceId } from '../../platform/ids.ts'
import { vaultOf } from '../../platform/seal.ts'
import { noteChange } from '../audit.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { orNotFound } from '../or-not-found.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'

/** Bytes of text per part: sealing adds a third, and a row of D1 holds two megabytes. */
const PART_BYTES = 768 * 1024

/** Returns all secrets of the account, newest first, or the one with a name (ACC-2). Throws 403. */
export async function listSecrets(ctx: VerbContext, name?: string): Promise<Secret[]> {
  requireScope(ctx.principal, 'account:read')
  return (await table.listSecrets(openDatabase(ctx.env.DB), ctx.principal.teamId, name)).map(shown)
}

/** Returns a secret without its value (ACC-2). Throws 403 and 404. */
export async function getSecret(ctx: VerbContext, id: string): Promise<Secret> {
  requireScope(ctx.principal, 'account:read')
  const row = orNotFound(await table.findSecret(openDatabase(ctx.env.DB), ctx.principal.teamId, id))
  reportTag(ctx, tagOfSecret(ctx, row))
  return shown(row)
}

/** Stores a secret, sealed (ACC-2 to ACC-5, IDEM-2). Throws 400 (a budget), 403, 409 (name taken) and 422 (its key is in use). */
export async function createSecret(ctx: VerbContext, body: CreateSecretRequest, key: string | undefined): Promise<Secret> {
  requireScope(ctx.principal, 'account:write')
  return onceForKey<Secret>(ctx, 'createSecret', key, body, (store) => writeSecret(ctx, body, store))
}

async function writeSecret(ctx: VerbContext, body: CreateSecretRequest, store: StoreAnswer<Secret>): Promise<Secret> {
  const { env, nowMs } = ctx
  const { teamId } = ctx.principal
  const db = openDatabase(env.DB)
  if ((await table.listSecrets(db, teamId, body.name)).length > 0) throw nameTaken(body.name)
  const bytes = utf8Bytes(body.value)
  await requireBudget(env, teamId, { secrets: 1, secretBytes: bytes })
  const row: table.SecretRow = {
    id: newResourceId(),
    teamId,
    name: body.name,
    description: body.description || null,
    version: table.newVersion(nowMs),
    bytes,
    createdAt: nowMs,
    valueUpdatedAt: null,
  }
  const noted = noteChange(ctx, { action: 'secrets.create', resourceKind: 'secret', resourceId: row.id, before: null, after: auditOf(row) })
  const outcome = await table.insertSecret(db, row, sealParts(env, row, body.value), [noted, ...store(shown(row))])
  if (outcome === 'nameTaken') throw nameTaken(body.name)
  if (outcome === 'full') throw await full(env, row, 1)
  return shown(row)
}

/**
 * Changes value or description (ACC-2). Running workloads keep the value that they got. Throws 400 (a budget), 403, 404, and 409 after too
 * many concurrent changes.
 */
export async function updateSecret(ctx: VerbContext, id: string, patch: UpdateSecretRequest): Promise<Secret> {
  requireScope(ctx.principal, 'account:write')
  const { env, nowMs, principal } = ctx
  const db = openDatabase(env.DB)
  return decideAgain('secret', async () => {
    const before = orNotFound(await table.findSecret(db, principal.teamId, id))
    requireMatch(ctx, tagOfSecret(ctx, before))
    const after = await decideSecretChange(ctx, before, patch)
    const parts = patch.value === undefined ? [] : sealParts(env, after, patch.value)
    const states = { before: auditOf(before), after: auditOf(after) }
    const action = patch.value === undefined ? 'secrets.update' : 'secrets.rotate'
    const noted = noteChange(ctx, { action, resourceKind: 'secret', resourceId: id, ...states })
    const outcome = await table.updateSecret(db, before, after, parts, nowMs, [noted])
    if (outcome === 'full') throw await full(env, after, 0)
    if (outcome !== 'written') return null
    reportTag(ctx, tagOfSecret(ctx, after))
    return shown(after)
  })
}

/** Returns a secret after a PATCH. Throws 400 (a budget). */
export async function decideSecretChange(
  { env, nowMs }: VerbContext,
  before: table.SecretRow,
  patch: UpdateSecretRequest,
): Promise<table.SecretRow> {
  const after = patched(before, patch, nowMs)
  // An account that exceeds its budget may still make a value smaller.
  if (after.bytes > before.bytes) await requireBudget(env, before.teamId, { secretBytes: after.bytes - before.bytes })
  return after
}

/** Deletes a secret with its value (ACC-2). Throws 403 and 404. */
export async function deleteSecret(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'account:write')
  const db = openDatabase(ctx.env.DB)
  const { teamId } = ctx.principal
  await decideAgain('secret', async () => {
    const before = orNotFound(await table.findSecret(db, teamId, id))
    requireMatch(ctx, tagOfSecret(ctx, before))
    const states = { before: auditOf(before), after: null }
    const noted = noteChange(ctx, { action: 'secrets.delete', resourceKind: 'secret', resourceId: id, ...states })
    return (await table.deleteSecret(db, before, [noted])) || null
  })
}

/** Returns the tag of a secret, a digest over the version of its value and its description. */
export function tagOfSecret({ env }: VerbContext, { id, version, description }: table.SecretRow): string {
  return contentTag(env, 'secret', id, version, description)
}

function patched(before: table.SecretRow, { value, description }: UpdateSecretRequest, nowMs: number): table.SecretRow {
  const described = { ...before, description: description === undefined ? before.description : description || null }
  if (value === undefined) return described
  return { ...described, version: table.newVersion(nowMs), bytes: utf8Bytes(value), valueUpdatedAt: nowMs }
}

function sealParts(env: Env, row: table.SecretRow, value: string): string[] {
  const vault = vaultOf(env)
  return splitText(value, PART_BYTES).map((text, part) => vault.seal(table.placeOfPart(row, part), text))
}

// Another request took the last of the budget, or other values are being written: their previous values count until the writes end.
async function full(env: Env, { teamId, bytes }: table.SecretRow, more: number): Promise<Problem> {
  await requireBudget(env, teamId, { secrets: more, secretBytes: more * bytes })
  const detail = 'other secret values of the account are being written, and together they exceed the limit; retry'
  return new Problem('badRequest', { detail, code: 'RULE' })
}

function nameTaken(name: string): Problem {
  return new Problem('conflict', { detail: `the account already has a secret ${name}; change that secret, or choose another name` })
}

/** Returns the fields of a secret for the audit log: only the length of the value, not the value. */
function auditOf({ name, description, bytes }: table.SecretRow) {
  return { name, description, bytes }
}

function shown({ id, name, description, createdAt, valueUpdatedAt }: table.SecretRow): Secret {
  const valueLastUpdatedAt = valueUpdatedAt === null ? null : formatTime(valueUpdatedAt)
  return { id, name, description, createdAt: formatTime(createdAt), valueLastUpdatedAt }
}
