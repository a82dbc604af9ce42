import type { AuditRow, NewAuditRow } from '../db/audit.ts'
import type { Statement } from '../db/client.ts'
import { auditRow, auditStatement, type Change } from '../effects/audit.ts'
import { byCaller, byOperator, type Cause } from '../objects/cause.ts'
import type { OperatorContext, VerbContext } from './context.ts'

export type { Change }

/** A deletion repeats nothing of what was there: the rows before it say that. */
export const DELETED = { before: {}, after: null }

/**
 * The row of the audit log for a change of the caller's team (AUD-1). It belongs into the batch of the change, right behind the statement that
 * makes it: no change, no row, and no round trip of its own.
 */
export function noteChange(ctx: VerbContext, change: Change): Statement {
  return auditStatement(ctx.env, ctx.nowMs, causeOf(ctx), ctx.principal.teamId, change)
}

/** The same for what the operator does, to an account or, with null, to what is the operator's own. */
export function noteByOperator(ctx: OperatorContext, teamId: NewAuditRow['teamId'], change: Change): Statement {
  return auditStatement(ctx.env, ctx.nowMs, operatorCause(ctx), teamId, change)
}

/** The same as a row, for what no statement of D1 changes. */
export function rowByOperator(ctx: OperatorContext, change: Change): AuditRow {
  return auditRow(ctx.env, ctx.nowMs, operatorCause(ctx), null, change)
}

/** The row for a change that a Durable Object makes, which hands it on (adr/0025). */
export function rowOf(ctx: VerbContext, change: Change): AuditRow {
  return auditRow(ctx.env, ctx.nowMs, causeOf(ctx), ctx.principal.teamId, change)
}

/** Who is behind a request of a caller, which was counted (SHR-3). */
export function causeOf(ctx: Pick<VerbContext, 'principal' | 'requestId' | 'counted'>): Cause {
  const { principal, requestId, counted } = ctx
  const { via, credentialId, userId } = principal
  if (via === 'OPERATOR') return byOperator({ userId: null, credentialId: null, requestId })
  return byCaller(counted, { actorKind: via, userId, credentialId, requestId })
}

/** Who is behind a request of the operator, whose key is nobody's in particular and whose session is somebody's (CS-13). */
export function operatorCause({ requestId, operator }: OperatorContext): Cause {
  return byOperator({ userId: operator?.userId ?? null, credentialId: operator?.credentialId ?? null, requestId })
}
