import type { Mutant } from './table.ts'

// Bugs of the parts common to all REST routes, and of refusals at create.

const FAULT = 'src/domain/text/json-fault.ts'
const BUILTIN = 'src/domain/resources/builtin-image.ts'
const ENDPOINT = 'src/domain/endpoint/release-diff.ts'

/** Killed by the unit tests of the pure rules. */
export const REST_DOMAIN_MUTANTS: readonly Mutant[] = [
  { id: 'a comma may end a list', file: FAULT, find: "return open.at(-1) === '{' ? 'name' : 'value'", replace: "return 'value-or-end'" },
  { id: 'a bracket closes a brace', file: FAULT, find: "if (open.at(-1) !== '[' || (", replace: 'if ((' },
  { id: 'columns count from the start of the text', file: FAULT, find: 'column: at - lineStart + 1', replace: 'column: at + 1' },
  {
    id: 'a flood is refused as fast as it asks',
    file: 'src/domain/refusals.ts',
    find: 'return Math.min(REFUSAL_WAIT_MS',
    replace: 'return Math.min(0',
  },
  {
    id: 'a constraint without words shows its figures',
    file: 'src/domain/host/constraint-text.ts',
    find: '?? name',
    replace: '?? failed',
  },
  { id: 'any built-in image passes', file: BUILTIN, find: 'if (!known.includes(image)) return', replace: 'if (false) return' },
  { id: 'a built-in image may have mounts', file: BUILTIN, find: 'return hasMounts ? ', replace: 'return false ? ' },
  {
    id: 'nine GPUs in one worker',
    file: 'src/domain/endpoint/compute.ts',
    find: 'if (compute.count > most)',
    replace: 'if (compute.count > most + 1)',
  },
  {
    id: 'the cloud of an endpoint is not asked of hosts',
    file: 'src/domain/host/placement.ts',
    find: "request.cloud !== 'ALL' && request.cloud !== host.cloud",
    replace: 'false',
  },
  { id: 'ALL is a cloud of its own', file: 'src/domain/host/placement.ts', find: "request.cloud !== 'ALL' && ", replace: '' },
  {
    id: 'another cloud is no release',
    file: ENDPOINT,
    find: '(before.cloud ?? ENDPOINT_DEFAULTS.cloud) !== (after.cloud ?? ENDPOINT_DEFAULTS.cloud) ||',
    replace: '',
  },
]

const KEYS = 'src/db/idempotency.ts'
const BODY = 'src/http/middleware/strict-json.ts'
const KEY_CALLERS = 'src/services/credentials/key-callers.ts'
const VERIFY_TOKEN = 'src/services/sessions/verify-token.ts'
const VERDICTS = 'src/services/credentials/verdicts.ts'

const MEMBERS = 'src/db/organizations/members.ts'
const INVITATIONS = 'src/db/organizations/invitations.ts'

/** Killed by the tests against the real Worker. */
export const REST_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'senders whose addresses nobody knows lock one another out',
    file: KEY_CALLERS,
    find: 'parseApiKey(key) ? visit.source() : null',
    replace: "parseApiKey(key) ? (visit.source() ?? 'unknown') : null",
  },
  {
    id: 'a session acts for any team that it names',
    file: 'src/domain/session/accounts.ts',
    find: 'if (askedTeam !== null && asked) return { teamId: askedTeam, membership: asked }',
    replace: "if (askedTeam !== null) return { teamId: askedTeam, membership: asked ?? { role: 'OWNER', isSuspended: false } }",
  },
  {
    id: 'an answer of the job API has no id of its request',
    file: 'src/http/jobs/job-api.ts',
    find: '  headers.set(REQUEST_ID_HEADER, requestId)\n',
    replace: '',
  },
  {
    id: 'an answer tells more than its document',
    file: 'src/services/resources/secrets.ts',
    find: 'createdAt: formatTime(createdAt), valueLastUpdatedAt }',
    replace: 'createdAt: formatTime(createdAt), valueLastUpdatedAt, parts: 1 }',
  },
  { id: 'a token for others is a session', file: VERIFY_TOKEN, find: 'audience: [...provider.audiences],', replace: '' },
  { id: 'any published key may sign in any way', file: VERIFY_TOKEN, find: 'algorithms: [...provider.algorithms],', replace: '' },
  {
    id: 'an address that is said to be unverified counts',
    file: 'src/domain/session/claims.ts',
    find: '(claims.email_verified === undefined && isListed)',
    replace: 'isListed',
  },
  {
    id: 'a reassigned address inherits an account',
    file: 'src/services/sessions/sign-in.ts',
    find: 'if (await hasIdentityAt(db, provider.issuer, user.id)) return TAKEN',
    replace: '',
  },
  {
    id: 'a token of before links an identity again that the operator has forgotten',
    file: 'src/services/sessions/sign-in.ts',
    find: 'if (!isIssuedAfter(who.claims, user.identitiesForgottenAt)) return OUTDATED',
    replace: '',
  },
  {
    id: 'each unknown key is asked for',
    file: 'src/services/sessions/provider-keys.ts',
    find: 'if (!mayFetchKeys(set.triedAtMs, nowMs)) return',
    replace: 'if (set.triedAtMs === nowMs + 1) return',
  },
  {
    id: 'a stream outlives the membership of its session',
    file: 'src/services/sessions/session-callers.ts',
    find: 'answer.ok && answer.principal.teamId === principal.teamId && answer.principal.scopes === principal.scopes',
    replace: 'answer.ok',
  },
  {
    id: 'who has just joined a team acts for the own account',
    file: 'src/services/sessions/session-callers.ts',
    find: 'known && !isMember(known.accounts, visit)',
    replace: 'false',
  },
  {
    id: 'one row that cannot be opened ends a re-seal',
    file: 'src/db/reseal.ts',
    find: 'failed.push({ id: row.id, error })',
    replace: 'throw error',
  },
  { id: 'any number of answers is kept', file: KEYS, find: 'WHERE ${isKnown} OR (${hasRoom})`', replace: 'WHERE 1`' },
  { id: 'an answer is stored for what was not made', file: KEYS, find: ' WHERE changes() > 0`', replace: ' WHERE 1`' },
  {
    id: 'one key for all operations',
    file: 'src/services/idempotency.ts',
    find: 'operation, key }',
    replace: "operation: '', key }",
  },
  {
    id: 'headers of a read that was one too many go out',
    file: 'src/http/middleware/rate-limit.ts',
    find: '    if (overlaps) c.res = undefined',
    replace: '',
  },
  {
    id: 'a key that expires makes one that does not',
    file: 'src/domain/key-grant.ts',
    find: 'ownUntilMs === null || (untilMs',
    replace: 'untilMs === null || (untilMs',
  },
  {
    id: 'one request more than a minute has',
    file: 'src/domain/rate-limit.ts',
    find: 'counts.minute.count < quota.minute',
    replace: 'counts.minute.count <= quota.minute',
  },
  {
    id: 'a stolen key spends the reserve of all keys',
    file: 'src/services/accounts/rate-limit.ts',
    find: 'ends ? caller.credentialId : undefined',
    replace: 'undefined',
  },
  {
    id: 'members of an account share their limit',
    file: 'src/services/accounts/rate-limit.ts',
    find: 'rateLimiterStub(env, ownUser(caller))',
    replace: 'rateLimiterStub(env, ownUser({ ...caller, userId: caller.teamId }))',
  },
  {
    id: 'the last room is given twice',
    file: 'src/db/endpoints/endpoints.ts',
    find: "withinBudget(teamId, 'endpoints', 1)",
    replace: "withinBudget(teamId, 'endpoints', 0)",
  },
  {
    id: 'old releases stay',
    file: 'src/db/endpoints/endpoints.ts',
    find: '${releases.version} <= ${oldest}',
    replace: '${releases.version} < 0 AND ${oldest}',
  },
  {
    id: 'a slice beyond the budget',
    file: 'src/db/endpoints/granted-bytes.ts',
    find: '${bytes} <= granted_bytes OR ',
    replace: '1 OR ',
  },
  {
    id: 'organizations multiply the budgets of who makes them',
    file: 'src/db/accounts/budgets.ts',
    find: 'WHERE maker_team_id = ${payerOf(teamId)} AND plan IS NULL)',
    replace: 'WHERE FALSE)',
  },
  {
    id: 'an organization with a plan is counted with its maker',
    file: 'src/db/accounts/budgets.ts',
    find: 'WHEN plan IS NULL THEN COALESCE',
    replace: 'WHEN TRUE THEN COALESCE',
  },
  {
    id: 'a plan goes before what an account was given',
    file: 'src/db/accounts/budgets.ts',
    find: 'COALESCE(json_extract(b.bounds, ${path}), json_extract(p.limits, ${inPlan}))',
    replace: 'COALESCE(json_extract(p.limits, ${inPlan}), json_extract(b.bounds, ${path}))',
  },
  {
    id: 'a plan is deleted under its accounts',
    file: 'src/db/accounts/plans.ts',
    find: 'WHERE teams.plan = plans.name)',
    replace: 'WHERE FALSE)',
  },
  { id: 'verdicts are kept by the header', file: KEY_CALLERS, find: 'keys.keepGood(key,', replace: 'keys.keepGood(`${key} ${nowMs}`,' },
  {
    id: 'what was read before a change is remembered after it',
    file: 'src/services/credentials/verdicts.ts',
    find: 'if (mark === this.forgotten) this.good',
    replace: 'this.good',
  },
  { id: 'unknown keys are looked up again', file: KEY_CALLERS, find: 'if (keys.badOf(key, nowMs)) return', replace: 'if (false) return' },
  {
    id: 'unknown keys of an address are not counted',
    file: 'src/services/credentials/lookups.ts',
    find: '  if (found === null) misses.set',
    replace: '  if (found === undefined) misses.set',
  },
  { id: 'a merge patch passes as JSON', file: BODY, find: 'application\\/json\\s*(;|$)', replace: 'application\\/(\\S+\\+)?json\\s*(;|$)' },
  { id: 'a missing body is an empty one', file: BODY, find: "if (text === '') throw", replace: "if (text === '?') throw" },
  {
    id: 'the last owner steps down with the one before',
    file: MEMBERS,
    find: "member.role === 'OWNER' && to !== 'OWNER' ? hasOtherOwner(teamId, member.userId) : undefined",
    replace: 'undefined',
  },
  {
    id: 'the last owner leaves with the one before',
    file: MEMBERS,
    find: "const keepsOwner = member.role === 'OWNER' ? ",
    replace: 'const keepsOwner = false ? ',
  },
  {
    id: 'anybody takes an invitation',
    file: INVITATIONS,
    find: 'return sql`${invitations.email} = (SELECT',
    replace: 'return sql`1 OR ${invitations.email} = (SELECT',
  },
  {
    id: 'an invitation outlives the key that made it',
    file: 'src/services/organizations/invitations.ts',
    find: 'if (found && (await endedParents(ctx, [found.invitation])).size === 0) return found',
    replace: 'if (found) return found',
  },
  { id: 'an invitation outlives what its maker may give', file: INVITATIONS, find: 'AND (maker.role =', replace: 'AND (1 OR maker.role =' },
  {
    id: 'a key that is handed on grows',
    file: MEMBERS,
    find: 'if (member.role === heir.role) return',
    replace: 'if (member.role !== heir.userId) return',
  },
  {
    id: 'a suspended account is let in',
    file: KEY_CALLERS,
    find: 'if (verdict.isSuspended) return',
    replace: 'if (false) return',
  },
  {
    id: 'a stream outlives its key',
    file: 'src/http/watched/watched-stream.ts',
    find: '(good) => good || ending.abort(),',
    replace: '() => undefined,',
  },
  {
    id: 'every stream looks its key up by itself',
    file: VERDICTS,
    find: 'if (this.looking.get(id, nowMs)) return true',
    replace: '',
  },
  {
    id: 'every encoded slash of an OpenAI route is a slash',
    file: 'src/contract/jobs/job-routes.ts',
    find: "path.lastIndexOf('/') === 0 ? path",
    replace: 'true ? path',
  },
]
