import type { Mutant } from './table.ts'

// Bugs of the audit log.

/** Killed by the unit tests of the pure rules. */
export const AUDIT_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'an audit row shows values of variables',
    file: 'src/domain/audit/change.ts',
    find: '[ENV_PREFIX + name, digest(name, value)]',
    replace: '[ENV_PREFIX + name, value]',
  },
  {
    id: 'an audit row keeps members of any size',
    file: 'src/domain/audit/change.ts',
    find: 'if (state === null || bytesOf(state) <= MAX_STATE_BYTES) return state',
    replace: 'if (state !== undefined) return state',
  },
  {
    id: 'a resource as it was has the members that went before',
    file: 'src/domain/audit/state-at.ts',
    find: 'known.set(name, after?.[name])',
    replace: 'known.set(name, after?.[name] ?? before?.[name])',
  },
]

/** Killed by the tests against the real Worker. */
export const AUDIT_WORKER_MUTANTS: readonly Mutant[] = [
  { id: 'what is refused is noted', file: 'src/db/audit.ts', find: ' WHERE changes() > 0`)', replace: '`)' },
  {
    id: 'a purge is forgotten when the database is away',
    file: 'durable-objects/audit-outbox.ts',
    find: '    await insertAuditRows(\n      openDatabase(env.DB),\n      rows.map(({ row }) => JSON.parse(String(row)) as AuditRow),\n    )\n',
    replace:
      '    await insertAuditRows(\n      openDatabase(env.DB),\n      rows.map(({ row }) => JSON.parse(String(row)) as AuditRow),\n    ).catch(() => undefined)\n',
  },
  {
    id: 'a member reads what others did',
    file: 'src/services/accounts/audit-log.ts',
    find: "...(!hasScope(scopes, 'account:write') && { userId })",
    replace: '',
  },
]
