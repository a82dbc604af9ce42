import type { ListDeliveriesQuery, SigningSecret, WebhookDelivery } from '../../contract/endpoints/webhooks.ts'
import type { Pagination } from '../../contract/pagination.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import type { SigningSecrets } from '../../domain/webhook/delivery.ts'
import { ownTeam } from '../../objects/ownership/own.ts'
import { webhookSenderStub } from '../../objects/stubs.ts'
import type { LoggedDelivery } from '../../rpc/webhook-sender.ts'
import { rowOf } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import { requireScope } from '../require-scope.ts'

/**
 * Returns the secret that signs the account's webhooks (HOOK-8), created on first use. Its holder can forge webhooks, so reading it
 * requires `jobs:write`.
 */
export async function getSigningSecret(ctx: VerbContext): Promise<SigningSecret> {
  requireScope(ctx.principal, 'jobs:write')
  return toSigningSecret(await senderOf(ctx).signingSecrets(), ctx.nowMs)
}

/** Replaces the signing secret; the previous one also signs for 24 hours. */
export async function rotateSigningSecret(ctx: VerbContext): Promise<SigningSecret> {
  requireScope(ctx.principal, 'jobs:write')
  const note = rowOf(ctx, {
    action: 'signing-secrets.rotate',
    resourceKind: 'signing-secret',
    resourceId: ctx.principal.teamId,
    before: {},
    after: {},
  })
  return toSigningSecret(await senderOf(ctx).rotateSigningSecret(note), ctx.nowMs)
}

/** Returns a page of the account's delivery log, newest first (PAG-1 to PAG-3). Throws 403, and 422 for a cursor of another list. */
export async function listDeliveries(
  ctx: VerbContext,
  query: ListDeliveriesQuery,
): Promise<{ deliveries: WebhookDelivery[]; pagination: Pagination }> {
  requireScope(ctx.principal, 'jobs:read')
  const { endpointId, jobId, limit, cursor } = query
  const binding = JSON.stringify(['listWebhookDeliveries', endpointId ?? null, jobId ?? null])
  const after = decodeCursor(binding, cursor)
  const rows = await senderOf(ctx).deliveries({ endpointId, jobId, after, limit: limit + 1 })
  const { shown, pagination } = pageOf(rows, limit, binding, ({ createdAtMs, id }) => ({ createdAt: createdAtMs, id }))
  return { deliveries: shown.map(toDelivery), pagination }
}

/** Sends a finished delivery once more. Throws 403, 404 (also for another account's), and 409 while its attempts continue. */
export async function redeliver(ctx: VerbContext, id: string): Promise<WebhookDelivery> {
  requireScope(ctx.principal, 'jobs:write')
  const change = { action: 'webhook-deliveries.redeliver', resourceKind: 'webhook-delivery', resourceId: id, before: {}, after: {} }
  const note = rowOf(ctx, change)
  const result = await senderOf(ctx).redeliver(id, note)
  if (result === 'unknown') throw new Problem('notFound')
  if (result === 'pending')
    throw new Problem('conflict', { detail: 'this delivery still has attempts pending; wait until it is DELIVERED or FAILED' })
  return toDelivery(result)
}

function senderOf(ctx: VerbContext) {
  return webhookSenderStub(ctx.env, ownTeam(ctx.principal))
}

function toSigningSecret({ current, previous }: SigningSecrets, nowMs: number): SigningSecret {
  const overlaps = previous !== null && nowMs < previous.untilMs
  return { secret: current, previousSecretExpiresAt: overlaps ? formatTime(previous.untilMs) : null }
}

function toDelivery({ id, endpointId, jobId, url, state, createdAtMs }: LoggedDelivery): WebhookDelivery {
  const attempts = state.attempts.map(({ atMs, ...attempt }) => ({ at: formatTime(atMs), ...attempt }))
  return { id, endpointId, jobId, url, status: state.status, attempts, createdAt: formatTime(createdAtMs) }
}
