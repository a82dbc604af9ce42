import type {
  AuditEntry,
  AuditStateQuery,
  AuditStateResponse,
  ListAuditQuery,
  ListAuditResponse,
  OperatorAuditQuery,
  OperatorAuditResponse,
} from '../../contract/accounts/audit.ts'
import { formatTime } from '../../contract/timestamps.ts'
import type { AuditRow } from '../../db/audit.ts'
import { type AuditFilter, findChanges, listAudit } from '../../db/audit-reads.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { hasScope, type Scope } from '../../domain/access.ts'
import { stateAt } from '../../domain/audit/state-at.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import { openHeavyReads } from '../heavy-reads.ts'
import { orNotFound } from '../or-not-found.ts'
import { requireScope } from '../require-scope.ts'

/** Rows per page: a larger page might not fit into a Worker's memory. */
const MAX_PAGE_ROWS = 200
/** Changes of one resource that are read before and after the instant. */
const MAX_CHANGES = 500
/** Kinds whose past state can be read, and the scope that reads their present state. */
const SCOPE_OF = { pod: 'pods:read', endpoint: 'serverless:read', template: 'templates:read' } as const satisfies Record<string, Scope>
type StatefulKind = keyof typeof SCOPE_OF

/**
 * Returns a page of the account's changes, newest first (AUD-8): all changes for callers with `account:write`, else those by the caller's
 * own user. Throws 403, and 422 for a cursor of another list.
 */
export async function listChanges(ctx: VerbContext, query: ListAuditQuery): Promise<ListAuditResponse> {
  requireScope(ctx.principal, 'account:read')
  const { teamId, userId, scopes } = ctx.principal
  const filter = { ...filterOf(query), teamId, ...(!hasScope(scopes, 'account:write') && { userId }) }
  const { shown, pagination } = await readPage(await openHeavyReads(ctx), 'listAudit', filter, query)
  return { entries: shown.map((row) => withoutMachine(toEntry(row))), pagination }
}

/** Returns a page of the changes of all accounts, for the operator. Throws 422 for a cursor of another list. */
export async function listAllChanges(ctx: OperatorContext, query: OperatorAuditQuery): Promise<OperatorAuditResponse> {
  const filter = { ...filterOf(query), teamId: query.account }
  const { shown, pagination } = await readPage(openDatabase(ctx.env.DB), 'listAllAudit', filter, query)
  return { entries: shown.map((row) => ({ ...toEntry(row), accountId: row.teamId })), pagination }
}

/**
 * Returns the state of a pod, an endpoint or a template at an instant, derived from its changes (AUD-9). Throws 403 without the scope that
 * reads its present state, and 404 when the retained log has no such resource of the account.
 */
export async function getStateAt(ctx: VerbContext, { resource, at }: AuditStateQuery): Promise<AuditStateResponse> {
  requireScope(ctx.principal, 'account:read')
  const atMs = Date.parse(at)
  const wanted = { kinds: Object.keys(SCOPE_OF), atMs, limit: MAX_CHANGES }
  const { until, since } = await findChanges(openDatabase(ctx.env.DB), ctx.principal.teamId, resource, wanted)
  const known = orNotFound(until[0] ?? since[0])
  const kind = known.resourceKind as StatefulKind
  requireScope(ctx.principal, SCOPE_OF[kind])
  return { resource: { kind, id: resource }, at: formatTime(atMs), ...stateAt(until, since) }
}

async function readPage(db: Database, operation: string, filter: AuditFilter, query: ListAuditQuery) {
  const binding = JSON.stringify([operation, filter])
  const after = decodeCursor(binding, query.cursor)
  const limit = Math.min(query.limit, MAX_PAGE_ROWS)
  const rows = await listAudit(db, filter, after?.id ?? null, limit + 1)
  return pageOf(rows, limit, binding, ({ at, id }) => ({ createdAt: at, id }))
}

function filterOf({ resource, actor, action, from, to }: ListAuditQuery): AuditFilter {
  return { resourceId: resource, actor, action, fromMs: timeOf(from), toMs: timeOf(to) }
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

function toEntry({
  id,
  at,
  actorKind,
  userId,
  credentialId,
  action,
  resourceKind,
  resourceId,
  requestId,
  before,
  after,
}: AuditRow): AuditEntry {
  const actor = { kind: actorKind, userId, credentialId }
  return { id, at: new Date(at).toISOString(), actor, action, resource: { kind: resourceKind, id: resourceId }, requestId, before, after }
}

/** The host and the operator behind a change are visible to the operator only. */
function withoutMachine(entry: AuditEntry): AuditEntry {
  if (entry.actor.kind === 'OPERATOR') return { ...entry, actor: { ...entry.actor, userId: null, credentialId: null } }
  return entry.actor.kind === 'HOST' ? { ...entry, actor: { ...entry.actor, credentialId: null } } : entry
}
