import type { BudgetName } from '../../../src/contract/accounts/budgets.ts'

/** The bound of a table's rows. */
export type Bound =
  /** At most this many rows in one database or object. */
  | { rows: number }
  /** Removed by this code: a file, and a text in it. */
  | { removed: string; by: string; rule?: string }
  /** A budget of the account. */
  | { budget: BudgetName }
  /** One row, or a few, for each of something that is bounded itself. */
  | { each: string }
  /** Only its operator adds rows, one by one. */
  | { operator: string }
  /** Unbounded, with the reason. */
  | { grows: string }

const LIST = 'an account has at most 1,000 (src/db/bounds.ts, PAG-5)'
/** The tables of D1. */
export const D1: Record<string, Bound> = {
  allocations: { each: 'pod or worker that has a place on a host' },
  api_keys: { removed: 'src/db/accounts/own-keys.ts', by: 'ENDED_RETENTION_MS' },
  audit: { removed: 'src/db/audit-reads.ts', by: 'deleteOldAudit', rule: 'AUD-10' },
  budgets: { each: 'team that the operator set bounds for' },
  capacity_waiters: { each: 'endpoint' },
  catalog_entries: { operator: 'prices and hardware' },
  clusters: { budget: 'clusters' },
  console_sessions: { removed: 'src/db/sessions/console-sessions.ts', by: 'MAX_CONSOLE_SESSIONS' },
  delegations: { each: LIST },
  device_logins: { removed: 'src/db/sessions/device-logins.ts', by: 'db.delete(deviceLogins).where(sql`${deviceLogins.expiresAt}' },
  endpoints: {
    grows: 'a deleted endpoint leaves a row without configuration, so that its id is never given out again (END-32); 60 creations a minute',
  },
  global_volumes: { each: LIST },
  host_gpus: { each: 'host and type of GPU' },
  hosts: { operator: 'machines; one that is removed stays, so that what ran there can be explained' },
  idempotency_keys: { removed: 'src/db/idempotency.ts', by: 'deleteExpiredKeys', rule: 'IDEM-3' },
  identities: { each: 'user and provider' },
  invitations: { removed: 'src/db/organizations/invitations.ts', by: 'MAX_OPEN_INVITATIONS' },
  join_tokens: { removed: 'src/db/hosts/join-tokens.ts', by: 'RETENTION_AFTER_EXPIRY_MS' },
  log_archives: { budget: 'logBytes' },
  memberships: { each: 'member of a team, up to MAX_MEMBERS of them' },
  network_volumes: { each: LIST },
  openings: { each: 'host and type of GPU' },
  overlays: { removed: 'src/db/overlays/account-overlay.ts', by: 'dropUnusedOverlays' },
  plans: { operator: 'plans' },
  pod_usage: { grows: 'nothing of this release writes to it; a Worker of the release before does during a rollout' },
  pods: { removed: 'src/db/pods/terminated-pods.ts', by: 'deleteTerminatedPods', rule: 'POD-76' },
  quotas: { each: 'team that the operator set quotas for' },
  registries: { each: LIST },
  releases: { budget: 'releasesPerEndpoint' },
  secret_parts: { budget: 'secretBytes' },
  secrets: { budget: 'secrets' },
  sign_in_links: { removed: 'src/db/sessions/sign-in-links.ts', by: 'db.delete(signInLinks)' },
  spend_limits: { each: 'team' },
  spend_stops: { removed: 'src/db/billing/stops.ts', by: 'MAX_KEPT' },
  ssh_keys: { each: 'team' },
  teams: {
    grows:
      'a deleted team stays as the name of what it used; users come from the operator or the identity provider, organizations have a budget',
  },
  templates: { each: LIST },
  usage: { removed: 'src/db/billing/usage-removal.ts', by: 'deleteOldUsage', rule: 'BIL-42' },
  usage_archives: { removed: 'src/db/billing/usage-archives.ts', by: 'deleteArchiveRows', rule: 'BIL-47' },
  usage_days: { grows: 'a row a resource and day on which it was charged: bills of any past time stay exact' },
  usage_removals: { rows: 2 },
  usage_totals: { grows: 'four rows a team and day on which it was charged' },
  users: { grows: 'a deleted user stays as the name of who did something; users come from the operator or the identity provider' },
  volume_hosts: { removed: 'src/db/resources/volume-hosts.ts', by: 'deleteVolumeHosts' },
  volume_tombstones: { removed: 'src/db/resources/volume-tombstones.ts', by: 'deleteWiped' },
}

const OUTBOX: Bound = { removed: 'durable-objects/audit-outbox.ts', by: 'DELETE FROM audit_outbox' }
const JOB = 'job; jobs end by ttl and retention, and hold `queuedBytes`'
/** Grouped by the place of the table's creation: the tables of an object are in its own folder or file. */
export const OBJECTS: Record<string, Record<string, Bound>> = {
  'alarms.ts': { timers: { each: 'name of a timer, which the code has' } },
  'audit-outbox.ts': { audit_outbox: OUTBOX },
  'cluster.ts': { meta: { each: 'name, which the code has' }, reports: { each: 'host of the cluster, of the last question' } },
  endpoint: {
    attempts: { each: JOB },
    bulks: { removed: 'durable-objects/endpoint/store/jobs/bulk-store.ts', by: 'MAX_KEPT' },
    chunks: { each: JOB },
    former_workers: { removed: 'durable-objects/endpoint/store/workers/past-workers.ts', by: 'REMEMBERED_MS' },
    idempotency_keys: { removed: 'durable-objects/endpoint/store/jobs/idempotency-store.ts', by: 'IDEMPOTENCY_RETENTION_MS' },
    jobs: { budget: 'queuedBytes' },
    meta: { each: 'name, which the code has' },
    outbox: { rows: 100_000 },
    outbox_pieces: { each: 'row of the outbox, which has at most 2 GiB' },
    pieces: { each: JOB },
    request_samples: { removed: 'durable-objects/endpoint/store/request-series.ts', by: 'SERIES_MINUTES' },
    scaling_log: { removed: 'durable-objects/endpoint/store/decision-log.ts', by: 'MAX_DECISIONS' },
    stops: { each: 'worker that holds a job' },
    timeline_hours: { removed: 'durable-objects/endpoint/store/timeline-store.ts', by: 'DELETE FROM timeline_hours' },
    worker_changes: { removed: 'durable-objects/endpoint/store/timeline-store.ts', by: 'DELETE FROM worker_changes' },
    worker_lives: { removed: 'durable-objects/endpoint/store/workers/worker-lives.ts', by: 'REMEMBERED_MS' },
    workers: { budget: 'gpus' },
  },
  host: {
    assertions: { removed: 'durable-objects/host/link/assertions.ts', by: 'DELETE FROM assertions' },
    history: { each: 'place of the ring (HIS-3)' },
    meta: { each: 'name, which the code has' },
    pod_marks: { removed: 'durable-objects/host/pods/pod-intents.ts', by: 'DELETE FROM pod_marks' },
    workloads: { each: 'workload of the machine' },
  },
  'pod-log': {
    lines: { rows: 0 },
    marks: { removed: 'durable-objects/pod-log/log-store.ts', by: 'MAX_STREAMS' },
    meta: { each: 'name, which the code has' },
    packs: { removed: 'durable-objects/pod-log/pack-store.ts', by: 'DELETE FROM packs' },
    segments: { budget: 'logBytes' },
  },
  'rate-limiter.ts': { windows: { rows: 3 } },
  'sql-migrations.ts': { _migrations: { each: 'step of the schema' } },
  webhook: {
    deliveries: { removed: 'durable-objects/webhook/delivery-store.ts', by: 'RETENTION_MS' },
    meta: { each: 'name, which the code has' },
    pieces: { each: 'delivery' },
  },
}
