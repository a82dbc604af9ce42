import { type AuditRow, insertAuditRow, type NewAuditRow } from '../db/audit.ts'
import { openDatabase, type Statement } from '../db/client.ts'
import type { PodRow } from '../db/pods/pods.ts'
import { bounded, type Contents, changedMembers } from '../domain/audit/change.ts'
import { endpointState, podState, templateState } from '../domain/audit/states.ts'
import type { Env } from '../env.ts'
import { newAuditId } from '../platform/ids.ts'
import { vaultOf } from '../platform/seal.ts'
import type { Cause } from '../rpc/cause.ts'

/** One action on one resource. `before` and `after` hold no secrets; `stateOf` handles resources with variables. */
export type Change = Pick<AuditRow, 'action' | 'resourceKind' | 'resourceId' | 'before' | 'after'>

/** Returns a row of the audit log. `teamId` is the account that owns the resource; null for the operator's own resources. */
export function auditRow(env: Env, nowMs: number, cause: Cause, teamId: string | null, change: Change): AuditRow {
  const { action, resourceKind, resourceId } = change
  const digest = digestIn(env, resourceKind, resourceId)
  const contents = { before: bounded(change.before, digest), after: bounded(change.after, digest) }
  return { id: newAuditId(nowMs), at: nowMs, teamId, ...cause, action, resourceKind, resourceId, ...contents }
}

/** Returns the statement that inserts an audit row; it follows the statement of the change in the same batch (AUD-1). */
export function auditStatement(env: Env, nowMs: number, cause: Cause, teamId: NewAuditRow['teamId'], change: Change): Statement {
  return insertAuditRow(openDatabase(env.DB), { ...auditRow(env, nowMs, cause, null, change), teamId })
}

/** The cause and the action name of a pod's change. */
export interface PodAudit {
  cause: Cause
  action: string
}

/** Returns the audit statement of a pod's transition. A terminated pod has no content left; earlier rows record how it was. */
export function podStatement(env: Env, { cause, action }: PodAudit, before: PodRow, after: PodRow): Statement {
  const { id, teamId, status } = after
  const contents = status === 'TERMINATED' ? { before: {}, after: null } : contentsOf(env, 'pod', id, before, after)
  // Uses the instant of the transition and not that of the request: a try that lost a race is written after the change that won.
  return auditStatement(env, Date.now(), cause, teamId, { action, resourceKind: 'pod', resourceId: id, ...contents })
}

const STATES = { pod: podState, endpoint: endpointState, template: templateState }
type Audited = typeof STATES

/**
 * Returns the state before and after for resources with variables, of which only names and digests are retained (AUD-3). An update retains
 * only the changed members (AUD-4).
 */
export function contentsOf<Kind extends keyof Audited>(
  env: Env,
  kind: Kind,
  resourceId: string,
  before: Parameters<Audited[Kind]>[0] | null,
  after: Parameters<Audited[Kind]>[0] | null,
): Contents {
  const state = STATES[kind] as (resource: typeof before, digest: ReturnType<typeof digestIn>) => ReturnType<Audited[Kind]>
  const digest = digestIn(env, kind, resourceId)
  const [old, now] = [before && state(before, digest), after && state(after, digest)]
  return old && now ? changedMembers(old, now) : { before: old, after: now }
}

function digestIn(env: Env, kind: string, resourceId: string): (name: string, value: string) => string {
  const vault = vaultOf(env)
  return (name, value) => `hmac-sha256:${vault.digest(['audit', kind, resourceId, name], value)}`
}
