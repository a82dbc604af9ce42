import type { AuditRow, NewAuditRow } from '../db/audit.ts'
import type { Statement } from '../db/client.ts'
import { auditRow, auditStatement, type Change } from '../effects/audit.ts'
import { byCaller, byOperator, type Cause } from '../rpc/cause.ts'
import type { OperatorContext, VerbContext } from './context.ts'

export type { Change }

/** Contents of a deletion's audit row: earlier rows record the state, so it is not repeated. */
export const DELETED = { before: {}, after: null }

/**
 * Returns the statement of the audit row for a change of the caller's team (AUD-1). It belongs into the batch of the change, right after
 * the statement that makes it: without a change there is no row, and it needs no round trip of its own.
 */
export function noteChange(ctx: VerbContext, change: Change): Statement {
  return auditStatement(ctx.env, ctx.nowMs, causeOf(ctx), ctx.principal.teamId, change)
}

/** Returns the statement of the audit row for a change by the operator, to an account or, with null, to the operator's own resources. */
export function noteByOperator(ctx: OperatorContext, teamId: NewAuditRow['teamId'], change: Change): Statement {
  return auditStatement(ctx.env, ctx.nowMs, operatorCause(ctx), teamId, change)
}

/** Returns the audit row of an operator's change that no D1 statement makes. */
export function rowByOperator(ctx: OperatorContext, change: Change): AuditRow {
  return auditRow(ctx.env, ctx.nowMs, operatorCause(ctx), null, change)
}

/** Returns the audit row for a change that a Durable Object makes and forwards (adr/0025). */
export function rowOf(ctx: VerbContext, change: Change): AuditRow {
  return auditRow(ctx.env, ctx.nowMs, causeOf(ctx), ctx.principal.teamId, change)
}

/** Returns the identity behind a counted request of a caller (SHR-3). */
export function causeOf(ctx: Pick<VerbContext, 'principal' | 'requestId' | 'counted'>): Cause {
  const { principal, requestId, counted } = ctx
  const { via, credentialId, userId } = principal
  if (via === 'OPERATOR') return byOperator({ userId: null, credentialId: null, requestId })
  return byCaller(counted, { actorKind: via, userId, credentialId, requestId })
}

/**
 * Returns the identity behind an operator's request: the user and session of a signed-in operator, or no user for the operator's key
 * (SESSION-13).
 */
export function operatorCause({ requestId, operator }: OperatorContext): Cause {
  return byOperator({ userId: operator?.userId ?? null, credentialId: operator?.credentialId ?? null, requestId })
}
