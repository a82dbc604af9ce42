import { Command, InvalidArgumentError } from 'commander'
import { LIMIT_BUCKETS } from '../contract/jobs/job-routes.ts'
import { parseSimulatedGpus } from '../host-agent/gpus/simulated.ts'
import { OperatorError } from '../node/fail.ts'
import { dataDirPath } from './data-dir.ts'
import { DEMO_EMAIL } from './demo.ts'

const DEFAULT_PORT = 8787
const MAX_PORT = 65_535
/** Variables of the Worker that the environment of `npm start` may override. */
export const WORKER_VARS = [
  'BASE_URL',
  'SERVERLESS_URL',
  'LB_DOMAIN',
  'POD_PROXY_DOMAIN',
  'LOG_LEVEL',
  'WORKER_PING_INTERVAL_MS',
  'JOB_LIMITS',
  'REQUESTS_PER_WORKER',
  'WEBHOOK_ALLOW',
  'WEBHOOK_ALLOW_USERS',
  'WEBHOOKS_PER_RECEIVER',
  'HOST_LOST_AFTER_MS',
  'HOST_SILENCE_MAX_MS',
  'TERMINATED_PODS_KEPT_MS',
  'AUDIT_KEEP_DAYS',
  'USAGE_KEEP_DAYS',
  'SPEND_LIMIT_USD_PER_HOUR',
  'PLACEMENT',
  'INTERNAL_DOMAIN',
  'SSH_HOST',
  'SSH_PORT',
  'ADMIN_HOST',
  'OIDC_ISSUER',
  'OIDC_AUDIENCE',
  'OIDC_JWKS_URL',
  'OIDC_ALGORITHMS',
  'OIDC_EMAIL_DOMAINS',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_OPERATORS',
  'READ_REPLICAS',
  'V1_ADAPTER',
  'GRAPHQL_UNIQUE_POD_NAMES',
  'GRAPHQL_DEPRECATED_AT',
  'GRAPHQL_SUNSET_AT',
  'GRAPHIQL',
  'ECR_ROLE_ARN',
] as const
/** HOOK-7: on one machine, webhook receivers under test run on the same machine. */
const LOCAL_WEBHOOK_ALLOW = 'localhost,127.0.0.0/8,::1/128'
/** PLANE-23: a local plane is bounded only by its machine. `JOB_LIMITS={}` restores the limits of a deployed plane. */
const OUT_OF_REACH = { rate: 1_000_000, concurrent: 1_000_000 }
const LOCAL_JOB_LIMITS = JSON.stringify(Object.fromEntries(LIMIT_BUCKETS.map((bucket) => [bucket, OUT_OF_REACH])))

/** LEG-4: new users try their existing clients. */
const LOCAL_V1_ADAPTER = '1'

/** Settings of `npm start`. */
export interface StartSettings {
  dataDir: string
  port: number
  agent: boolean
  simulateGpus: string | undefined
  /** Whether the logs of plane and agent are also printed on the terminal. */
  echoLogs: boolean
  vars: Record<string, string>
}

/** Reads the settings of `npm start` from flags and environment. A wrong flag ends the process with a message. */
export function readStartSettings(argv: readonly string[], env: NodeJS.ProcessEnv): StartSettings {
  const options = startProgram()
    .parse([...argv], { from: 'user' })
    .opts<{ agent: boolean; simulateGpus?: string }>()
  return {
    dataDir: dataDirPath(env),
    port: parsePort(env.PORT),
    agent: options.agent,
    simulateGpus: options.simulateGpus,
    echoLogs: env.PODPLANE_LOG === 'stdout',
    vars: {
      // A list that the operator has set applies to all users, as on any plane.
      ...(env.WEBHOOK_ALLOW === undefined && { WEBHOOK_ALLOW: LOCAL_WEBHOOK_ALLOW, WEBHOOK_ALLOW_USERS: DEMO_EMAIL }),
      JOB_LIMITS: LOCAL_JOB_LIMITS,
      V1_ADAPTER: LOCAL_V1_ADAPTER,
      ...Object.fromEntries(WORKER_VARS.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    },
  }
}

/** The flags of `npm start`. */
export function startProgram(): Command {
  return new Command('podplane')
    .description('Run a whole podplane on this machine: control plane, demo account, one host agent.')
    .option('--no-agent', 'run no host agent here')
    .option('--simulate-gpus <spec>', 'let the agent offer GPUs this machine does not have, such as "NVIDIA L4:2"', checkGpus)
    .addHelpText('after', `\nEnvironment: PORT, PODPLANE_DATA, PODPLANE_LOG=stdout, PODPLANE_REGISTRY_ALLOW, ${WORKER_VARS.join(', ')}`)
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > MAX_PORT)
    throw new OperatorError(`PORT=${text} is not a port number (0 to ${MAX_PORT}; 0 picks a free one)`)
  return port
}

/** Validated with the agent's own parser before anything is started. */
function checkGpus(value: string): string {
  if (parseSimulatedGpus(value).length === 0) throw new InvalidArgumentError('it names no GPU')
  return value
}
