import type { BudgetName } from './accounts/budgets.ts'

/**
 * The party that use is counted for: the person behind all accounts that they have created, one account, or the network address of a client
 * that has not authenticated. A bound per host or per plane is none of these: the first user could take all of it.
 */
export const CHARGED = ['person', 'account', 'address'] as const

/** A finite resource that accounts share (SHR-5). */
export interface SharedResource {
  charged: (typeof CHARGED)[number]
  /** The largest share of one party while others use the resource. */
  share: string
  /** The amount available to a party that holds nothing yet, however much the others hold. */
  reserve: string
  /** Files, with their exports, that refuse further use. */
  at: readonly [string, ...string[]]
  /** Rules that define the bound; at least one of those files names one of them. */
  rules: readonly [string, ...string[]]
  budgets?: readonly BudgetName[]
  /** Tables whose number of rows it bounds: tables of D1 by name, tables of a Durable Object as `<folder>/<name>`. */
  tables?: readonly string[]
}

const OWN = 'all: use by others is not counted with it'
const BUDGET = 'a budget, BUDGET-1; adr/0050'

/** All finite resources that accounts share, by name. A new one needs a row: see docs/adding-things.md. */
export const SHARED_RESOURCES = {
  'REST requests': {
    charged: 'person',
    share: '60 a minute, 3,000 an hour, 50,000 a day',
    reserve: OWN,
    at: ['src/services/accounts/rate-limit.ts#countRequest'],
    rules: ['RATE-1', 'SHR-3'],
    tables: ['teams', 'overlays', 'volume_tombstones', 'volume_hosts', 'host/pod_marks'],
  },
  'calls that end a resource': {
    charged: 'person',
    share: 'a tenth of the quota of a minute for each key and session; beyond ten of them, as many as they leave to others (adr/0051)',
    reserve: 'one a minute for each of 256 keys and sessions',
    at: ['src/domain/rate-limit.ts#spendAll'],
    rules: ['CAP-3', 'SHR-44'],
  },
  "requests of pods' keys": {
    charged: 'person',
    share: 'ten times those of a user for all pods together, a tenth of it for one',
    reserve: OWN,
    at: ['src/services/accounts/rate-limit.ts#countRequest'],
    rules: ['CAP-2', 'SHR-45'],
  },
  'rows of the audit log': {
    charged: 'person',
    share: 'as many as requests: each needs a request',
    reserve: OWN,
    at: ['src/rpc/cause.ts#byCaller'],
    rules: ['SHR-3'],
    tables: ['audit', 'audit-outbox.ts/audit_outbox'],
  },
  'sign-ins and sessions': {
    charged: 'person',
    share: 'a request each; 50 sessions, and 10 by each key; a further one ends the oldest',
    reserve: OWN,
    at: ['src/services/accounts/rate-limit.ts#tryCharge'],
    rules: ['SHR-3'],
    tables: ['console_sessions', 'sign_in_links', 'users'],
  },
  'device codes': {
    charged: 'address',
    share: '30 a minute, and 600 polls; a waiting code has no row, and a decision costs the user a request',
    reserve: OWN,
    at: [
      'src/http/console/device-routes.ts#MAX_STARTS',
      'src/http/console/device-routes.ts#MAX_POLLS',
      'src/domain/session/device-login.ts',
    ],
    rules: ['SESSION-18', 'DER-9', 'DER-35'],
    tables: ['device_logins'],
  },
  'SSH logins': {
    charged: 'person',
    share: 'windows as wide as those of a user',
    reserve: OWN,
    at: ['src/services/pods/ingress/ssh.ts#admitSsh'],
    rules: ['SHR-4', 'SHR-45'],
  },
  'SSH connections': {
    charged: 'address',
    share: 'as many as it leaves to others (adr/0051)',
    reserve: 'one in 16; connections with a key have a separate reserve',
    at: ['src/ssh-proxy/limits.ts#ConnectionLimits'],
    rules: ['SHR-39', 'NET-24'],
  },
  'look-ups that find nothing': {
    charged: 'address',
    share: '100 in 10 s, then 10 while they continue',
    reserve: OWN,
    at: ['src/services/credentials/lookups.ts#lookUpFor'],
    rules: ['KEY-10'],
  },
  'answers to refused callers': {
    charged: 'address',
    share: '100 in 10 s, then delayed ones',
    reserve: OWN,
    at: ['src/domain/refusals.ts#countRefusal'],
    rules: ['RATE-30'],
  },
  'GraphQL without a key': {
    charged: 'address',
    share: '120 requests a minute',
    reserve: OWN,
    at: ['src/http/graphql/anonymous.ts#countAnonymous'],
    rules: ['GQL-28'],
  },
  'calls of the job API': {
    charged: 'person',
    share: 'windows and slots for each operation of each endpoint',
    reserve: OWN,
    at: ['src/domain/job/limits.ts#judgeCall'],
    rules: ['LIM-1'],
    tables: ['endpoint/bulks', 'endpoint/idempotency_keys', 'endpoint/request_samples'],
  },
  spend: {
    charged: 'person',
    share: 'a ceiling per hour and per month, over all accounts without a plan',
    reserve: OWN,
    at: ['src/db/billing/spend.ts#withinSpend', 'src/db/billing/month-limit.ts#withinMonth'],
    rules: ['SHR-1'],
    tables: ['spend_stops', 'usage', 'usage_archives', 'usage_days', 'usage_totals'],
  },
  'pods, endpoints, clusters and what they store': {
    charged: 'person',
    share: BUDGET,
    reserve: OWN,
    at: ['src/db/accounts/budgets.ts#withinBudget'],
    rules: ['BUDGET-1', 'PLAN-5'],
    budgets: ['pods', 'clusters', 'stoppedPods', 'endpoints', 'gpus', 'storedBytes', 'secrets', 'secretBytes'],
    tables: ['endpoints', 'endpoint/scaling_log', 'endpoint/timeline_hours'],
  },
  'records of ended workers': {
    charged: 'person',
    share: 'as many as workers, which hold GPUs or machines; deleted after a time',
    reserve: OWN,
    at: ['src/db/accounts/budgets.ts#withinBudget'],
    rules: ['BUDGET-1'],
    tables: ['endpoint/former_workers', 'endpoint/worker_changes', 'endpoint/worker_lives'],
  },
  organizations: {
    charged: 'person',
    share: BUDGET,
    reserve: OWN,
    at: ['src/db/accounts/budgets.ts#withinBudget'],
    rules: ['PLAN-4', 'BUDGET-1'],
    budgets: ['organizations'],
  },
  'retained rows of one account': {
    charged: 'account',
    share: BUDGET,
    reserve: OWN,
    at: ['src/db/accounts/budgets.ts#withinBudget'],
    rules: ['BUDGET-1'],
    budgets: ['formerPods', 'releasesPerEndpoint', 'apiKeys', 'specBytesPerHost', 'keptAnswers', 'keptAnswerBytes'],
    tables: ['api_keys', 'idempotency_keys', 'pods'],
  },
  'named resources': {
    charged: 'account',
    share: '1,000 of each kind',
    reserve: OWN,
    at: ['src/db/bounds.ts#hasRoom'],
    rules: ['PAG-5'],
  },
  'open invitations': {
    charged: 'account',
    share: '100',
    reserve: OWN,
    at: ['src/domain/team/invitation.ts#refuseInvitation'],
    rules: ['TEAM-7'],
    tables: ['invitations'],
  },
  'bytes of queues': {
    charged: 'person',
    share: BUDGET,
    reserve: 'each endpoint stores 4 MiB without a reservation',
    at: ['durable-objects/endpoint/storage-grant.ts#StorageGrant'],
    rules: ['BUDGET-3'],
    budgets: ['queuedBytes'],
  },
  'bytes of logs': {
    charged: 'person',
    share: BUDGET,
    reserve: 'the recent lines of each log stay',
    at: ['durable-objects/pod-log/archive.ts#LogArchive'],
    rules: ['LOG-35'],
    budgets: ['logBytes'],
    tables: ['pod-log/marks', 'pod-log/packs'],
  },
  'readers of logs': {
    charged: 'account',
    share: '100 followers of a log and 4 pages at a time',
    reserve: OWN,
    at: ['durable-objects/pod-log/followers.ts#Followers', 'durable-objects/pod-log/line-reader.ts#LineReader'],
    rules: ['LOG-4'],
  },
  'bytes and rows in progress': {
    charged: 'person',
    share: BUDGET,
    reserve: OWN,
    at: ['src/effects/in-flight.ts#enterInFlight', 'src/services/heavy-reads.ts#openHeavyReads'],
    rules: ['BUDGET-4', 'RATE-32', 'RATE-20'],
    budgets: ['inFlightBytes', 'readBytes', 'readRows'],
  },
  'slots of webhooks': {
    charged: 'account',
    share: '128 attempts in a lane, 10,000 waiting ones',
    reserve: OWN,
    at: ['src/domain/webhook/slots.ts#openings'],
    rules: ['HOOK-18'],
    tables: ['webhook/deliveries'],
  },
  'requests that wait for a worker': {
    charged: 'account',
    share: '1,000 per endpoint; a caller has 400 at a time',
    reserve: OWN,
    at: ['src/domain/job/limits.ts#judgeCall', 'durable-objects/endpoint/slots.ts#Slots'],
    rules: ['LB-10'],
  },
  'tunnel streams': {
    charged: 'person',
    share: 'as many as it leaves to others (adr/0051)',
    reserve: '64 of 1024 for accounts that have none, 64 more for terminals',
    at: ['src/host-protocol/tunnel/windows.ts#mayOpen'],
    rules: ['SHR-30', 'SHR-31'],
  },
  'connections to ports of pods': {
    charged: 'account',
    share: '128 per pod, among the tunnel streams of its account',
    reserve: 'that of the tunnel streams',
    at: ['src/http/ingress/handle-port-call.ts#handlePortCall', 'src/host-protocol/tunnel/windows.ts'],
    rules: ['NET-1'],
  },
  'bytes that no client reads': {
    charged: 'person',
    share: 'as many as it leaves to others (adr/0051), 24 MiB per connection',
    reserve: 'a quarter, while there is one other account',
    at: ['src/domain/ingress/unheard.ts#Unheard'],
    rules: ['NET-51', 'SHR-43'],
  },
  'commands in containers': {
    charged: 'account',
    share: '96 in a container, among the tunnel streams of its account',
    reserve: 'that of the tunnel streams',
    at: ['src/host-agent/docker/streams/exec.ts#ContainerExecs'],
    rules: ['HOST-130'],
  },
  'slots of the relay': {
    charged: 'account',
    share: 'a part for each worker',
    reserve: 'the part of each worker, also of future ones',
    at: ['src/host-agent/relay/admission/admission.ts#Admission'],
    rules: ['HOST-76'],
  },
  'images by bytes': {
    charged: 'person',
    share: 'as much as it leaves to others (adr/0051)',
    reserve: 'a quarter, while there is one other account',
    at: ['src/host-agent/pulls/space/image-shares.ts#ImageShares'],
    rules: ['HOST-101', 'HOST-147'],
  },
  'images by count': {
    charged: 'person',
    share: 'as many as it leaves to others (adr/0051)',
    reserve: '50 of 500',
    at: ['src/host-agent/pulls/space/image-shares.ts#ImageShares'],
    rules: ['SHR-34'],
  },
  'pulls in progress, and the GPUs reserved for them': {
    charged: 'person',
    share: 'a few at a time; a pull slower than 1 MiB a minute ends and releases its GPUs',
    reserve: OWN,
    at: ['src/host-agent/pulls/pull-pace.ts#PullPace', 'src/host-agent/slots.ts#Slots'],
    rules: ['SHR-36', 'HOST-97'],
  },
  'disk of machines': {
    charged: 'person',
    share: 'as much as it leaves to others (adr/0051)',
    reserve: 'a quarter, while there is one other account',
    at: ['src/domain/host/disk-share.ts#diskRoom', 'src/db/hosts/disk-share.ts#withinDiskShare'],
    rules: ['SHR-41'],
  },
  'host ports': {
    charged: 'person',
    share: 'as many as it leaves to others (adr/0051)',
    reserve: 'a quarter, while there is one other account',
    at: ['src/host-agent/docker/ports/host-ports.ts#HostPorts'],
    rules: ['HOST-148'],
  },
  'connections of the kernel': {
    charged: 'account',
    share: '1/32 of the table for opened connections, and as much for received ones',
    reserve: '30 of 32 parts, while there is one other account',
    at: ['src/host-agent/network/connection-bounds.ts#boundsOf'],
    rules: ['NET-60'],
  },
  'DNS questions': {
    charged: 'account',
    share: '8 connections per container',
    reserve: '248 of 256, while there is one other',
    at: ['src/host-agent/network/dns/name-server.ts#NameServer'],
    rules: ['NET-70'],
  },
} as const satisfies Record<string, SharedResource>
