import {
  type CreateJoinTokenRequest,
  DEFAULT_DATA_CENTER_ID,
  JOIN_TOKEN_TTL_MS,
  type JoinToken,
  type NewJoinToken,
} from '../../contract/hosts/hosts.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { deleteUnusedJoinToken, insertJoinToken, listJoinTokens as listRows } from '../../db/hosts/join-tokens.ts'
import type { Env } from '../../env.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { newJoinToken, newResourceId } from '../../platform/ids.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'

/** Creates a token with which one host may join once, within 30 minutes (HOST-1). Only its hash is stored. */
export async function createJoinToken(ctx: OperatorContext, body: CreateJoinTokenRequest): Promise<NewJoinToken> {
  const { env, nowMs } = ctx
  const token = newJoinToken()
  const shown = {
    id: newResourceId(),
    name: body.name ?? null,
    dataCenterId: body.dataCenterId ?? DEFAULT_DATA_CENTER_ID,
    cloud: body.cloud ?? 'SECURE',
  }
  const expiresAt = nowMs + JOIN_TOKEN_TTL_MS
  const stored = { ...shown, tokenHash: await sha256Hex(token), createdAt: nowMs, expiresAt, usedAt: null, usedByHostId: null }
  const { id, ...after } = shown
  await insertJoinToken(openDatabase(env.DB), stored, noteToken(ctx, 'create', id, null, after))
  return { token, ...shown, expiresAt: formatTime(expiresAt) }
}

/** Returns the join tokens of the last weeks, without their secret texts (HOST-30). */
export async function listJoinTokens(env: Env): Promise<JoinToken[]> {
  const rows = await listRows(openDatabase(env.DB))
  return rows.map(({ id, name, dataCenterId, cloud, createdAt, expiresAt, usedAt, usedByHostId }) => ({
    id,
    name,
    dataCenterId,
    cloud,
    expiresAt: formatTime(expiresAt),
    createdAt: formatTime(createdAt),
    usedAt: usedAt === null ? null : formatTime(usedAt),
    usedByHostId,
  }))
}

/** Revokes a join token. Throws 404, and 409 when a host has joined with it: then the host has to be removed. */
export async function revokeJoinToken(ctx: OperatorContext, id: string): Promise<void> {
  const outcome = await deleteUnusedJoinToken(openDatabase(ctx.env.DB), id, noteToken(ctx, 'revoke', id, {}, null))
  if (outcome === 'unknown') throw new Problem('notFound')
  if (outcome === 'used') throw joinTokenUsed()
}

/** Returns the 409 for a token that a host has joined with. */
export function joinTokenUsed(): Problem {
  return new Problem('conflict', { detail: 'a machine has joined with this token; remove the host instead', code: 'IN_USE' })
}

function noteToken(ctx: OperatorContext, verb: 'create' | 'revoke', id: string, before: object | null, after: object | null) {
  return noteByOperator(ctx, null, {
    action: `join-tokens.${verb}`,
    resourceKind: 'join-token',
    resourceId: id,
    before: before && { ...before },
    after: after && { ...after },
  })
}
