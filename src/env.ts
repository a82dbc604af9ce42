import type { PlacementStrategy } from './domain/host/placement.ts'
import { type JobLimitSettings, readJobLimits } from './domain/job/limits.ts'
import { type AwsSettings, type AwsVariables, parseAwsSettings } from './domain/resources/aws-settings.ts'
import { type ConsoleSettings, type ConsoleVariables, parseConsoleSettings } from './domain/session/console-settings.ts'
import { parseSessionSettings, type SessionSettings, type SessionVariables } from './domain/session/settings.ts'
import { parseAllowList, type WebhookAllowList } from './domain/webhook/url.ts'
import { SILENCE_MIN_MS } from './host-protocol/silence.ts'
import type { LogLevel } from './platform/log.ts'
import { masterSecrets, requireSecret } from './platform/seal.ts'
import type { ClusterRpc } from './rpc/cluster.ts'
import type { EndpointRpc } from './rpc/endpoint.ts'
import type { HostRpc } from './rpc/host.ts'
import type { HostTunnelRpc } from './rpc/host-tunnel.ts'
import type { PodLogRpc } from './rpc/pod-log.ts'
import type { RateLimiterRpc } from './rpc/rate-limiter.ts'
import type { WebhookSenderRpc } from './rpc/webhook-sender.ts'

/** Bindings and variables as wrangler.toml declares them. Secrets are strings that never appear in a response or a log. */
export interface Env extends SessionVariables, ConsoleVariables, AwsVariables {
  DB: D1Database
  ASSETS: Fetcher
  /** The disk facts of a plane on one machine (PLANE-12); absent in a deployed plane. */
  MACHINE?: Fetcher
  ENDPOINT: DurableObjectNamespace<EndpointRpc>
  HOST: DurableObjectNamespace<HostRpc>
  CLUSTER: DurableObjectNamespace<ClusterRpc>
  HOST_TUNNEL: DurableObjectNamespace<HostTunnelRpc>
  RATE_LIMITER: DurableObjectNamespace<RateLimiterRpc>
  WEBHOOK_SENDER: DurableObjectNamespace<WebhookSenderRpc>
  POD_LOG: DurableObjectNamespace<PodLogRpc>
  /** Storage for older log lines; without it they are dropped. */
  LOGS?: R2Bucket
  /** Storage for intervals of closed months (BIL-43); without it they stay in D1. */
  USAGE?: R2Bucket
  BASE_URL: string
  SERVERLESS_URL: string
  LB_DOMAIN?: string
  POD_PROXY_DOMAIN?: string
  LOG_LEVEL: string
  WORKER_PING_INTERVAL_MS: string
  WEBHOOK_ALLOW_USERS?: string
  ADMIN_HOST?: string
  JOB_LIMITS?: string
  REQUESTS_PER_WORKER?: string
  WEBHOOK_ALLOW?: string
  WEBHOOKS_PER_RECEIVER: string
  HOST_LOST_AFTER_MS: string
  HOST_SILENCE_MAX_MS: string
  TERMINATED_PODS_KEPT_MS?: string
  AUDIT_KEEP_DAYS?: string
  READ_REPLICAS?: string
  USAGE_KEEP_DAYS?: string
  SPEND_LIMIT_USD_PER_HOUR?: string
  PLACEMENT: string
  INTERNAL_DOMAIN?: string
  SSH_HOST: string
  SSH_PORT: string
  SSH_PROXY_KEY?: string
  V1_ADAPTER?: string
  GRAPHQL_UNIQUE_POD_NAMES?: string
  GRAPHQL_DEPRECATED_AT?: string
  GRAPHQL_SUNSET_AT?: string
  GRAPHIQL?: string
  OPERATOR_KEY?: string
  KEY_PEPPER: string
  TOKEN_SECRET: string
  TOKEN_SECRET_PREVIOUS?: string
}

const DEFAULT_INTERNAL_DOMAIN = 'podplane.internal'

/** The operator's settings, parsed. */
export interface Settings {
  baseUrl: string | null
  serverlessUrl: string | null
  /** The domain below which each load-balancing endpoint has its own host name (CFG-1); null: endpoints answer below `/lb/` (LB-2). */
  lbDomain: string | null
  /** The domain below which each HTTP port of a pod has its own host name (NET-1); null: ports answer only below `/proxy/`. */
  podProxyDomain: string | null
  logLevel: LogLevel
  /** Interval of worker pings, milliseconds. A worker SDK divides it by 1000 in integers, so less than 1000 makes it spin. */
  workerPingIntervalMs: number
  /** Rate and concurrency limits of the job API (LIM-1). */
  jobLimits: JobLimitSettings
  /** Which of the fitting hosts a pod is placed on. */
  placementStrategy: PlacementStrategy
  /** The domain of the names under which pods of an account reach one another (NET-3). */
  internalDomain: string
  /** Address of the SSH proxy, for pods without an SSH port of their own (NET-2); null: no proxy. */
  sshProxy: { host: string; port: number } | null
  /** The only host (with its port, if not the scheme's default) that serves the operator API; null: every host (ADM-10). */
  adminHost: string | null
  /** E-mail addresses of the users whose webhooks may call private hosts; null: all users (HOOK-21). */
  webhookAllowUsers: readonly string[] | null
  /** Private hosts that webhooks may call (HOOK-7). */
  webhookAllow: WebhookAllowList
  /** Concurrent webhook attempts to one receiver (HOOK-11). */
  webhooksPerReceiver: number
  /** Time offline after which a host counts as lost, milliseconds (HOST-37). */
  hostLostAfterMs: number
  /** Longest time that a job waits for its silent host, milliseconds (HOST-36). */
  hostSilenceMaxMs: number
  /** Time for which the row of a terminated pod is retained, milliseconds (POD-76). */
  terminatedPodsKeptMs: number
  /** Whether lists may be read from a replica of the database (RATE-34). */
  hasReadReplicas: boolean
  /** Time for which a row of the audit log is retained, milliseconds (AUD-10). */
  auditKeptMs: number
  /** Time for which the intervals behind daily sums are retained, milliseconds (BIL-42). */
  usageKeptMs: number
  /** Default limit on the hourly cost of all running resources of an account, millionths of a USD (BIL-20). */
  spendLimitMicrosPerHour: number
  /** The identity provider whose tokens sign users in (OIDC-1). */
  sessions: SessionSettings
  console: ConsoleSettings
  /** Whether API v1 is mapped onto v2 instead of answering 410 (LEG-4). */
  v1Adapter: boolean
  graphql: GraphqlSettings
  /** The plane's AWS identity for pulls from delegated ECR repositories (REG-6), or a text that says why there is none. */
  aws: AwsSettings
}

/** Settings of the GraphQL API. */
export interface GraphqlSettings {
  /** Whether a pod created through GraphQL needs a name that no other live pod of the account has (GQL-19). */
  hasOwnPodNames: boolean
  /** Dates of its deprecation and its end, milliseconds since 1970 (GQL-29); null: not set. */
  deprecatedAtMs: number | null
  sunsetAtMs: number | null
  /** Whether browsers get an editor for documents (GQL-31): for development only. */
  hasEditor: boolean
}

const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error']
const MIN_PING_INTERVAL_MS = 1000
/** A host may be offline 10 s after its last heartbeat, and stops its work 29 s after it. Work that is given up earlier could still run. */
const MIN_HOST_LOST_AFTER_MS = 30_000
const DEFAULT_SSH_PORT = 22
const DEFAULT_PING_INTERVAL_MS = 10_000
const DEFAULT_HOST_LOST_AFTER_MS = 5 * 60_000
const DEFAULT_HOST_SILENCE_MAX_MS = 10 * 60_000
/** The agent still reads a terminated pod for a while after it has ended. */
const MIN_TERMINATED_PODS_KEPT_MS = 3_600_000
const DAY_MS = 24 * 3_600_000
const DEFAULT_AUDIT_KEEP_DAYS = 365
/** The current and the previous month stay readable by the hour and by interval. */
const MIN_USAGE_KEEP_DAYS = 62
const DEFAULT_USAGE_KEEP_DAYS = 365
const DEFAULT_SPEND_LIMIT_USD = 80
const MAX_SPEND_LIMIT_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000
const DEFAULT_TERMINATED_PODS_KEPT_MS = 30 * 24 * 3_600_000
/** One for first attempts and one for retries. */
const MIN_WEBHOOKS_PER_RECEIVER = 2
const MAX_WEBHOOKS_PER_RECEIVER = 128
const DEFAULT_WEBHOOKS_PER_RECEIVER = 64

/** Cache by bindings, which an isolate receives once. */
const known = new WeakMap<Env, Settings>()

/**
 * Parses the operator's variables, once per isolate; an unusable value falls back to its documented default. Throws if the secrets for keys
 * and seals are missing: anyone could forge the credentials of such a plane (SEAL-1).
 */
export function readSettings(env: Env): Settings {
  const read = known.get(env)
  if (read) return read
  const settings = parseSettings(requireSecrets(env))
  known.set(env, settings)
  return settings
}

function requireSecrets(env: Env): Env {
  masterSecrets(env)
  requireSecret('KEY_PEPPER', env.KEY_PEPPER)
  return env
}

function parseSettings(env: Env): Settings {
  return {
    baseUrl: env.BASE_URL || null,
    serverlessUrl: env.SERVERLESS_URL || null,
    lbDomain: domainOf(env.LB_DOMAIN),
    podProxyDomain: domainOf(env.POD_PROXY_DOMAIN),
    logLevel: (LOG_LEVELS.includes(env.LOG_LEVEL) ? env.LOG_LEVEL : 'info') as LogLevel,
    workerPingIntervalMs: readDuration(env.WORKER_PING_INTERVAL_MS, MIN_PING_INTERVAL_MS, DEFAULT_PING_INTERVAL_MS),
    jobLimits: readJobLimits(env.JOB_LIMITS ?? '', env.REQUESTS_PER_WORKER ?? ''),
    placementStrategy: env.PLACEMENT === 'spread' ? 'spread' : 'pack',
    internalDomain: domainOf(env.INTERNAL_DOMAIN) ?? DEFAULT_INTERNAL_DOMAIN,
    sshProxy: env.SSH_HOST ? { host: env.SSH_HOST, port: portOf(env.SSH_PORT) } : null,
    adminHost: env.ADMIN_HOST ? env.ADMIN_HOST.toLowerCase() : null,
    webhookAllowUsers: readUsers(env.WEBHOOK_ALLOW_USERS),
    webhookAllow: parseAllowList(env.WEBHOOK_ALLOW ?? ''),
    webhooksPerReceiver: readPlaces(env.WEBHOOKS_PER_RECEIVER),
    hostLostAfterMs: readDuration(env.HOST_LOST_AFTER_MS, MIN_HOST_LOST_AFTER_MS, DEFAULT_HOST_LOST_AFTER_MS),
    hostSilenceMaxMs: readDuration(env.HOST_SILENCE_MAX_MS, SILENCE_MIN_MS, DEFAULT_HOST_SILENCE_MAX_MS),
    hasReadReplicas: env.READ_REPLICAS === '1',
    auditKeptMs: readDuration(env.AUDIT_KEEP_DAYS, 1, DEFAULT_AUDIT_KEEP_DAYS) * DAY_MS,
    usageKeptMs: readDuration(env.USAGE_KEEP_DAYS, MIN_USAGE_KEEP_DAYS, DEFAULT_USAGE_KEEP_DAYS) * DAY_MS,
    terminatedPodsKeptMs: readDuration(env.TERMINATED_PODS_KEPT_MS, MIN_TERMINATED_PODS_KEPT_MS, DEFAULT_TERMINATED_PODS_KEPT_MS),
    spendLimitMicrosPerHour: readUsd(env.SPEND_LIMIT_USD_PER_HOUR, DEFAULT_SPEND_LIMIT_USD) * MICROS_PER_USD,
    sessions: parseSessionSettings(env),
    console: parseConsoleSettings(env),
    v1Adapter: env.V1_ADAPTER === '1',
    graphql: readGraphql(env),
    aws: parseAwsSettings(env),
  }
}

function readGraphql(env: Env): GraphqlSettings {
  return {
    hasOwnPodNames: env.GRAPHQL_UNIQUE_POD_NAMES !== 'false',
    deprecatedAtMs: readTime(env.GRAPHQL_DEPRECATED_AT),
    sunsetAtMs: readTime(env.GRAPHQL_SUNSET_AT),
    hasEditor: env.GRAPHIQL === '1',
  }
}

function readTime(text: string | undefined): number | null {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? null : ms
}

function domainOf(text: string | undefined): string | null {
  return text ? text.toLowerCase().replace(/^\.+/, '') : null
}

function readDuration(text: string | undefined, minMs: number, defaultMs: number): number {
  const given = Number(text)
  return Number.isFinite(given) && given >= minMs ? Math.floor(given) : defaultMs
}

// An empty string is not an amount, although `Number` converts it to 0.
function readUsd(text: string | undefined, defaultUsd: number): number {
  const given = Number(text)
  return text?.trim() && given >= 0 && given <= MAX_SPEND_LIMIT_USD ? Math.floor(given) : defaultUsd
}

function readPlaces(text: string | undefined): number {
  const given = Number(text)
  return Number.isInteger(given) && given >= MIN_WEBHOOKS_PER_RECEIVER && given <= MAX_WEBHOOKS_PER_RECEIVER
    ? given
    : DEFAULT_WEBHOOKS_PER_RECEIVER
}

function readUsers(text: string | undefined): string[] | null {
  const users = (text ?? '').split(',').map((user) => user.trim().toLowerCase())
  return text ? users.filter((user) => user !== '') : null
}

function portOf(text: string | undefined): number {
  const port = Number(text)
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : DEFAULT_SSH_PORT
}
