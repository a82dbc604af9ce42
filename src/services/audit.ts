import { type AuditRow, insertAuditRow } from '../db/audit.ts'
import { openDatabase, type Statement } from '../db/client.ts'
import { newAuditId } from '../platform/ids.ts'
import type { VerbContext } from './context.ts'

/** What was done to which resource. `before` and `after` hold no secret: names of variables and hashes of their values stand for env. */
export type Change = Pick<AuditRow, 'action' | 'resourceKind' | 'resourceId' | 'before' | 'after'>

/**
 * The row of the audit log for a change of the caller's team (AUD-1). It belongs into the batch of the change, right behind the statement that
 * makes it: no change, no row, and no round trip of its own.
 */
export function noteChange(ctx: VerbContext, change: Change): Statement {
  const { via, credentialId, userId, teamId } = ctx.principal
  const who = { actorKind: via, credentialId, userId, teamId, requestId: ctx.requestId }
  return insertAuditRow(openDatabase(ctx.env.DB), { id: newAuditId(ctx.nowMs), at: ctx.nowMs, ...who, ...change })
}
